"""What stands in each line of an export, as models that check it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from ..values import Ending


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


Outcome = Annotated[
    Ending | None,
    Field(description="How the cast ended, `truncated` by a ward; null where it has not."),
]
Reason = Annotated[str | None, Field(description="Why: `done`, the ward, or the error.")]


class Attempt(_Strict):
    """The cast that something is of."""

    entity: Annotated[str, Field(description="Id of the entity.")]
    cast: Annotated[int, Field(ge=1, description="Ordinal of the cast within the entity.")]
    depth: Annotated[int, Field(ge=0, description="The entity's level; 0 for a root.")]
    model: Annotated[str, Field(description="Name of the model.")]
    turns: Annotated[int, Field(ge=1, description="How many utterances the cast had.")]
    outcome: Outcome
    reason: Reason
    reward: Annotated[FiniteFloat | None, Field(description="The newest reward, or null.")]
    passed: Annotated[
        bool | None,
        Field(description="Whether the verifier let it pass, or the reward is above 0."),
    ]


class ChatMetadata(Attempt):
    """What is known of a line beside its messages."""

    part: Annotated[
        int, Field(ge=1, description="Ordinal of the line within the cast; one a folding.")
    ]


class RankedAttempt(Attempt):
    """A cast with its place in its group."""

    rank: Annotated[int, Field(ge=1, description="1 for the highest reward; ties share.")]
    folded: Annotated[
        bool, Field(description="Whether the model was told less, for turns were folded.")
    ]


class _Function(_Strict):
    name: str
    arguments: Annotated[str, Field(description="A JSON object, as text.")]


class ToolCallText(_Strict):
    """A call whose arguments are a text."""

    id: str
    type: Literal["function"]
    function: _Function


class _FunctionObject(_Strict):
    name: str
    arguments: dict[str, Any]


class ToolCallObject(_Strict):
    """A call whose arguments are an object."""

    id: str
    type: Literal["function"]
    function: _FunctionObject


class Told(_Strict):
    """A message that tells the model something."""

    role: Literal["system", "user"]
    content: str


class Said(_Strict):
    """A message of the model's."""

    role: Literal["assistant"]
    content: str | None
    tool_calls: Annotated[list[ToolCallText], Field(min_length=1)] = []
    weight: Annotated[
        Literal[0, 1], Field(description="0: it is context here, and is learned in another line.")
    ] = 1


class SaidObject(_Strict):
    """A message of the model's."""

    role: Literal["assistant"]
    content: str | None
    tool_calls: Annotated[list[ToolCallObject], Field(min_length=1)] = []


class Answered(_Strict):
    """The answer to a call."""

    role: Literal["tool"]
    content: str
    tool_call_id: str


class AnsweredByName(Answered):
    """The answer to a call."""

    name: str


class _Definition(_Strict):
    name: str
    description: str
    parameters: Annotated[dict[str, Any], Field(description="A JSON schema.")]


class ToolDefinition(_Strict):
    """A tool that the model could call."""

    type: Literal["function"]
    function: _Definition


ChatMessage = Annotated[Told | Said | Answered, Field(discriminator="role")]
TemplateMessage = Annotated[Told | SaidObject | AnsweredByName, Field(discriminator="role")]
Tools = Annotated[
    list[ToolDefinition], Field(min_length=1, description="Absent where there were none.")
]


class ChatLine(_Strict):
    """`chat`: what a model was sent and said in one cast, for supervised fine-tuning.

    The messages and tools are in the form of OpenAI's Chat Completions.
    """

    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    tools: Tools = []
    metadata: ChatMetadata


class GroupMetadata(_Strict):
    """What is known of a group."""

    group: Annotated[str, Field(description="Name of the group: its first cast, ENTITY/CAST.")]
    attempts: Annotated[
        list[RankedAttempt], Field(min_length=2, description="One a completion, in its order.")
    ]


class GroupLine(_Strict):
    """`grpo`: casts that had the same prompt, with their rewards.

    The prompt is conversational and prompt-only, in TRL's words.
    """

    prompt: Annotated[list[TemplateMessage], Field(min_length=1)]
    completions: Annotated[list[list[TemplateMessage]], Field(min_length=2)]
    rewards: Annotated[list[FiniteFloat], Field(min_length=2)]
    advantages: Annotated[
        list[FiniteFloat],
        Field(min_length=2, description="Reward less mean, by the deviation of the sample."),
    ]
    tools: Tools = []
    metadata: GroupMetadata


class PairMetadata(_Strict):
    """What is known of a pair."""

    group: Annotated[str, Field(description="Name of the group: its first cast, ENTITY/CAST.")]
    margin: Annotated[FiniteFloat, Field(gt=0, description="How far apart the rewards are.")]
    chosen: RankedAttempt
    rejected: RankedAttempt


class PairLine(_Strict):
    """`dpo`: two casts that had the same prompt, the better one chosen.

    It is conversational and a preference with an explicit prompt, in TRL's words.
    """

    prompt: Annotated[list[TemplateMessage], Field(min_length=1)]
    chosen: Annotated[list[TemplateMessage], Field(min_length=1)]
    rejected: Annotated[list[TemplateMessage], Field(min_length=1)]
    tools: Tools = []
    metadata: PairMetadata
