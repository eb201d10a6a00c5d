"""The errors of the runtime; the rest of the family is drawn in ``sandbox/errors.py``.

CircletError
└── RuntimeFault
    ├── CantripError           a cantrip, identity or circle is put together wrongly, or misused
    ├── WardError              a ward is unknown, or its value is no good
    ├── SpellError             a spell file can't be read, or says something it can't say
    ├── ForkError              a fork has no such turn to go on from, or can't run one again
    ├── ResumeError            an entity can't be taken up where its loom left it
    ├── LoomError              the loom refuses: append-only, locked, unknown turn, another run
    │   └── StoreError         a record can't be kept: the disk is full, the store is closed
    ├── TrajectoryError        a trajectory can't be written, read, or had from this directory
    ├── VerifierError          a verifier fails, takes too long, or answers with no judgement
    ├── SuiteError             a conformance suite or its renditions can't be read
    └── LLMError               a query can't be made, or its answer can't be used
        ├── UnknownProvider    ``provider:model`` names a provider that isn't there
        ├── UnknownModel       ``provider:model`` names no model, or one that the provider lacks
        ├── MissingExtra       the provider's SDK is not installed
        ├── MissingKey         the provider's key is not set
        ├── ProviderError      the provider answered with an error, or couldn't be reached
        │   └── ContextLimit   the messages are longer than the model can take (LLM-2)
        ├── MalformedReply     the reply breaks the contract (LLM-3, LLM-4, LLM-7)
        └── ScriptError        a script for a ``ScriptedLLM`` is written wrongly
            └── ScriptExhausted  the script has no reply left for this query
"""

from __future__ import annotations

from ..sandbox.errors import CircletError


class RuntimeFault(CircletError):
    """The root of what the runtime raises."""


class CantripError(RuntimeFault):
    """A cantrip, an identity or a circle is put together wrongly, or misused."""


class WardError(RuntimeFault):
    """A ward is unknown, or its value is no good."""


class SpellError(RuntimeFault):
    """A spell file can't be read, or says something that it can't say."""


class ForkError(RuntimeFault):
    """No fork can be made there: there is no such turn, or one can't be run again."""


class ResumeError(RuntimeFault):
    """An entity can't be taken up where its loom left it, or there is nothing to be taken up."""


class LoomError(RuntimeFault):
    """The loom refuses: it is append-only, locked, holds another run, or has no such turn."""


class TrajectoryError(RuntimeFault):
    """A run's trajectory can't be written or read, or the directory holds none."""


class VerifierError(RuntimeFault):
    """A verifier can't be asked, fails, takes too long, or answers with what is no judgement."""


class StoreError(LoomError):
    """A record or a blob can't be kept: the disk is full, say, or the store is closed."""


class SuiteError(RuntimeFault):
    """A conformance suite, or the file of its renditions, can't be read or has no such rule."""


class LLMError(RuntimeFault):
    """A query can't be made, or its answer can't be used."""


class UnknownProvider(LLMError):
    """A ``provider:model`` names a provider that isn't there; the text lists those that are."""


class UnknownModel(LLMError):
    """A ``provider:model`` names no model, or one that the provider doesn't have."""


class MissingExtra(LLMError):
    """The provider's SDK is not installed; the text gives the command that installs it."""


class MissingKey(LLMError):
    """The provider's key is not set; the text names the variable to set."""


class ProviderError(LLMError):
    """The provider answered with an error, or couldn't be reached.

    Attributes:
        status: The HTTP status that it answered; None when there was no answer at all.
        retry_after_s: Seconds that it asked to wait before the next try; None when it didn't.
    """

    def __init__(
        self, message: str, status: int | None = None, *, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class ContextLimit(ProviderError):
    """The messages are longer than the model can take; nothing was cut off (LLM-2)."""


class MalformedReply(LLMError):
    """A reply breaks the contract, or a tool result answers no call (LLM-3, LLM-4, LLM-7)."""


class ScriptError(LLMError):
    """A script for a ``ScriptedLLM`` is written wrongly; the text says where."""


class ScriptExhausted(ScriptError):
    """The script has no reply left for this query."""
