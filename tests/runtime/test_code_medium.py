"""The code medium: a namespace that lasts, gates as functions, and what the model is told."""

import threading

import anyio
import pytest
from circlet import LLM, Cantrip, Circle, Gate, ScriptedLLM, gate
from circlet.runtime.llm import Reply, ToolCall
from circlet.runtime.loom import Loom
from circlet.runtime.media.fences import last_block
from circlet.sandbox.codec import MAX_LOOSE_KEYS

TURNS = {"max_turns": 10}


def run(source):
    return {"code": source}


def call(name, **args):
    return {"gate": name, "args": args}


def observations(cast):
    return [turn.observation for turn in cast.thread]


# -- running -----------------------------------------------------------------------------------


def test_state_persists(code):
    """MEDIUM-3: variables, functions and imports are there in the next turn."""
    cast = code(
        [run("import math\nx = 42\ndef f(n): return n + x"), run("done(math.floor(f(0.5)))")]
    )
    assert cast.cast("go").result == 42


def test_an_observation(code):
    """MEDIUM-2: it has what was printed, the value, and in so many words that there was neither."""
    cast = code([run("print('hi')\n1 + 1"), run("x = 1"), run("1 / 0"), run("done(1)")]).cast("go")
    first, second, third, _ = observations(cast)
    assert (first.text, first.printed, first.value) == ("hi\n2", "hi\n", "2")
    assert second.text == "The code ran without error; assigned `x` (int: 1); nothing printed."
    assert third.is_error
    assert "ZeroDivisionError" in third.error
    assert third.text == third.error.strip()


def test_one_tool(code):
    """IDENTITY-3: a code circle sends its one tool, whatever its gates."""
    spell = code([run("done(1)")], "echo")
    spell.cast("go")
    assert [tool.name for tool in spell.llm.requests[0].tools] == ["python"]


def test_three_messages_at_first(code):
    """LOOP-5: identity, what the circle can do, intent: three messages, or two without a prompt."""
    spell = code([run("done(1)")], system="You are an auditor")
    spell.cast("my task")
    messages = spell.llm.requests[0].messages
    assert [message.role for message in messages] == ["system", "system", "user"]
    assert (messages[0].content, messages[2].content) == ("You are an auditor", "my task")
    bare = code([run("done(1)")])
    bare.cast("my task")
    assert [message.role for message in bare.llm.requests[0].messages] == ["system", "user"]


def test_a_malformed_done(code):
    """LOOP-7: done without an answer, or one that raises, ends nothing; None does (cases 20)."""
    cast = code([run("done()"), run("done(undefined_thing)"), run("done(None)")]).cast("go")
    first, second, _ = observations(cast)
    assert "missing required" in first.text
    assert "NameError" in second.text
    assert [one.is_error for one in (first, second)] == [True, True]
    assert (cast.terminated, cast.result, cast.turns) == (True, None, 3)


CATCHING = r"""
log = []
def finish(value):
    try:
        done(value)
    except Exception:
        log.append("stolen")
    except:
        log.append("stolen by bare except")
        raise
    finally:
        log.append("finally")
say = '''done("from a string")'''
finish({"text": "two\nlines (with a paren)", "say": say})
print("after")
"""


def test_done_can_t_be_caught(code):
    """LOOP-3: done ends the cast at once, whatever the code around it catches (cases 19)."""
    cast = code([run(CATCHING), run("done(log)")]).cast("go")
    assert cast.result == {"text": "two\nlines (with a paren)", "say": 'done("from a string")'}
    assert cast.turns == 1
    assert cast.thread[0].observation.printed == ""


def test_gates_are_functions(code):
    """CIRCLE-4, CIRCLE-7: code calls a gate by position or by name, and each call is on record."""

    @gate
    def add(a: int, b: int = 10) -> int:
        """Add."""
        return a + b

    cast = code([run("done([add(1), add(1, 2), add(b=1, a=0)])")], add).cast("go")
    assert cast.result == [11, 3, 1]
    (turn,) = cast.thread
    assert turn.gate_calls == ["add", "add", "add", "done"]
    assert [record.result for record in turn.observation.records][:3] == ["11", "3", "1"]


