"""A YAML document whose parts know where they stand, so that a fault can name its line."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import yaml

from ..gates.hints import suggestion
from ..sandbox.errors import CircletError
from .errors import SpellError
from .redaction import Secrets

_STRING = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
_VARIABLE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Part:
    """One value of a document, with the line that it stands on.

    Attributes:
        line: The line of its key, or else of its beginning; from 1.
    """

    def __init__(self, document: _Document, node: yaml.Node, line: int) -> None:
        self._document = document
        self._node = node
        self.line = line

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping."""
        return isinstance(self._node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self._node, yaml.SequenceNode)

    @property
    def is_text(self) -> bool:
        """Whether it is a string."""
        return self._node.tag == _STRING

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that were expanded in the whole document, with what they hold."""
        return self._document.used

    def fault(self, text: str) -> SpellError:
        """An error that names this place, and tells nothing of a variable that is a secret."""
        line = " ".join(Secrets.of_variables(self.variables).mask(text).split())
        return SpellError(f"{self._document.name}:{self.line}: {line}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Put this place in front of the errors that come up inside, unless they have one."""
        try:
            yield
        except SpellError:
            raise
        except CircletError as error:
            raise self.fault(str(error)) from error

    def value(self) -> Any:
        """The value as Python has it.

        Raises:
            SpellError: It is of no type that YAML has, or nests too deep.
        """
        try:
            return yaml.constructor.SafeConstructor().construct_document(self._node)
        except yaml.MarkedYAMLError as error:
            raise self._document.syntax_fault(error) from None
        except (ValueError, RecursionError) as error:
            raise self.fault(str(error)) from None

    def text(self, what: str) -> str:
        """The string that it is.

        Args:
            what: What errors call it.

        Raises:
            SpellError: It is no string.
        """
        if not self.is_text:
            raise self.fault(f"{what} must be a text, not {_kind(self._node)}")
        return str(self._node.value)

    def items(self, what: str) -> list[Part]:
        """The items of the list that it is.

        Raises:
            SpellError: It is no list.
        """
        if not self.is_list:
            raise self.fault(f"{what} must be a list, not {_kind(self._node)}")
        return [self._document.part(node) for node in self._node.value]

    def entries(self, what: str) -> dict[str, Part]:
        """The values of the mapping that it is, by key.

        Raises:
            SpellError: It is no mapping, or a key is no plain name.
        """
        if not self.is_mapping:
            raise self.fault(f"{what} must be a mapping, not {_kind(self._node)}")
        entries = {}
        for key, node in self._node.value:
            place = self._document.part(key)
            if not isinstance(key, yaml.ScalarNode):
                raise place.fault(f"a key of {what} must be a name, not {_kind(key)}")
            entries[str(key.value)] = Part(self._document, node, place.line)
        return entries

    def fields(self, what: str, known: Iterable[str]) -> dict[str, Part]:
        """``entries`` with known keys only; one without a value counts as left out.

        Raises:
            SpellError: It is no mapping, or a key is unknown; the text says which there are.
        """
        entries = self.entries(what)
        for name, part in entries.items():
            if name not in known:
                raise part.fault(f"unknown key {name!r} in {what}; {suggestion(name, known)}")
        return {name: part for name, part in entries.items() if part._node.tag != _NULL}


def parse(source: str, name: str, *, expand: bool = True) -> Part:
    """Read a YAML document.

    In its strings ``${stdlib}`` is the folder of the running Python's standard library, and
    ``${NAME}`` an environment variable; ``$${NAME}`` stands for ``${NAME}`` itself.

    Args:
        source: Its text.
        name: What errors call it.
        expand: Whether variables are expanded; else its strings stay as they are.

    Raises:
        SpellError: It is no YAML, is empty, has a key twice, or names a variable that isn't
            set; the text names the line.
    """
    return _Document(source, name, expand).root


def variables_in(source: str) -> dict[str, str]:
    """The variables that a document names, as far as the environment has them now."""
    names = [name for escaped, name in _VARIABLE.findall(source) if not escaped]
    return {name: os.environ[name] for name in names if name in os.environ}


class _Document:
    """A document as YAML nodes, its variables expanded where that is wanted."""

    def __init__(self, source: str, name: str, expand: bool) -> None:
        self.name = name
        self._expands = expand
        self.used: dict[str, str] = {}
        self._source = source
        self._variables = {**os.environ, "stdlib": sysconfig.get_path("stdlib")}
        node = self._compose()
        if node is None:
            raise SpellError(f"{name}: the file is empty")
        self.root = self.part(node)
        try:
            self._prepare(node)
        except yaml.MarkedYAMLError as error:
            raise self.syntax_fault(error) from None

    def part(self, node: yaml.Node) -> Part:
        """A node as a part."""
        return Part(self, node, node.start_mark.line + 1)

    def syntax_fault(self, error: yaml.YAMLError) -> SpellError:
        """YAML's complaint as one line that names the place."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "context", None)
        if mark is not None:
            return SpellError(f"{self.name}:{mark.line + 1}: {' '.join(str(problem).split())}")
        position = getattr(error, "position", 0)  # a character that YAML doesn't allow
        line = self._source.count("\n", 0, position) + 1
        return SpellError(f"{self.name}:{line}: {' '.join(str(error).splitlines()[0].split())}")

    def _compose(self) -> yaml.Node | None:
        try:
            return yaml.compose(self._source, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise self.syntax_fault(error) from None
        except RecursionError:
            raise SpellError(f"{self.name}: the file nests too deep") from None

    def _prepare(self, root: yaml.Node) -> None:
        """Expand variables, merge what is to be merged, and refuse keys that stand twice."""
        seen: set[int] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if id(node) in seen:  # an alias
                continue
            seen.add(id(node))
            if self._expands and isinstance(node, yaml.ScalarNode) and node.tag == _STRING:
                node.value = self._expanded(node)
            elif isinstance(node, yaml.SequenceNode):
                waiting.extend(node.value)
            elif isinstance(node, yaml.MappingNode):
                self._check_keys(node)
                waiting.extend(value for _, value in node.value)
                yaml.constructor.SafeConstructor().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            place = self.part(key)
            if (key.tag, key.value) in lines:
                first = lines[key.tag, key.value]
                raise place.fault(f"the key {key.value!r} was given before, on line {first}")
            lines[key.tag, key.value] = place.line

    def _expanded(self, node: yaml.ScalarNode) -> str:
        def expand(found: re.Match[str]) -> str:
            escaped, name = found.groups()
            if escaped:
                return found[0][1:]
            if name not in self._variables:
                raise self._unset(name, node)
            self.used[name] = self._variables[name]
            return self.used[name]

        return _VARIABLE.sub(expand, node.value)

    def _unset(self, name: str, node: yaml.ScalarNode) -> SpellError:
        # The string may run over many lines: look for the one that the name stands on.
        place = self._source.find(f"${{{name}}}", node.start_mark.index)
        line = self._source.count("\n", 0, max(place, 0)) + 1
        return SpellError(
            f"{self.name}:{line}: the variable {name} is not set; set it in the environment, or "
            f"write $${{{name}}} for the text itself"
        )


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "nothing" if node.tag == _NULL else f"{node.value}"
