"""The type that a circle wants its answers to be of."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..gates.arguments import explain
from ..sandbox.wire import Sealed


class ResultType:
    """Checks and reads answers.

    Args:
        wanted: A type that pydantic knows; None where any answer will do.
    """

    def __init__(self, wanted: Any) -> None:
        self._adapter = None if wanted is None else TypeAdapter(wanted)

    def check(self, answer: Sealed) -> None:
        """Check that an answer fits.

        Raises:
            ValueError: It does not; the text says where.
        """
        if self._adapter is None:
            return
        try:
            self._adapter.validate_python(answer.open())
        except ValidationError as error:
            raise ValueError(f"done: the answer does not fit: {explain(error)}") from None

    def read(self, answer: Sealed) -> Any:
        """An answer as a value of the type."""
        value = answer.open()
        return value if self._adapter is None else self._adapter.validate_python(value)
