"""The identity: frozen, and what of it goes to the model."""

import pytest
from circlet import CircletError, Identity
from circlet.runtime.errors import CantripError


@pytest.mark.parametrize("field", ["system_prompt", "temperature", "nonsense"])
def test_immutable(field):
    """IDENTITY-1: it can't be changed, whatever the field."""
    identity = Identity(system_prompt="You are helpful", temperature=0.7)
    with pytest.raises(CantripError, match="identity is immutable"):
        setattr(identity, field, "You are evil")
    with pytest.raises(CantripError, match="identity is immutable"):
        delattr(identity, field)
    assert identity == Identity(system_prompt="You are helpful", temperature=0.7)


def test_hyperparameters():
    """IDENTITY-1: what is set goes to the provider, what is not stays out."""
    identity = Identity(temperature=0.0, seed=7, options={"reasoning_effort": "low"})
    assert identity.hyperparameters == {"temperature": 0.0, "seed": 7, "reasoning_effort": "low"}
    assert Identity().hyperparameters == {}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"prompt": "x"}, "identity: prompt"),
        ({"temperature": "hot"}, "identity: temperature"),
        ({"max_tokens": 0}, "identity: max_tokens"),
        ({"system_prompt": 3}, "identity: system_prompt"),
    ],
)
def test_bad_fields(fields, told):
    """IDENTITY-1: a field that is unknown or of the wrong type is named, in one line."""
    with pytest.raises(CircletError, match=told) as raised:
        Identity(**fields)
    assert "\n" not in str(raised.value)


def test_every_query_begins_with_it(chat):
    """IDENTITY-2: the system prompt is the first message of every query, unchanged."""
    spell = chat(
        [
            {"tool_calls": [{"gate": "echo", "args": {"text": "1"}}]},
            {"tool_calls": [{"gate": "done", "args": {"answer": "ok"}}]},
        ],
        "echo",
        system="You are a test agent",
    )
    spell.cast("go")
    firsts = [request.messages[0].neutral() for request in spell.llm.requests]
    assert firsts == [{"role": "system", "content": "You are a test agent"}] * 2


def test_it_is_the_loom_s_root(chat):
    """IDENTITY-4: it is the loom's first record."""
    identity = Identity(system_prompt="You are a test agent", temperature=0.5)
    cast = chat([{"content": "hi"}], identity=identity).cast("go")
    assert cast.loom.identity.system_prompt == "You are a test agent"
    assert cast.loom.identity.hyperparameters == {"temperature": 0.5}
    assert [kind for _, kind, _ in _kinds(cast.loom)][:2] == ["IdentityRecord", "EntityRecord"]


def _kinds(loom):
    return [(n, type(record).__name__, record) for n, _, record in loom.records()]


def test_tool_choice_and_hyperparameters_reach_the_model(chat):
    """LLM-5: tool_choice reaches the provider, as the hyperparameters do."""
    spell = chat(
        [{"tool_calls": [{"gate": "done", "args": {"answer": "ok"}}]}],
        identity=Identity(tool_choice="required", temperature=0.2),
    )
    assert spell.cast("go").terminated
    (request,) = spell.llm.requests
    assert request.tool_choice == "required"
    assert request.hyperparameters == {"temperature": 0.2}


def test_options_are_frozen():
    """IDENTITY-1: neither the options nor what is in them can be changed, from either end."""
    given = {"a": 1, "b": {"c": [1]}}
    identity = Identity(options=given)
    given["b"]["c"].append(2)
    with pytest.raises(TypeError, match="frozen"):
        identity.options["a"] = 2
    with pytest.raises(TypeError, match="frozen"):
        identity.options["b"]["c"].append(2)
    settings = identity.hyperparameters
    settings["b"]["c"].append(3)
    assert identity.hyperparameters == {"a": 1, "b": {"c": [1]}}
    assert type(settings["b"]) is dict


def test_the_choice_is_recorded(chat):
    """IDENTITY-4: the record of an identity says which tools its model had to call."""
    spell = chat([{"content": "a"}] * 2, identity=Identity(tool_choice="auto"))
    spell.cast("go")
    assert spell.loom.identity.tool_choice == "auto"