def test_a_failing_gate_is_an_exception(code):
    """CIRCLE-5: code can catch what a gate raises, by its class where Python has it."""

    @gate
    def failing(kind: str) -> None:
        """Fail."""
        raise {"value": ValueError, "key": KeyError, "own": Own}[kind]("no good")

    class Own(LookupError):
        pass

    source = """
caught = []
for kind in ("value", "key", "own"):
    try:
        failing(kind)
    except Exception as error:
        caught.append((type(error).__name__, str(error).strip("'")))
done(caught)
"""
    assert code([run(source)], failing).cast("go").result == [
        ("ValueError", "no good"),
        ("KeyError", "no good"),
        ("LookupError", "no good"),
    ]


def test_an_ephemeral_gate_gives_code_the_value(code):
    """PROD-5: in code the program gets the value itself."""
    big = Gate("big", lambda: "x" * 1000, ephemeral=True)
    assert code([run("done(len(big()))")], big).cast("go").result == 1000


def test_direct_calls(code):
    """WARD-1: a code circle also accepts gate calls from the model itself, in order with code."""
    replies = [
        {"tool_calls": [call("echo", text="a"), call("python", code="x = 1\nprint('ran')")]},
        {"tool_calls": [call("python", code="x + 1"), call("done", answer=[1])]},
    ]
    spell = code(replies, "echo")
    cast = spell.cast("go")
    assert cast.result == [1]
    first, second = cast.thread
    assert (first.gate_calls, second.gate_calls) == (["echo"], ["done"])
    assert first.observation.printed == "ran\n"
    assert [one.content for one in spell.llm.requests[1].messages[-2:]] == ["a", "ran"]
    assert second.observation.value == "2"


def test_done_in_code_skips_the_calls_after(code):
    """LOOP-3: a call after the code that was done is skipped."""
    cast = code(
        [{"tool_calls": [call("python", code="done(5)\nprint('no')"), call("echo", text="no")]}],
        "echo",
    ).cast("go")
    assert cast.result == 5
    assert cast.thread[0].gate_calls == ["done"]
    assert "no" not in cast.thread[0].observation.printed


def test_several_programs_in_one_reply(code):
    """CIRCLE-7: what each of them printed, and that one failed, is in the one observation."""
    programs = [call("python", code=source) for source in ("print('a')", "1 / 0", "print('c')\n3")]
    cast = code([{"tool_calls": programs}, run("done(1)")]).cast("go")
    first = observations(cast)[0]
    assert first.printed == "a\nc\n"
    assert first.is_error
    assert "ZeroDivisionError" in first.error
    assert first.value == "3"


@pytest.mark.parametrize(
    ("args", "malformed", "told"),
    [
        ({}, None, "missing required argument: code"),
        ({"code": 7}, None, "missing required argument: code"),
        ({}, '{"code": "pri', 'can\'t be read as JSON: {"code": "pri'),
    ],
)
def test_a_call_without_code(code, args, malformed, told):
    """CIRCLE-5: the tool called without code is an error observation that says how to."""

    class Bad(LLM):
        name = "bad"
        replies = [
            Reply(tool_calls=(ToolCall("a", "python", args, malformed),)),
            Reply(tool_calls=(ToolCall("b", "python", {"code": "done(1)"}),)),
        ]

        async def query(self, request):
            return self.replies.pop(0)

    cast = code(Bad()).cast("go")
    first = observations(cast)[0]
    assert first.is_error
    assert told in first.text
    assert cast.result == 1


@pytest.mark.parametrize("limit", [200, 2_000])
def test_output_is_bounded(code, limit):
    """CIRCLE-6: max_output_chars bounds prints and direct calls; the loom has the full text."""
    big = "z" * 5_000
    spell = code(
        [run("print('z' * 5000)"), {"tool_calls": [call("echo", text=big)]}, run("done(1)")],
        "echo",
        wards=[TURNS, {"max_output_chars": limit}],
    )
    cast = spell.cast("go")
    shown = [request.messages[-1].content for request in spell.llm.requests[1:]]
    assert all(len(text) <= limit and "characters left out" in text for text in shown)
    assert cast.thread[0].observation.printed == big + "\n"


