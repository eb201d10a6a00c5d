"""``circlet run``: results, figures, exit codes, and where a run is kept."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from circlet import Loom

DONE = "- code: 'done({\"a\": (1, 2)})'\n"
TREE = """\
usage: {prompt_tokens: 100, completion_tokens: 10}
by_intent:
  ^go$:
    - code: parts = call_entity_batch(["child one", "child two"])
    - code: done(sum(parts))
  ^child:
    - code: done(len(call_entity("grandchild", context=[1, 2, 3])))
  ^grandchild:
    - code: done(context)
"""


def one_line(stderr: str) -> str:
    """The only line of a command's stderr."""
    assert stderr.count("\n") == 1, stderr
    assert stderr.startswith("circlet: ")
    return stderr.removeprefix("circlet: ").removesuffix("\n")


# -- what comes out ----------------------------------------------------------------------------


def test_result_and_closing_line(place):
    """The result goes to stdout; where it is kept and what it took to stderr."""
    done = place.installed("run", place.spell(TREE), "--out", "out")
    assert (done.returncode, done.stdout) == (0, "6\n")
    assert done.stderr.splitlines() == [
        "circlet: spell.yaml, kept in out",
        "5 entities, 6 turns, 3 levels, 660 tokens; loom: out",
    ]


def test_json(place):
    """``--json`` prints the result and the figures of the whole tree, and nothing else."""
    done = place.installed("run", place.spell(TREE), "--out", "out", "--json")
    assert json.loads(done.stdout) == {
        "result": 6,
        "terminated": True,
        "truncated": False,
        "reason": "done",
        "entities": 5,
        "turns": 6,
        "max_depth": 2,
        "usage": {"prompt_tokens": 600, "completion_tokens": 60, "cached_tokens": 0},
        "loom": "out",
    }


def test_json_keeps_types(place):
    """CIRCLE-8: what JSON lacks is tagged in the result."""
    script = "- code: 'done({1: {2, 1}, 2: b\"a\"})'"
    done = place.invoke("run", place.spell(script), "--json")
    assert json.loads(done.stdout)["result"] == {"$map": [[1, [1, 2]], [2, {"$bytes": "YQ=="}]]}


def test_a_text_is_printed_as_it_is(place):
    """A result that is a text is printed without quotes."""
    assert place.invoke("run", place.spell("- code: done('two\\nlines')")).stdout == "two\nlines\n"


def test_a_value_is_laid_out(place):
    """A result that is no text is printed whole, as Python writes it."""
    script = "- code: 'done({n: \"x\" * 50 for n in range(40)})'"
    done = place.installed("run", place.spell(script))
    assert eval(done.stdout) == dict.fromkeys(range(40), "x" * 50)
    assert len(done.stdout.splitlines()) == 42


def test_a_large_value_is_cut_short(place):
    """Of a large value long lists are cut short, which is said; ``--json`` has all of it."""
    spell = place.spell('- code: \'done({"short": [1, 2], "long": list(range(5000))})\'\n')
    done = place.installed("run", spell, "--out", "out")
    assert done.stdout == "{'short': [1, 2], 'long': [0, 1, 2, ... 4,997 more]}\n"
    assert "--json prints the whole result" in done.stderr
    whole = place.installed("run", spell, "--out", "whole", "--json")
    assert json.loads(whole.stdout)["result"]["long"] == list(range(5000))


def test_a_huge_int(place):
    """An int of more digits than Python prints by itself is printed whole."""
    done = place.installed("run", place.spell("- code: done(10 ** 5000)"))
    assert done.stdout == "1" + "0" * 5000 + "\n"


def test_an_answer_can_not_steer_the_terminal(place):
    """Control sequences, markup and lone surrogates in an answer are shown as text."""
    script = "- code: \"done('[bold]a[/] \\\\x1b[2J\\\\x9b31m \\\\ud800 \\\\u202eb')\""
    done = place.installed("run", place.spell(script))
    assert done.returncode == 0
    assert done.stdout == "[bold]a[/] \\x1b[2J\\x9b31m \\ud800 \\u202eb\n"


def test_an_intent_can_not_steer_the_terminal(place):
    """A child's intent is its parent's text: it is shown as text too."""
    script = (
        "by_intent:\n"
        "  '^go$': [{code: \"done(call_entity('a [red]b \\\\x1b[2J c'))\"}]\n"
        "  '^a': [{content: hi}]\n"
    )
    done = place.installed("run", place.spell(script), "-v")
    assert "begins: a [red]b \\x1b[2J c" in done.stderr
    assert "\x1b" not in done.stderr


def test_verbose_tells_each_turn(place):
    """``-v`` prints a line for each start, turn and end; an error with its last line."""
    script = "- code: 1/0\n- code: |\n    echo(1)\n    echo(2)\n    done(3)\n"
    done = place.installed("run", place.spell(script), "-v", "--out", "out")
    texts = [line.split("  ")[-1] for line in done.stderr.splitlines()[1:-1]]
    assert texts == [
        "begins: go",
        "turn 1: no calls; error: ZeroDivisionError: division by zero",
        "turn 2: echo x2, done",
        "terminated: done, 0 tokens",
    ]


