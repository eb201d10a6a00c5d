"""From ``provider:model`` to a model."""

import sys

import pytest
from circlet.runtime.errors import LLMError, MissingExtra, MissingKey, UnknownModel, UnknownProvider
from circlet.runtime.llm import OpenAILLM, llm


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for variable in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("spec", "name", "variable"),
    [
        ("openai:gpt-5.1", "openai:gpt-5.1", "OPENAI_API_KEY"),
        ("openrouter:vendor/model:free", "openrouter:vendor/model:free", "OPENROUTER_API_KEY"),
        ("local:http://localhost:1234/v1#qwen/8b", "local:qwen/8b", None),
    ],
)
def test_a_spec_names_a_model(monkeypatch, spec, name, variable):
    """LLM-6: each provider is built from its part of the spec, and is called after it."""
    if variable:
        monkeypatch.setenv(variable, "sk-test-0123456789abcdef")
    model = llm(spec)
    assert isinstance(model, OpenAILLM)
    assert model.name == name
    assert "sk-test" not in repr(model)


@pytest.mark.parametrize("spec", ["gpt-5.1", "acme:model", "", ":model", "openai"])
def test_an_unknown_provider(spec):
    """LLM-6: an unknown provider is named, and those that there are."""
    with pytest.raises(UnknownProvider, match=f"^'{spec}' .*one of local, openai, openrouter$"):
        llm(spec)


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        ("openai:", "write openai:MODEL"),
        ("openrouter:", "write openrouter:VENDOR/MODEL"),
        ("local:", "write local:URL#MODEL"),
        ("local:http://localhost:1234/v1", "write local:URL#MODEL"),
        ("local:http://localhost:1234/v1#", "write local:URL#MODEL"),
        ("local:#qwen", "write local:URL#MODEL"),
    ],
)
def test_a_missing_model(spec, form):
    """LLM-6: a spec without a model says how to write one."""
    with pytest.raises(UnknownModel, match=f"^'{spec}' names no model: {form}"):
        llm(spec)


@pytest.mark.parametrize(
    "url", ["localhost:1234", "ftp://host/v1", "http://", "http://host:port/v1", "http://[::1/v1"]
)
def test_an_address_that_is_none(url):
    """LLM-6: a local server's address is checked before anything runs."""
    with pytest.raises(LLMError, match="is no http address; write one like http://localhost"):
        llm(f"local:{url}#qwen")


@pytest.mark.parametrize(
    ("spec", "variable"),
    [("openai:gpt-5.1", "OPENAI_API_KEY"), ("openrouter:a/b", "OPENROUTER_API_KEY")],
)
@pytest.mark.parametrize("value", [None, "", " "])
def test_a_missing_key(monkeypatch, spec, variable, value):
    """LLM-6: a missing key is an error at once, and names the variable."""
    if value is not None:
        monkeypatch.setenv(variable, value)
    with pytest.raises(MissingKey, match=f"needs a key: set {variable} in the environment"):
        llm(spec)


def test_a_key_that_is_none(monkeypatch):
    """PROD-8: a key that can't be sent is refused without being shown."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-schlüssel")
    with pytest.raises(MissingKey, match="what OPENAI_API_KEY holds is no key") as caught:
        llm("openai:gpt-5.1")
    assert "sk-" not in str(caught.value)


def test_a_missing_sdk(monkeypatch):
    """LLM-6: without the SDK there is one line with the command that installs it."""
    monkeypatch.setitem(sys.modules, "openai", None)
    text = r"^the openai extra is not installed: pip install 'circlet\[openai\]'$"
    with pytest.raises(MissingExtra, match=text):
        llm("openai:gpt-5.1")