def test_all_of_a_long_text_is_in_the_loom(code, tmp_path):
    """Cases 14: the model is shown its ends; the loom has it whole, errors and surrogates too."""
    source = "print('\\ud800' + 'é' * 3_000_000)\nraise ValueError('\\udfff' + 'x' * 1_000_000)"
    with Loom(tmp_path) as loom:
        code([run(source), run("done(1)")], loom=loom).cast("go")
    with Loom(tmp_path) as loom:
        observation = loom.turns[0].observation
    assert observation.printed == "\ud800" + "é" * 3_000_000 + "\n"
    assert observation.error.endswith("ValueError: \udfff" + "x" * 1_000_000)
    assert len(observation.text) <= 20_000
    assert "raise ValueError(" in observation.text


def test_each_program_of_an_utterance_has_its_share(code):
    """Cases 14: where one reply runs several programs, each one's end and error stay in sight."""
    long = "for i in range(9_000): print('row', i)\nraise KeyError('{}')"
    calls = [call("python", code=long.format(name)) for name in ("one", "two", "three")]
    cast = code([{"tool_calls": calls}, run("done(1)")]).cast("go")
    text = observations(cast)[0].text
    assert len(text) <= 20_000 + 2
    for name in ("one", "two", "three"):
        assert f"KeyError: '{name}'" in text
    assert text.count("row 8999\nTraceback") == text.count("characters left out") == 3


def test_a_turn_that_ran_too_long(code):
    """WARD-2: max_eval_ms ends a turn with an error observation; what it printed stays."""
    replies = [run("kept = 1\nprint('spinning')\nwhile True: pass"), run("done(kept)")]
    cast = code(replies, wards=[TURNS, {"max_eval_ms": 200}]).cast("go")
    first = observations(cast)[0]
    assert first.is_error
    assert "200 ms" in first.text
    assert "spinning" in first.printed
    assert (cast.thread[0].state, cast.result) == ("kept", 1)


def test_time_in_a_gate_is_not_the_program_s(code):
    """WARD-2: a gate may take longer than the code's own time (cases 13)."""
    go_on = threading.Event()
    threading.Timer(0.3, go_on.set).start()

    @gate
    def slow() -> str:
        """Take longer than the program may."""
        go_on.wait(30)
        return "rested"

    spell = code([run("done(slow())")], slow, wards=[TURNS, {"max_eval_ms": 100}])
    assert spell.cast("go").result == "rested"


def test_time_of_a_child_is_not_its_parent_s(deep):
    """WARD-2: a child whose model takes its time is not charged to its parent (cases 13)."""
    child = ScriptedLLM([{**run("done('rested')"), "delay_ms": 300}])
    spell = deep(
        [run("done(call_entity('nap'))")], wards=[TURNS, {"max_eval_ms": 100}], child_llm=child
    )
    assert spell.cast("go").result == "rested"


def test_time_in_a_gate_is_the_cast_s(code):
    """LOOP-4: the cast's wall clock has it, a sync gate that hangs included (cases 13)."""
    release = threading.Event()

    @gate
    def hang() -> None:
        """Hang until the test is over."""
        release.wait(30)

    cast = code([run("print('before')\nhang()")], hang, wards=[{"timeout_s": 1.5}]).cast("go")
    was_waiting = not release.is_set()
    release.set()
    assert was_waiting
    assert (cast.truncated, cast.reason) == (True, "timeout_s")
    (turn,) = cast.thread
    assert (turn.state, turn.gate_calls) == ("rolled_back", ["hang"])
    assert turn.observation.printed == "before\n"
    assert "What it changed in the session is undone" in turn.observation.text