def test_prints_of_a_gate_stay_out_of_the_result(place):
    """What a spell's own Python prints goes to stderr, so that ``--json`` stays JSON."""
    place.write("print('loaded')\ndef talk() -> int:\n    print('called')\n    return 1\n", "g.py")
    place.spell("- code: done(talk())")
    spell = (place.path / "spell.yaml").read_text()
    place.write(spell.replace("echo]", "{from: g.py, name: talk}]"), "spell.yaml")
    done = place.installed("run", "spell.yaml", "--json")
    assert json.loads(done.stdout)["result"] == 1
    assert {"loaded", "called"} <= set(done.stderr.splitlines())


# -- intent, context, model --------------------------------------------------------------------


def test_a_given_intent(place):
    """INTENT-1: an intent on the command line takes the place of the spell's."""
    script = "by_intent: {'^go$': [{content: spell}], '^stay$': [{content: given}]}"
    assert place.invoke("run", place.spell(script), "stay").stdout == "given\n"


@pytest.mark.parametrize(("content", "kind"), [(b"text \xc3\xbc", "str"), (b"\xff", "bytes")])
def test_a_given_context(place, content, kind):
    """``--context`` gives a file's text, or its bytes where it isn't UTF-8."""
    place.write(content, "data")
    spell = place.spell("- code: done(f'{type(context).__name__} {len(context)}')")
    done = place.invoke("run", spell, "--context", "data")
    assert done.stdout == f"{kind} {6 if kind == 'str' else 1}\n"


def test_a_given_model_is_asked(place):
    """A provider that answers 401 is one clear line, exit code 1, and the run is on record."""
    with _server(401, b'{"error": {"message": "bad key"}}') as url:
        done = place.installed(
            "run", place.spell(DONE), "--llm", f"local:{url}/v1#model", "--out", "out", "--json"
        )
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["error"].startswith("local answered 401: ")
    assert (report["result"], report["terminated"], report["truncated"]) == (None, False, False)
    assert (report["reason"], report["entities"], report["turns"]) == ("failed", 1, 0)
    assert (
        "circlet: local answered 401: bad key; check LOCAL_API_KEY, or api_key="
        in done.stderr.splitlines()
    )
    assert "Traceback" not in done.stderr
    with Loom(place.path / "out", read_only=True) as loom:
        assert [entity.outcome for entity in loom.entities.values()] == ["failed"]


def test_connections_are_closed(place):
    """A run gives up what its models hold, though the process that ran it goes on."""
    server = _server(401, b'{"error": {"message": "bad key"}}')
    with server as url:
        done = place.invoke("run", place.spell(DONE), "--llm", f"local:{url}/v1#m", "--out", "out")
        assert done.exit_code == 1
        assert server.hung_up.wait(30)


class _Server(ThreadingHTTPServer):
    def __init__(self, *args):
        super().__init__(*args)
        self.hung_up = threading.Event()

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server_port}"


def _server(status: int, body: bytes) -> _Server:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections are kept

        def finish(self):
            super().finish()
            self.server.hung_up.set()

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            """Say nothing."""

    return _Server(("127.0.0.1", 0), Handler)


# -- how it ends -------------------------------------------------------------------------------


def test_truncated(place):
    """LOOP-4: a truncated run exits with 3 and says by which ward, and what had been done."""
    spell = place.spell("- code: x = 1\n" * 5)
    done = place.installed("run", spell, "--out", "out")
    assert (done.returncode, done.stdout) == (3, "")
    assert "circlet: truncated by max_turns: Stopped by max_turns after 4 turns" in done.stderr
    assert done.stderr.endswith("1 entity, 4 turns, 1 level, 0 tokens; loom: out\n")


def test_truncated_as_json(place):
    """LOOM-7: truncated and terminated are told apart for machines too."""
    spell = place.spell("- code: x = 1\n" * 5)
    done = place.invoke("run", spell, "--json")
    report = json.loads(done.stdout)
    assert done.exit_code == 3
    assert (report["terminated"], report["truncated"]) == (False, True)
    assert (report["reason"], report["result"], report["turns"]) == ("max_turns", None, 4)
    assert "error" not in report


def test_failed(place):
    """A run whose model fails for good exits with 1; what came before is on record."""
    done = place.installed("run", place.spell("- code: x = 1"), "--out", "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert "circlet: the script of 'scripted:script.yaml' has 1 reply: no reply is left" in (
        done.stderr.splitlines()
    )
    with Loom(place.path / "out", read_only=True) as loom:
        assert loom.turn_count == 1


