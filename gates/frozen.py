"""Dicts and lists that can't be changed: what a value is made of stays as it was."""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise TypeError("this value is frozen: make another one with what is to be different")


class FrozenDict(dict[str, Any]):
    """A dict that can't be changed; JSON and ``==`` take it for a dict."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        """A copy is a plain dict, to be changed at will."""
        plain: dict[str, Any] = thawed(self)
        return plain


class FrozenList(list[Any]):
    """A list that can't be changed; JSON and ``==`` take it for a list."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        """A copy is a plain list, to be changed at will."""
        plain: list[Any] = thawed(self)
        return plain


def frozen(value: Any) -> Any:
    """A copy of a value whose dicts and lists, at all levels, can't be changed."""
    if isinstance(value, dict):
        return FrozenDict({key: frozen(item) for key, item in value.items()})
    return FrozenList(map(frozen, value)) if isinstance(value, list) else value


def thawed(value: Any) -> Any:
    """A copy of a value whose dicts and lists are plain ones."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value