def test_it_goes_on_after_its_process_was_lost(code):
    """ENTITY-5: after a turn that was cut off, the next intent finds context and gates again."""

    @gate
    async def hang() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    replies = [run("x = 1\nhang()"), run("done([context, 'x' in globals()])")]
    spell = code(replies, hang, wards=[{"timeout_s": 1.5}])
    with spell.summon() as entity:
        assert entity.send("one", context="data").reason == "timeout_s"
        assert entity.send("two").result == ["data", False]
    roles = [message.role for message in spell.llm.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def test_errors_in_a_row(code):
    """CIRCLE-6: max_errors_in_a_row counts turns that end in an error, one after the other."""
    wards = [TURNS, {"max_errors_in_a_row": 2}]
    cast = code([run("1/0"), run("1"), run("1/0"), run("1/0"), run("done(1)")], wards=wards).cast(
        "go"
    )
    assert (cast.reason, cast.turns) == ("max_errors_in_a_row", 4)


def test_modules_are_narrowed(code):
    """CIRCLE-6: the ward modules names all that can be imported, and the model is told."""
    spell = code(
        [run("import json"), run("import re\ndone(1)")], wards=[TURNS, {"modules": ["re"]}]
    )
    cast = spell.cast("go")
    assert observations(cast)[0].is_error
    assert cast.result == 1
    assert "Importable modules: re." in spell.llm.requests[0].messages[0].content


def test_rebinding_names_breaks_nothing(code):
    """CIRCLE-6: what a program does to names breaks neither gates nor the runner (cases 8)."""
    hostile = "print = None\n__builtins__ = {}"
    replies = [run("done = 1"), run(hostile), run("len = None"), run("del len\ndone(len('abc'))")]
    cast = code(replies).cast("go")
    assert (cast.terminated, cast.result) == (True, 3)
    assert "done" in observations(cast)[0].text


# -- text in place of calls --------------------------------------------------------------------

RAW = """<think>Maybe ```python
done("wrong")
``` would do.</think>
First an example, not to run:
```json
{"done": 1}
```
```python
doc = '''Use fences:
```
like this
```
'''
print(doc.count("```"))
```
"""


def test_utterances_as_providers_send_them(code):
    """LOOP-6: the last fenced block runs, thinking removed; a fence in its strings is its own."""
    cast = code([{"content": RAW}, {"content": "```python\ndone(7)\n```"}]).cast("go")
    assert observations(cast)[0].printed == "2\n"
    assert cast.result == 7


def test_a_fence_that_is_never_closed(code):
    """LOOP-6: a block that was cut off is not run, and the model is told."""
    replies = [{"content": '```python\ndone("closed?")'}, {"content": "```py\ndone('ok')\n```"}]
    cast = code(replies).cast("go")
    assert cast.result == "ok"
    assert "not closed" in observations(cast)[0].text
    assert observations(cast)[0].is_error


def test_an_empty_reply_that_was_cut_off(code):
    """LLM-3: empty content at the token limit is reported as cut off, not as an empty turn."""
    raw = {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}
    with pytest.raises(Exception, match="cut off at its token limit"):
        code([{"raw_response": raw}]).cast("go")


def test_text_alone_is_an_answer(code):
    """LOOP-6: text without code ends the loop, as in a conversation."""
    assert code([{"content": "It is 42"}]).cast("go").result == "It is 42"


def test_text_alone_goes_on_where_done_is_required(code):
    """LOOP-6: with require_done_tool it does not; the model is told to go on."""
    replies = [{"content": "Let me think"}, {"content": "```\ndone(0)\n```"}, run("done(1)")]
    spell = code(replies, wards=[TURNS, {"require_done_tool": True}])
    cast = spell.cast("go")
    assert (cast.result, cast.turns) == (1, 3)
    assert "call done" in spell.llm.requests[1].messages[-1].content


def test_calls_win_over_text(code):
    """LOOP-6: where a reply has both, its calls are what runs."""
    cast = code([{"content": "```python\ndone('text')\n```", **run("done('call')")}]).cast("go")
    assert cast.result == "call"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("no code", None),
        ("```\nplain\n```", None),
        ("```js\nvar x\n```", None),
        ("```pycon\n>>> a\n```", None),
        ("x = ```python\na\n```", None),
        ("```python\na\n```", "a\n"),
        ("```python\n```", "\n"),
        ("```Python\na\n```\nthen\n```python\nb\n```\nbye", "b\n"),
        ("~~~python\na\n~~~", "a\n"),
        ("~~~python\n```\n~~~", "```\n"),
        ("```python\na\n~~~\nb\n```", "a\n~~~\nb\n"),
        ("````python\n```\na\n```\n````", "```\na\n```\n"),
        ("```python\na\n`````", "a\n"),
        ("```python\r\na\r\n```\r\n", "a\n"),
        ("```python\na = 'x\x0c\u2028y'\n```", "a = 'x\x0c\u2028y'\n"),
        ("```python\na\n```\n```json\n{}\n```", "a\n"),
    ],
)
def test_last_block(text, block):
    """LOOP-6: which block of a text is run."""
    assert last_block(text) == block