# -- called wrongly ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["gone.yaml"], "there is no spell file at gone.yaml"),
        (["bad.yaml"], "bad.yaml:5: unknown ward 'max_turn'; did you mean max_turns?"),
        (["gate.yaml"], "gate.yaml:4: unknown gate 'ehco'; did you mean echo?"),
        (["quiet.yaml"], "intent is required: give one after quiet.yaml"),
        (["quiet.yaml", "  "], "intent is required: give one after quiet.yaml"),
        (["spell.yaml", "--context", "gone"], "the context file gone can't be read: No such"),
        (["spell.yaml", "--llm", "nobody:x"], "'nobody:x' names no provider that there is"),
        (["spell.yaml", "--llm", "openai:x"], "openai needs a key: set OPENAI_API_KEY"),
        (["spell.yaml", "--out", "spell.yaml"], "spell.yaml can't be used: File exists"),
    ],
)
def test_usage(place, args, message):
    """A wrong spell, option or file is one clear line, exit code 2, and leaves nothing behind."""
    spell = (place.path / place.spell(DONE)).read_text()
    place.write(spell.replace("max_turns", "max_turn"), "bad.yaml")
    place.write(spell.replace("echo", "ehco"), "gate.yaml")
    place.write(spell.replace("intent: go", ""), "quiet.yaml")
    before = sorted(place.path.iterdir())
    done = place.invoke("run", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert one_line(done.stderr).startswith(message)
    assert sorted(place.path.iterdir()) == before


@pytest.mark.parametrize("args", [["run"], ["run", "--nonsense"], ["nonsense"]])
def test_unknown_commands_and_options(place, args):
    """What the command line itself can't read is a usage error as well."""
    done = place.installed(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


# -- where it is kept --------------------------------------------------------------------------


def test_what_a_directory_holds(place):
    """DIR holds the loom and a copy of the spell, byte for byte."""
    spell = place.spell(DONE, "intent: 'gö'\r\n")
    place.invoke("run", spell, "--out", "deep/out")
    out = place.path / "deep" / "out"
    assert (out / "spell.yaml").read_bytes() == (place.path / spell).read_bytes()
    with Loom(out, read_only=True) as loom:
        assert [entity.result for entity in loom.entities.values()] == [{"a": (1, 2)}]


def test_a_directory_with_another_run(place):
    """A DIR that holds another run is a usage error, and the run in it stays as it was."""
    spell = place.spell(DONE + DONE)
    place.invoke("run", spell, "--out", "out")
    done = place.invoke("run", spell, "--out", "out")
    assert done.exit_code == 2
    assert one_line(done.stderr) == "out holds another run: choose another directory for --out"
    with Loom(place.path / "out", read_only=True) as loom:
        assert len(loom.entities) == 1


def test_another_spell_is_not_overwritten(place):
    """A file of the user's that is called spell.yaml stays what it is."""
    place.spell(DONE)
    place.spell(DONE, "intent: other\n", name="mine.yaml")
    done = place.invoke("run", "mine.yaml", "--out", ".")
    assert (done.exit_code, one_line(done.stderr)[:25]) == (2, "spell.yaml is another spe")


def test_the_default_directory(place):
    """Without ``--out`` a run gets a fresh directory below runs/, and says which."""
    spell = place.spell(DONE)
    looms = {json.loads(place.invoke("run", spell, "--json").stdout)["loom"] for _ in range(3)}
    assert len(looms) == 3
    assert {str(path.relative_to(place.path)) for path in place.path.glob("runs/*")} == looms


def test_without_a_terminal_nothing_moves(place):
    """Where stderr is no terminal there are no control sequences, colours forced or not."""
    place.environment = {"FORCE_COLOR": "1", "NO_COLOR": None}
    done = place.installed("run", place.spell(TREE), "-v")
    assert "\x1b[?25l" not in done.stderr
    assert "\x1b[2K" not in done.stderr


def test_a_plain_encoding(place):
    """A terminal that knows only ASCII gets escapes, not a crash."""
    place.environment = {"PYTHONIOENCODING": "ascii"}
    done = place.installed("run", place.spell("- code: done('gö')"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "g\\xf6\n"


def test_nobody_reads_its_progress(place):
    """A reader of stderr that goes away changes nothing of what a run comes to."""
    reading, writing = os.pipe()
    os.close(reading)
    with place.started("run", place.spell(TREE), "--out", "out", "-v", stderr=writing) as process:
        os.close(writing)
        stdout = process.stdout.read()
    assert (process.returncode, stdout) == (0, "6\n")
    with Loom(place.path / "out") as loom:
        assert {entity.outcome for entity in loom.entities.values()} == {"terminated"}


def test_a_deep_answer_as_json(place):
    """``--json`` prints JSON whatever the answer is."""
    script = "- code: |\n    x = []\n    for _ in range(400): x = [x]\n    done(x)\n"
    done = place.installed("run", place.spell(script), "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    assert "$described" in done.stdout
    assert json.loads(done.stdout)["reason"] == "done"
