"""Redaction: what no program, model, event, log or view is given, and what stands there instead."""

import base64
import json
import logging
import urllib.parse

import pytest
from circlet import LLM, Cantrip, Circle, ScriptedLLM, gate
from circlet.runtime import events as told
from circlet.runtime.errors import CantripError, SpellError
from circlet.runtime.llm import OpenAILLM
from circlet.runtime.redaction import MIN_CHARS, Secrets, redact
from circlet.runtime.shapes import SHAPES
from circlet.runtime.spell import read_spell
from hypothesis import assume, example, given
from hypothesis import strategies as st

KEY = "sk-test-DEADBEEF0123456789"
PASSWORD = 'p"ä ss/w0rd\n'

pytestmark = pytest.mark.usefixtures("no_keys")


@pytest.fixture
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "LOCAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def answering(value):
    """A gate that answers with a value."""

    @gate
    def whoami():
        """Say who I am."""
        return value

    return whoami


def raising(error):
    """A gate that raises an error."""

    @gate
    def whoami():
        """Fail to say who I am."""
        raise error

    return whoami


def everything(loom):
    """All that a loom holds, the bytes too, as one text."""
    rows = [f"{at} {kind} {body!r}" for _, at, kind, _, body, _ in loom._store.read()]
    return "\n".join([*rows, loom.export(redaction="none")])


# -- what a program is given -------------------------------------------------------------------


def test_a_gate_s_result(code, caplog):
    """PROD-8: a known value is masked before a program has it, so no part of it gets about."""
    caplog.set_level(logging.DEBUG, logger="circlet")
    seen = []
    program = "v = whoami()\nprint(v[:8], v[8:])\ndone(v)"
    spell = code([{"code": program}], answering(f"I use {KEY}"), secrets={"the key": KEY})
    cast = spell.cast("go", on_event=seen.append)
    assert cast.result == "I use [redacted: the key]"
    for text in (everything(cast.loom), caplog.text, repr(seen), repr(cast), repr(spell)):
        assert KEY not in text
        assert KEY[8:] not in text
    assert KEY[8:] not in repr([request.neutral() for request in spell.llm.requests])


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError(f"no such key: {KEY}"), "ValueError: no such key: [redacted: #1]"),
        (KeyError(KEY), "KeyError: [redacted: #1]"),
        (type("Denied", (PermissionError,), {})(KEY), "PermissionError: [redacted: #1]"),
    ],
)
def test_a_gate_s_error(code, error, shown):
    """PROD-8: an error is masked like a result, and is still of its kind."""
    program = "try:\n    whoami()\nexcept Exception as e:\n    print(f'{type(e).__name__}: {e}')"
    replies = [{"code": program}, {"code": "whoami()"}, {"code": "done(1)"}]
    cast = code(replies, raising(error), secrets=[KEY]).cast("go")
    printed = cast.thread[0].observation.printed.replace("'", "")
    assert printed.strip() == shown
    assert "[redacted: #1]" in cast.thread[1].observation.text
    assert KEY not in everything(cast.loom)


def test_a_long_error_is_masked_before_it_is_cut(code):
    """PROD-8: no end of a value is left over where a text is cut to its bound."""
    errors = [ValueError("x" * n + KEY) for n in (1_985, 1_990)]
    for error in errors:
        cast = code([{"code": "whoami()"}, {"code": "done(1)"}], raising(error), secrets=[KEY])
        assert "DEADBEEF" not in everything(cast.cast("go").loom)


@pytest.mark.parametrize(
    "value",
    [
        [KEY, (KEY, {KEY})],
        {KEY: {"deep": [f"a {KEY} b"]}},
        f"bytes {KEY}".encode(),
        frozenset({KEY, 1}),
        {b"k" + KEY.encode(): bytearray(KEY.encode())},
        type("Settings", (), {"__repr__": lambda self: f"Settings({KEY})"})(),
        type("Text", (str,), {})(KEY),
        ValueError(KEY),
    ],
)
def test_wherever_it_stands_in_a_value(code, value):
    """PROD-8: containers, keys, bytes and what stands for an object are masked, types are kept."""
    spell = code([{"code": "done(whoami())"}], answering(value), secrets={"k": KEY})
    cast = spell.cast("go")
    assert "[redacted: k]" in repr(cast.result)
    assert KEY not in everything(cast.loom)
    if type(value) in (list, dict, frozenset, bytes):
        assert type(cast.result) is type(value)