@pytest.mark.parametrize(
    "info",
    [
        *("python", "py", "Python3", "PYTHON", "python3.11", " python", "ipython", "{python}"),
        *('python title="a.py"', "python:a.py", "{.python}", "python {.numbered}"),
    ],
)
def test_how_a_block_is_marked_as_python(info):
    """LOOP-6: whatever else a block's first line says."""
    assert last_block(f"```{info}\na\n```") == "a\n"


def test_an_indented_block():
    """LOOP-6: a block in a list has its own margin, however deep."""
    for margin in ("  ", "    ", "\t", " " * 9):
        lines = ["```py", "if a:", "    b", "c", "```"]
        text = "1. Run:\n" + "\n".join(margin + line for line in lines) + "\n2. Look."
        assert last_block(text) == "if a:\n    b\nc\n"
    assert last_block("  ```py\n  if a:\n    b\n c\n  ```") == "if a:\n  b\nc\n"


def test_what_follows_a_block_is_not_run():
    """LOOP-6: a block ends at its own fence, though others follow that have no language."""
    text = "```python\nprint(1)\n```\nIt doesn't print '''more''':\n```\n1\n```\n"
    assert last_block(text) == "print(1)\n"


@pytest.mark.parametrize("quotes", ["'''", '"""'])
def test_a_fence_in_a_string_of_the_code(quotes):
    """LOOP-6: a fence in a string that spans lines ends nothing; in a broken one it does."""
    code = f"# don't\nit = \"isn't\"\ndoc = {quotes}\n```python\nx\n```\n{quotes}\nprint(doc)\n"
    assert last_block(f"```python\n{code}```\nDone.\n") == code
    assert last_block(f"```python\nx = {quotes}\n```\nDone.\n") == f"x = {quotes}\n"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("```python\na = '<think>'\n```\nor </think>", "a = '<think>'\n"),
        ("<think>\n```python\nx\n```\nnever closed", None),
        ("<thinking>```python\nx\n```</thinking>```python\ny\n```", "y\n"),
        ("So I will\n</think>\n\n```python\ny\n```", "y\n"),
        ("```python\na = '''\n</think>\n'''\n```", "a = '''\n</think>\n'''\n"),
    ],
)
def test_thinking_is_removed(text, block):
    """LOOP-6: what a model thinks is not run, its opening mark in the text or in the prompt."""
    assert last_block(text) == block


# -- what the model is told --------------------------------------------------------------------


def told(wards=(), gates=(), context=..., medium="code"):
    spell = Cantrip(
        llm=ScriptedLLM([run("done(1)")]),
        circle=Circle(medium=medium, gates=["done", *gates], wards=[TURNS, *wards]),
    )
    spell.cast("go", **({} if context is ... else {"context": context}))
    return spell.llm.requests[0].messages[0].content


def test_gates_are_described():
    """CIRCLE-11: each gate's signature with its first line."""

    @gate
    def lookup(city: str, limit: int = 5) -> dict:
        """Look a city up.

        Only the first line is shown.
        """
        return {}

    text = told(gates=[lookup])
    assert "- `lookup(city: str, limit: int = 5) -> dict`: Look a city up." in text
    assert "- `done(answer: Any) -> Any`: " in text
    assert "Only the first line" not in text


def test_delegation_is_described_where_it_can_be_had():
    """CIRCLE-11, COMP-6: how to decompose is told to who can, and to nobody else."""
    gates = ["call_entity", "call_entity_batch"]
    text = told(gates=gates, wards=[{"max_batch": 17}])
    assert "call_entity_batch([" in text
    assert "at most 17 to a batch" in text
    for other in (told(), told(gates=gates, wards=[{"max_depth": 0}])):
        assert "call_entity" not in other


def test_what_children_can_be_given_is_described():
    """CIRCLE-11, COMP-1, COMP-7: models and further gates are told by name to who can spawn."""
    grab = Gate("grab", lambda url: url, "Fetch a page.")
    for gates, is_told in ((["done", "call_entity"], True), (["done"], False)):
        llm = ScriptedLLM([run("done(1)")])
        Cantrip(
            llm=llm,
            circle=Circle(medium="code", gates=gates, wards=[TURNS]),
            llms={"cheap": llm, "strong": llm},
            registry=[grab],
        ).cast("go")
        text = llm.requests[0].messages[0].content
        assert ("another model for the child: cheap, strong." in text) == is_told
        assert ("`grab(*args, **kwargs) -> Any`: Fetch a page." in text) == is_told


