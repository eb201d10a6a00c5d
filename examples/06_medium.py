"""Medium: the same question in a conversation and in code.

In a conversation every result passes through the messages, and stays in those of every later
query. In code the model writes a program: the loop and the variables are the program's, and the
model sees what it prints. Look at the characters that the model was sent. Those of the code
circle are its capability text, a fixed price; each further file costs the other one more.
"""

import ast
import sysconfig
from pathlib import Path

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Identity, Loom, ScriptedLLM

FOLDER = Path(sysconfig.get_path("stdlib")) / "email"
MODULES = sorted(path.name for path in FOLDER.glob("*.py"))
INTENT = (
    "What does each Python module of the folder '.' say of itself in the first line of its "
    "docstring? Answer with a dict of file name to that line, '' where there is none."
)


def first_line(name: str) -> str:
    """The first line of a module's docstring: what anybody sees who reads its beginning."""
    doc = ast.get_docstring(ast.parse((FOLDER / name).read_text(encoding="utf-8"))) or ""
    return doc.partition("\n")[0]


ANSWER = {name: first_line(name) for name in MODULES}
TALKING = [
    {"tool_calls": [{"gate": "list_dir", "args": {"path": "email"}}]},
    {"tool_calls": [{"gate": "list_dir", "args": {"path": "."}}]},
    {"tool_calls": [{"gate": "read", "args": {"path": name, "length": 400}} for name in MODULES]},
    {"tool_calls": [{"gate": "done", "args": {"answer": ANSWER}}]},
]
CODING = [
    {"code": "texts = {entry['name']: read(entry['name']) for entry in list_dir('email')}"},
    {
        "code": """
import ast
names = [entry['name'] for entry in list_dir() if entry['name'].endswith('.py')]
docs = {name: ast.get_docstring(ast.parse(read(name))) or '' for name in names}
print({name: len(doc) for name, doc in docs.items()})
done({name: doc.partition('\\n')[0] for name, doc in docs.items()})
"""
    },
]

loom = Loom()
rows, answers = [], []
for medium, script in (("conversation", TALKING), ("code", CODING)):
    llm = choose_llm(script)
    cantrip = Cantrip(
        llm=llm,
        identity=Identity(system_prompt="You answer questions about files."),
        circle=Circle(
            medium=medium,
            gates=["done", *({"name": name, "root": FOLDER} for name in ("list_dir", "read"))],
            wards=[{"max_turns": 6}],
        ),
        loom=loom,
    )
    cast = cantrip.cast(INTENT)
    head(f"In {medium}")
    show_turns(cast)
    answers.append(cast.result)
    sent = "?"  # only a script keeps what it was sent
    if isinstance(llm, ScriptedLLM):
        contents = [m.content or "" for request in llm.requests for m in request.messages]
        sent = f"{sum(map(len, contents)):,}"
    rows.append(f"{medium:>12}: {cast.turns} turns, {sent} characters sent to the model")

say()
for row in rows:
    say(row)
say("both answers are right:", all(answer == ANSWER for answer in answers))
show_loom(loom)
