"""Values of packages' own classes: what they cross the boundary as.

A single value crosses as Python's own, and an array or a table not at all: one that crossed as
a description would look like an answer, and be none. This is for workers: the host runs no
code of such a class.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from typing import Any

from . import codec
from .errors import CodecError
from .preview import class_name


def teach() -> None:
    """Tell the codec of the packages that are loaded."""
    if "numpy" in sys.modules:
        numpy: Any = sys.modules["numpy"]
        for kind in (numpy.bool_, numpy.number, numpy.datetime64):  # a timedelta64 is a number
            codec.teach(kind, _item)
        codec.teach(numpy.ndarray, _refuse(".tolist()"))
    if "pandas" in sys.modules:
        pandas: Any = sys.modules["pandas"]
        codec.teach(pandas.Timestamp, lambda value: value.to_pydatetime(warn=False))
        codec.teach(pandas.Timedelta, lambda value: value.to_pytimedelta())
        for missing in (pandas.NaT, pandas.NA):
            codec.teach(type(missing), lambda _: None)
        codec.teach(pandas.DataFrame, _refuse('.to_dict("records") or .to_csv()'))
        codec.teach(pandas.Series, _refuse(".to_dict() or .tolist()"))
        for kind in (pandas.Index, pandas.api.extensions.ExtensionArray):
            codec.teach(kind, _refuse(".tolist()"))


_PLAIN = (bool, int, float, complex, datetime.date, datetime.timedelta, type(None))


def _item(value: Any) -> Any:
    """A numpy scalar as Python's own.

    Raises:
        CodecError: Python has none that is as exact.
    """
    plain = value.item()
    is_count = type(plain) is int and value.dtype.kind in "mM"  # of nanoseconds, or of years
    if is_count or not isinstance(plain, _PLAIN):
        raise CodecError(f"a {value.dtype} has no match in plain Python; hand on str() of it")
    return plain


def _refuse(instead: str) -> Callable[[Any], Any]:
    def refuse(value: Any) -> Any:
        kind = class_name(value)
        raise CodecError(f"a value of type {kind} can't leave its sandbox; hand on its {instead}")

    return refuse