@pytest.mark.parametrize(
    ("ward", "text"),
    [
        ({"max_turns": 3}, "3 turns"),
        ({"max_eval_ms": 1500}, "1.5 s of your own code"),
        ({"max_memory_mb": 2048}, "2,048 MiB"),
        ({"max_output_chars": 9_000}, "9,000 characters of output"),
        ({"timeout_s": 90}, "90 s in all"),
        ({"max_tokens": 50_000}, "50,000 tokens in all"),
        ({"max_depth": 3}, "3 levels of children"),
    ],
)
def test_limits_are_told(ward, text):
    """CIRCLE-11: the wards in force are told."""
    assert text in told(wards=[ward])


def test_context_is_described():
    """CIRCLE-11: what context is: its type, its size, a preview; nothing where there is none."""
    text = told(context=["alpha", "beta"])
    assert "`context`: list, 2 items: ['alpha', 'beta']" in text
    assert "`context`" not in told()


def test_big_context_is_not_shown():
    """CIRCLE-11: of 10 MB the model is shown a preview."""
    text = told(context="needle " * 1_500_000)
    assert "str, 10,500,000 chars" in text
    assert text.count("needle") < 100


def test_what_it_says_and_how_long():
    """CIRCLE-11: what persists, how to look at big data, when to call done; within 800 words."""
    text = told(gates=["call_entity", "call_entity_batch", "echo"], context={"a": 1})
    for point in ("persist", "a small slice first", "done(result)", "namespace of your own"):
        assert point in text
    assert len(text.split()) < 800
    assert "$" not in text


# -- context -----------------------------------------------------------------------------------


def test_context_is_a_variable(code):
    """COMP-4: context is bound under its name, with its type; without one it is None."""
    spell = code([run("done(context)")] * 2)
    assert spell.cast("go", context={1: (2, b"3")}).result == {1: (2, b"3")}
    assert spell.cast("go").result is None


def test_context_crosses_the_host_undecoded(deep):
    """COMP-4: ten megabytes go from parent to child as they are.

    What the host decodes unasked may have few keys that aren't strings; a context with more of
    them comes through whole, so nothing between the two sandboxes has looked inside.
    """
    parent = (
        f"data = {{n: str(n) for n in range({MAX_LOOSE_KEYS * 50})}}\n"
        "data['text'] = 'x' * 10_000_000\n"
        "done(call_entity('size', context=data))"
    )
    child = "done([len(context), len(context['text']), context[7]])"
    spell = deep([run(parent)], child_llm=ScriptedLLM([run(child)]))
    assert spell.cast("go").result == [MAX_LOOSE_KEYS * 50 + 1, 10_000_000, "7"]


def test_such_a_value_is_refused_where_the_host_must_look(deep):
    """CIRCLE-6: the same value as a plain gate's argument is refused, and the program lives."""
    source = f"data = {{n: n for n in range({MAX_LOOSE_KEYS + 1})}}\necho(data)"
    cast = deep([run(source), run("done('alive')")], "echo").cast("go")
    assert observations(cast)[0].is_error
    assert cast.result == "alive"


def test_a_child_s_answer_crosses_undecoded_too(deep):
    """CIRCLE-8: so do results, from a child to its parent's code and to the host's caller."""
    child = f"done({{n: n for n in range({MAX_LOOSE_KEYS * 2})}})"
    parent = "r = call_entity('make')\nassert r[5] == 5\ndone(r)"
    spell = deep([run(parent)], child_llm=ScriptedLLM([run(child)]))
    assert spell.cast("go").result == {n: n for n in range(MAX_LOOSE_KEYS * 2)}


def test_a_conversing_parent_is_shown_a_costly_answer_s_preview():
    """CIRCLE-8: a model is shown such a value by its preview; the host does not decode it."""
    child = f"done({{n: n for n in range({MAX_LOOSE_KEYS * 2})}})"
    spell = Cantrip(
        llm=ScriptedLLM(
            [{"tool_calls": [call("call_entity", intent="make", medium="code")]}, {"content": "ok"}]
        ),
        child_llm=ScriptedLLM([run(child)]),
        circle=Circle(gates=["done", "call_entity"], wards=[TURNS]),
    )
    assert spell.cast("go").result == "ok"
    assert "dict, 2,000 items" in spell.llm.requests[1].messages[-1].content
