"""Values that a cantrip is put together from: frozen, and their mistakes told in one line."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ..gates.arguments import explain
from .errors import CantripError


class Value(BaseModel):
    """A frozen value with named fields.

    Raises:
        CantripError: A field is unknown, missing or of the wrong type; the text names it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise CantripError(f"{type(self).__name__.lower()}: {explain(error)}") from None