@pytest.mark.parametrize(
    "written",
    [
        PASSWORD,
        PASSWORD.strip(),
        json.dumps({"password": PASSWORD}),
        json.dumps({"password": PASSWORD}, ensure_ascii=False),
        json.dumps(json.dumps({"password": PASSWORD})),
        json.dumps({"password": PASSWORD}).replace("/", "\\/"),
        json.dumps({"password": PASSWORD}).replace("\\u00e4", "\\u00E4"),
        "postgres://me:" + urllib.parse.quote(PASSWORD, safe="") + "@host",
        urllib.parse.quote(PASSWORD),
        urllib.parse.urlencode({"password": PASSWORD}),
        urllib.parse.quote(PASSWORD, safe="")
        .replace("%C3%A4", "%c3%a4")
        .replace("%2F", "%2f")
        .replace("%0A", "%0a"),
        *[base64.b64encode(f"{'u' * n}:{PASSWORD}".encode()).decode() for n in range(4)],
        base64.urlsafe_b64encode(f"me:{PASSWORD}!".encode()).decode(),
    ],
)
def test_how_it_may_be_written(written):
    """PROD-8: a value is found as JSON, an address and base64 write it too."""
    secrets = Secrets({"pw": PASSWORD})
    assert "[redacted: pw]" in secrets.mask(written)
    masked, sealed = secrets.sealed([written])
    assert "[redacted: pw]" in masked[0]
    assert sealed.open() == masked


def test_a_result_without_one_is_untouched(code):
    """PROD-8: a result that holds none crosses as it is, whatever it looks like."""
    value = ["sk-proj-somebody-else-s-key", ("a", 1), {b"x": {2.5}}]
    cast = code([{"code": "done(whoami())"}], answering(value), secrets=[KEY]).cast("go")
    assert cast.result == value


def test_what_a_program_gives_to_a_gate(code):
    """PROD-8: arguments reach a gate as they are, for it needs them to work."""
    taken = []

    @gate
    def login(token: str) -> None:
        """Log in."""
        taken.append(token)

    spell = code([{"code": "login(context)\ndone(1)"}], login, secrets=[KEY])
    cast = spell.cast("go", context=KEY)
    assert taken == [KEY]
    assert KEY not in cast.loom.export()


def test_in_a_conversation(chat):
    """PROD-8: a model that calls gates itself is shown the mask, for results and for errors."""
    for whoami in (answering(KEY), raising(ValueError(KEY))):
        replies = [{"tool_calls": [{"gate": "whoami", "args": {}}]}, {"content": "ok"}]
        spell = chat(replies, whoami, secrets={"key": KEY})
        cast = spell.cast("go")
        assert "[redacted: key]" in spell.llm.requests[1].messages[-1].content
        assert KEY not in everything(cast.loom)


def test_children_too(deep):
    """PROD-8: whoever calls the gate in the tree, and what becomes of a child, is masked."""

    class Broken(LLM):
        name = "broken"

        async def query(self, request):
            raise RuntimeError(f"refused {KEY}")

    program = """
value = call_entity("ask")
try:
    call_entity("fail", llm="broken")
except ChildFailed as error:
    done([value, str(error)])
"""
    replies = {"go": [{"code": program}], "ask": [{"code": "done(whoami())"}]}
    spell = deep(replies, answering(KEY), llms={"broken": Broken()}, secrets={"key": KEY})
    cast = spell.cast("go")
    assert cast.result == ["[redacted: key]", "refused [redacted: key]"]
    assert KEY not in cast.loom.export()


# -- which values are known --------------------------------------------------------------------


class Keyed(ScriptedLLM):
    """A scripted model with a key of its own."""

    @property
    def secrets(self):
        return {"MODEL_KEY": KEY}


@pytest.mark.parametrize("place", ["llm", "child_llm", "llms"])
def test_keys_of_models_in_play(code, place):
    """PROD-8: the keys of a cantrip's models are known without being handed in."""
    plain = ScriptedLLM([{"code": "done(whoami())"}])
    keyed = Keyed([{"code": "done(whoami())"}])
    fields = {"child_llm": {"child_llm": keyed}, "llms": {"llms": {"x": keyed}}}.get(place, {})
    spell = code(keyed if place == "llm" else plain, answering(KEY), **fields)
    assert spell.cast("go").result == "[redacted: MODEL_KEY]"


