"""The capability text: what a code circle tells its entity on every query (``CIRCLE-11``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import Template

from ...gates import Gate
from ...sandbox import Limits
from ...sandbox.packages import importable
from ...sandbox.wire import Sealed
from ..wards import Wards
from .base import Surroundings


@cache
def _sections() -> dict[str, Template]:
    text = (files(__package__) / "capabilities.md").read_text(encoding="utf-8")
    parts = re.split(r"^\[\[(\w+)\]\]\n", text, flags=re.MULTILINE)[1:]
    return {
        name: Template(body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def capability_text(surroundings: Surroundings, limits: Limits, context: Sealed | None) -> str:
    """What a code circle tells its entity between identity and intent (``CIRCLE-11``)."""
    wards = surroundings.wards
    delegates = any(gate.delegates for gate in surroundings.gates.values())
    modules = importable(surroundings.packages) if wards.modules is None else wards.modules
    packages = [name for name in surroundings.packages if name in modules]
    values = {
        "modules": ", ".join(modules),
        "packages": ", ".join(packages),
        "context": context.text if context else "",
        "gates": _gate_lines(surroundings.gates.values()),
        "llms": ", ".join(surroundings.llms),
        "registry": _gate_lines(surroundings.registry.values()),
        "limits": _limits_text(wards, limits),
        "max_batch": str(wards.max_batch),
    }
    shown = {
        "past": surroundings.past is not None,
        "packages": bool(packages),
        "context": context is not None,
        "delegation": delegates,
        "llms": delegates and bool(surroundings.llms),
        "registry": delegates and bool(surroundings.registry),
    }
    return "\n\n".join(
        section.substitute(values) for name, section in _sections().items() if shown.get(name, True)
    )


def _gate_lines(gates: Iterable[Gate]) -> str:
    return "\n".join(map(_gate_line, gates))


def _gate_line(gate: Gate) -> str:
    line = f"- `{gate.signature}`: {gate.summary}"
    if not gate.ephemeral:
        return line
    return (
        f"{line} (You are not shown its answer, only its size: bind it, and print what you need.)"
    )


def _limits_text(wards: Wards, limits: Limits) -> str:
    parts = [
        f"{limits.eval_ms / 1000:g} s of your own code a turn",
        f"{limits.memory_mb:,} MiB of memory",
        f"{limits.output_chars:,} characters of output a turn are shown",
    ]
    if wards.max_turns is not None:
        parts.insert(0, f"{wards.max_turns} turns")
    if wards.timeout_s is not None:
        parts.append(f"{wards.timeout_s:g} s in all")
    if wards.max_tokens is not None:
        parts.append(f"{wards.max_tokens:,} tokens in all")
    parts.append(f"{wards.max_depth} levels of children")
    return ", ".join(parts)
