"""Scripts that are read from files."""

import anyio
import pytest
from circlet.runtime.errors import ScriptError
from circlet.runtime.llm import Message, Request, ScriptedLLM, Usage

HELLO = Request([Message("user", "hello")])


@pytest.fixture
def write(tmp_path):
    def write(text, name="script.yaml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def ask(llm, intent="hello"):
    return anyio.run(llm.bind(intent, child=False).query, HELLO)


def test_a_list(write):
    """LLM-1: a file may be a plain list of replies; the model is called after it."""
    llm = ScriptedLLM.from_file(write("- content: hi"))
    assert llm.name == "scripted:script.yaml"
    assert ask(llm).content == "hi"


def test_replies_and_usage(write):
    """PROD-3: a file may say the usage of all its replies."""
    path = write("usage: {prompt_tokens: 3, completion_tokens: 2}\nreplies: [{content: hi}]")
    assert ask(ScriptedLLM.from_file(str(path), name="m")).usage == Usage(3, 2)


def test_by_intent(write):
    """COMP-3: a file may give each intent its own replies."""
    llm = ScriptedLLM.from_file(write("by_intent: {'^a': [content: a], '': [content: other]}"))
    assert [ask(llm, intent).content for intent in ("abc", "xyz")] == ["a", "other"]


@pytest.mark.parametrize("form", ["- {}", "replies: [{}]", "by_intent: {'': [{}]}"])
def test_code_in_a_file_of_its_own(write, form):
    """MEDIUM-2: code may stand in a file beside the script, in each form of it."""
    write("done('ü')\n", "step.py")
    llm = ScriptedLLM.from_file(write(form.replace("{}", "{code: {file: step.py}}")))
    assert ask(llm).tool_calls[0].arguments == {"code": "done('ü')\n"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- content: [", "script .*script.yaml, line 1: "),
        ("a: 1\n b: 2", "script .*script.yaml, line 2: "),
        ("just text", "script .*script.yaml: a list of replies or a mapping is wanted"),
        ("", "script .*script.yaml: a list of replies or a mapping is wanted"),
        ("reply: []", "no such key: 'reply'; the keys are usage, and replies or by_intent"),
        ("usage: {}", "replies or by_intent is wanted"),
        ("{replies: [], by_intent: {}}", "replies or by_intent is wanted"),
        ("replies: {}", "replies must be a list"),
        ("by_intent: []", "by_intent must be a mapping"),
        ("by_intent: {a: x}", "script .*script.yaml: replies for 'a': a list of mappings"),
        ("by_intent: {1: []}", "script .*script.yaml: 1 is no pattern"),
        ("- contents: x", r"script .*script.yaml: replies\[0\].contents: no such key"),
        ("- x", r"script .*script.yaml: replies\[0\]: a mapping is wanted, not str"),
        (
            "- code: {file: gone.py}",
            "script .*script.yaml: the code file gone.py can't be read: No",
        ),
        ("- code: {files: gone.py}", "script .*script.yaml: code is a text or {file: NAME}"),
        ("- tool_calls: [{gate: g, args: {day: 2024-01-01}}]", "args.day: .*JSON"),
    ],
)
def test_a_wrong_file_says_where(write, text, message):
    """LLM-1: what is wrong with a file is told in one line that names it and the place."""
    with pytest.raises(ScriptError, match=message) as caught:
        ScriptedLLM.from_file(write(text))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    """LLM-1: a missing file is named."""
    with pytest.raises(ScriptError, match=r"script .*gone.yaml can't be read: No such file"):
        ScriptedLLM.from_file(tmp_path / "gone.yaml")


def test_a_file_that_is_no_text(tmp_path):
    """LLM-1: a file of bytes is named too."""
    (tmp_path / "script.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScriptError, match=r"script .*script.yaml can't be read: it is not UTF-8"):
        ScriptedLLM.from_file(tmp_path / "script.yaml")