def test_a_key_of_the_environment(code, monkeypatch):
    """PROD-8: what the environment holds for models is known, placeholders are not."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("LOCAL_API_KEY", "lm-studio")
    spell = code([{"code": "done(whoami())"}] * 2, answering(f"{KEY} lm-studio"))
    assert spell.cast("go").result == "[redacted: OPENAI_API_KEY] lm-studio"
    assert OpenAILLM("gpt").secrets == {"OPENAI_API_KEY": KEY}
    assert KEY not in repr(OpenAILLM("gpt"))


SPELL = """\
llm: {script: script.yaml}
circle:
  medium: code
  gates: [done, {from: gates.py, name: whoami}]
  wards: [{max_turns: 3}]
identity: "Talk to ${HOST_NAME} ${DB_PASSWORD}"
"""


def test_a_variable_of_a_spell_file(tmp_path, monkeypatch):
    """PROD-8: a variable with a secret's name that a spell file mentions is handed in as one."""
    monkeypatch.setenv("DB_PASSWORD", "correct-horse")
    monkeypatch.setenv("HOST_NAME", "db.example.com")
    (tmp_path / "script.yaml").write_text("- code: done(whoami())\n")
    (tmp_path / "gates.py").write_text(
        "from os import environ\n\n"
        "def whoami():\n    return environ['DB_PASSWORD'] + environ['HOST_NAME']\n"
    )
    cantrip = read_spell(SPELL, tmp_path / "spell.yaml").cantrip()
    cast = cantrip.cast("go")
    assert cast.result == "[redacted: DB_PASSWORD]db.example.com"
    export = cast.loom.export()
    assert "correct-horse" not in export
    assert "db.example.com" in export


def test_a_fault_of_a_spell_file(tmp_path, monkeypatch):
    """PROD-8: an error about a spell file tells the place, and not what a secret variable holds."""
    monkeypatch.setenv("DB_PASSWORD", "correct-horse")
    source = "llm: x\ncircle:\n  gates: ${DB_PASSWORD}\n"
    with pytest.raises(SpellError, match=r"spell.yaml:3: .*\[redacted: DB_PASSWORD\]") as fault:
        read_spell(source, tmp_path / "spell.yaml")
    assert "correct-horse" not in str(fault.value)


def test_what_a_gate_is_bound_to(code):
    """PROD-8: a dependency with a secret's name is known; the gate itself has it as it is."""
    held = []

    @gate(binds=["api_key", "place"])
    def look(api_key: str, place: str) -> str:
        """Look something up."""
        held.append(api_key)
        return f"{place} with {api_key}"

    spell = code([{"code": "done(look())"}], look.bind(api_key="correct-horse", place="the store"))
    assert spell.cast("go").result == "the store with [redacted: api_key]"
    assert held == ["correct-horse"]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("DB_PASSWORD", True),
        ("GITHUB_TOKEN", True),
        ("STRIPE_APIKEY", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("MYSQL_PWD", True),
        ("PWD", False),
        ("PATH", False),
        ("KEYBOARD", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("stdlib", False),
    ],
)
def test_names_of_secrets(name, is_one):
    """PROD-8: a variable counts by its name; a short value is a placeholder."""
    assert bool(Secrets.of_variables({name: "a-long-value"})) == is_one
    assert not Secrets.of_variables({name: "short"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("one text", "a list of texts"),
        (5, "a list of texts"),
        (["x" * (MIN_CHARS - 1)], "#1 has fewer than 4 characters"),
        (["    \n "], "#1 has fewer than 4 characters"),
        ({"n": b"bytes"}, "n must be a text, not bytes"),
        ({5: "value"}, "a name is a text"),
        ({"two\nlines": "value"}, "a name is a text"),
        ({"the value": "value"}, "number 1"),
        ({"x": "redacted"}, "number 1"),
    ],
)
def test_values_that_can_t_be_withheld(values, message):
    """PROD-8: what could not be withheld is refused in words that don't tell it."""
    circle = Circle(gates=["done"], wards=[{"max_turns": 1}])
    with pytest.raises(CantripError, match=message) as refused:
        Cantrip(llm=ScriptedLLM([]), circle=circle, secrets=values)
    assert "value itself" not in str(refused.value)


def test_the_same_value_has_the_same_mask():
    """PROD-8: equal secrets have equal masks, which say what was withheld and nothing of it."""
    secrets = Secrets({"a": "value-one", "b": "value-two"})
    text = "value-one value-two value-one"
    assert secrets.mask(text) == "[redacted: a] [redacted: b] [redacted: a]"


