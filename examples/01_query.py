"""Query: a model is a function, messages in and a reply out.

The smallest thing there is. Look at three things: the model knows nothing that is not in the
messages of this very query; a provider that is busy is asked again, and the caller sees one
reply; a query leaves nothing behind. Only a circle makes a turn of it, which the loom records.
"""

import ast
import asyncio
import sysconfig
from pathlib import Path

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Retry
from circlet.runtime.llm import Message, Request, with_retry

SCRIPT = [
    {"content": "heapq"},
    {"content": "Import what? You have not told me of a module."},
    {"error": {"status": 503, "message": "overloaded, try again"}},
    {"content": "import heapq"},
    {"content": "heapq"},
]


def first_lines(*modules: str) -> str:
    """The first line of each module's docstring, from this Python's own sources."""
    folder = Path(sysconfig.get_path("stdlib"))
    sources = {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in modules}
    docs = {name: ast.get_docstring(ast.parse(text)) for name, text in sources.items()}
    return "\n".join(f"{name}: {(doc or '').splitlines()[0]}" for name, doc in docs.items())


QUESTION = (
    "Which of these modules would you take for a priority queue? Answer with its name alone.\n\n"
    + first_lines("bisect", "heapq", "queue", "sched", "shelve")
)
FURTHER = "How do I import it? One line of code."

llm = choose_llm(SCRIPT)


async def ask(*messages: Message) -> Message:
    """One query; its reply as a message, to be sent again with the next."""
    reply = await with_retry(
        llm,
        Request(messages),
        Retry(base_s=0.1),
        on_wait=lambda error, retry, wait: say(f"   (retry {retry} in {wait:.1f} s: {error})"),
    )
    say("  ", reply.content)
    return Message("assistant", reply.content)


async def main() -> None:
    """Three queries: two that stand alone, and one that carries what came before."""
    question = Message("user", QUESTION)
    head("A question")
    say(QUESTION)
    answer = await ask(question)

    head("A further one, sent alone: the model has never heard of the first")
    await ask(Message("user", FURTHER))

    head("The same, with all that came before; the provider is busy at first")
    await ask(question, answer, Message("user", FURTHER))
    await llm.aclose()


asyncio.run(main())

head("The same question as the intent of a cantrip: one query, one turn, on record")
circle = Circle(gates=["done"], wards=[{"max_turns": 2}])
cast = Cantrip(llm=llm, circle=circle).cast(QUESTION)
show_turns(cast)
show_loom(cast.loom)