def test_two_secrets_in_one_mapping():
    """PROD-8: no entry is lost where two keys have the same mask."""
    keys = {"sk-proj-aaaaaaaaaaaaaaaa": 1, "sk-proj-bbbbbbbbbbbbbbbb": 2}
    assert sorted(Secrets().redact(keys).values()) == [1, 2]


def test_together():
    """PROD-8: values from several places are all withheld, also where they have one name."""
    both = Secrets({"key": "value-one"}) | Secrets({"key": "value-two", "more": "value-one"})
    assert both.mask("value-one value-two") == "[redacted: key] [redacted: key (2)]"
    assert repr(both) == "<Secrets: key, key (2)>"


TEXTS = st.text(st.sampled_from("ab[]: rdt#1é\ud83d"), max_size=30)


@given(st.lists(TEXTS, min_size=1, max_size=3), st.lists(TEXTS, max_size=4))
@example(["aaaab", "aabbb"], ["aaaabbb"])
@example(["]aaaa", "bbbbb"], ["bbbbbaaaa"])
def test_no_known_value_survives(values, around):
    """PROD-8: whatever stands around it, and however values overlap, none is found afterwards."""
    try:
        secrets = Secrets(values)
    except CantripError:
        assume(False)
    text = "".join(
        piece + value for piece, value in zip([*around, ""], [*values * 2], strict=False)
    )
    for masked in (secrets.mask(text), secrets.redact(text), str(secrets.mask([{text: text}]))):
        assert not [value for value in values if value in masked]
    raw = text.encode("utf-8", "surrogatepass")
    masked = secrets.mask(raw)
    assert not [value for value in values if value.encode("utf-8", "surrogatepass") in masked]


# -- what looks like a secret ------------------------------------------------------------------

TOKEN = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL"
SHAPED = {
    "sk-proj-very-secret": "OpenAI key",
    KEY: "OpenAI key",
    "sk-ant-api03-" + TOKEN: "Anthropic key",
    "sk-or-v1-" + TOKEN: "OpenRouter key",
    "AIza" + TOKEN[:35]: "Google key",
    "GOCSPX-" + TOKEN[:28]: "Google secret",
    "ghp_" + TOKEN[:36]: "GitHub token",
    "github_pat_11ABC_" + TOKEN: "GitHub token",
    "glpat-" + TOKEN[:20]: "GitLab token",
    "AKIA" + "IOSFODNN7EXAMPLE": "AWS key id",
    "xoxb-123456789012-" + TOKEN[:24]: "Slack token",
    "hf_" + TOKEN[:34]: "Hugging Face token",
    "sk_live_" + TOKEN[:24]: "Stripe key",
    "gsk_" + TOKEN * 2: "Groq key",
    "xai-" + TOKEN * 2: "xAI key",
    "pplx-" + TOKEN * 2: "Perplexity key",
    "r8_" + TOKEN: "Replicate token",
    "npm_" + TOKEN[:36]: "npm token",
    "pypi-AgEIcHlwaS5vcmc" + TOKEN * 2: "PyPI token",
    "SG." + TOKEN[:22] + "." + TOKEN + "ab": "SendGrid key",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + TOKEN: "JSON web token",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----": "private key",
    "-----BEGIN PRIVATE KEY-----\\nMIIE\\nthe rest was cut": "private key",
}
WITHIN = {
    f"Authorization: Bearer {TOKEN}": "bearer token",
    f"authorization: bearer {TOKEN}==": "bearer token",
    "Authorization: Basic dXNlcjpodW50ZXIy": "basic authorization",
    f"aws_secret_access_key = {TOKEN[:40]}": "AWS secret key",
    "postgres://me:hunter2@db.example.com/x": "password in an address",
}


def test_every_shape_is_tried_here():
    """PROD-8: no shape goes without a sample of it."""
    assert {shape.name for shape in SHAPES} == {*SHAPED.values(), *WITHIN.values()}


@pytest.mark.parametrize("secret", SHAPED)
@pytest.mark.parametrize("before", ["", "key=", '"', "\\n", "%3D", "(", "/", "x_"])
def test_shapes(secret, before):
    """PROD-8: a key is known by its shape, whatever stands before it, and masked whole."""
    assert Secrets().redact(f"see {before}{secret} there") in (
        f"see {before}[redacted: {SHAPED[secret]}] there",
        f"see {before}[redacted: {SHAPED[secret]}]",  # a private key without its end
    )


@pytest.mark.parametrize("text", WITHIN)
def test_secrets_known_by_what_is_beside_them(text):
    """PROD-8: a header or an address stays readable, but for the secret in it."""
    shown = Secrets().redact(text)
    assert f"[redacted: {WITHIN[text]}]" in shown
    assert shown.split()[0].partition(":")[0] == text.split()[0].partition(":")[0]
    assert TOKEN not in shown
    assert "hunter2" not in shown
    assert "dXNlcjpodW50ZXIy" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "A risk-averse-management-strategy-for-desk-workers-and-their-tasks.",
        "The task-scheduler-runs-every-night at https://example.com:8080/a:b@c",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "9f1c2a34-5b6d-47e8-9a0b-1c2d3e4f5a6b",
        base64.b64encode(bytes(range(256)) * 20).decode(),
        "the bearer certificates-of-deposit were basic understanding of authorization",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
        "shf_token = xs_live_thing; AKIA is the prefix; call sk-learn; ghp_ and hf_ too",
        "user@example.com wrote to git@github.com:me/repo.git at 12:30",
        "def eyJ(): return 'eyJ.eyJ.eyJ'",
    ],
)
def test_what_is_no_secret(text):
    """PROD-8: prose, digests, ids, base64 and addresses stay as they are."""
    assert redact(text) == Secrets().redact(text) == text


# -- what is shown -----------------------------------------------------------------------------

SECRET = "sk-proj-very-secret"


def test_events(code):
    """PROD-8: events hold neither known values nor what looks like one, wherever they came from."""
    seen = []
    replies = [
        {"content": f"I use {SECRET}", "thinking": SECRET, "code": f"echo({SECRET!r}, 1)"},
        {"code": f"print({SECRET!r}, context)\nraise ValueError({SECRET!r})"},
        {"code": f"done([{SECRET!r}, context])"},
    ]
    spell = code(replies, "echo", secrets=["hunter2"])
    cast = spell.cast(f"use {SECRET}", context="hunter2", on_event=seen.append)
    assert cast.result == [SECRET, "hunter2"]
    assert SECRET not in repr(seen)
    assert "hunter2" not in repr(seen)
    kinds = {type(event) for event in seen}
    assert {told.Text, told.Thinking, told.ToolCalled, told.StepCompleted} <= kinds
    assert [event.text for event in seen if isinstance(event, told.Text)] == [
        "I use [redacted: OpenAI key]"
    ]


def test_the_loom_has_a_model_s_own_text(chat):
    """PROD-8: what a model says itself stays whole in the loom, and goes back to it whole."""
    replies = [{"content": SECRET, "tool_calls": [{"gate": "echo", "args": {"text": SECRET}}]}]
    spell = chat([*replies, {"content": "ok"}], "echo")
    cast = spell.cast("go")
    assert cast.thread[0].utterance.content == SECRET
    assert spell.llm.requests[1].messages[-1].content == SECRET


def test_logs(chat, caplog):
    """PROD-8: what is logged holds no secret, neither in its text nor in a traceback."""
    caplog.set_level(logging.DEBUG, logger="circlet")

    def sink(event):
        raise ValueError(f"can't show {SECRET} or hunter2")

    spell = chat([{"content": f"using key {SECRET}"}], secrets=["hunter2"])
    spell.cast("say hunter2", on_event=sink)
    assert "can't show [redacted: OpenAI key] or [redacted: #1]" in caplog.text
    assert SECRET not in caplog.text
    assert "hunter2" not in caplog.text


def test_a_log_record_keeps_nothing(caplog):
    """PROD-8: a handler that looks into a record's parts finds none there either."""
    from circlet.runtime.logs import log

    try:
        raise ValueError(SECRET)
    except ValueError:
        log.exception("asked with %s", SECRET)
    [record] = caplog.records
    assert SECRET not in repr(vars(record))
    assert record.getMessage() == "asked with [redacted: OpenAI key]"


def test_a_cast_s_repr(chat):
    """PROD-8: a cast in a console or a log shows its answer without secrets."""
    cast = chat([{"content": f"{SECRET} hunter2"}], secrets=["hunter2"]).cast("go")
    assert SECRET not in repr(cast)
    assert "hunter2" not in repr(cast)
    assert cast.result == f"{SECRET} hunter2"
