"""Writes ``docs/rules.md``: every rule, and which cases and tests stand for it.

    python docs/rules.py

A test stands for the rules that its docstring begins with: ``LOOP-3, LOOP-7: ...``.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from circlet.runtime.conformance import read_suite

PAGE = Path(__file__).with_name("rules.md")
TESTS = Path(__file__).parents[1] / "tests"
SUITE = TESTS / "conformance" / "suite.yaml"

RULES = {
    "CANTRIP-1": "A cantrip needs a model, an identity and a circle.",
    "CANTRIP-2": "It is a value: each cast makes an entity of its own. The system prompt may lack.",
    "INTENT-1": "A cast needs an intent.",
    "INTENT-2": "The intent is the first user message, after the system prompt.",
    "INTENT-3": "It does not change while the cast lasts, and is in every query.",
    "ENTITY-1": "Only casting, summoning and delegating make an entity.",
    "ENTITY-2": "Each has an id that no other has; one is made up where none is given.",
    "ENTITY-3": "What it has done only grows; folding is a view of it.",
    "ENTITY-4": "What it did outlives it in the loom.",
    "ENTITY-5": "A summoned entity lasts, and its state adds up from intent to intent.",
    "ENTITY-6": "Two that are summoned share nothing.",
    "LOOP-1": "Utterance and observation alternate.",
    "LOOP-2": "A cantrip has `done` and a ward that guarantees an end; it says what lacks.",
    "LOOP-3": "`done` ends the loop at once; what stands after it is not called.",
    "LOOP-4": "A ward truncates: turns are counted exactly, reason and summary are kept.",
    "LOOP-5": "Every query has identity, intent, and the turns so far as the circle presents them.",
    "LOOP-6": "Text alone is the answer, unless `require_done_tool` is set.",
    "LOOP-7": "`done` without an answer is an error that is observed, not an end.",
    "LLM-1": "A model keeps nothing: each query has the whole context.",
    "LLM-2": "It takes any number of messages; past its window there is an error, no silent cut.",
    "LLM-3": "A reply has text or calls.",
    "LLM-4": "The calls of one reply have different ids.",
    "LLM-5": "The tool choice reaches the provider.",
    "LLM-6": "Replies of all providers have one form.",
    "LLM-7": "Each result answers a call by its id, and each call is answered.",
    "IDENTITY-1": "An identity can't be changed.",
    "IDENTITY-2": "The system prompt is the first message of every query, unchanged.",
    "IDENTITY-3": "Gates are sent as tools, in the circle's order; a code circle sends its one.",
    "IDENTITY-4": "The identity is the loom's root.",
    "IDENTITY-5": "Folding never touches it.",
    "CIRCLE-1": "A circle has `done`.",
    "CIRCLE-2": "It has a ward that guarantees an end.",
    "CIRCLE-3": "A gate has answered before the entity goes on.",
    "CIRCLE-4": "What gates answer is seen in the next query.",
    "CIRCLE-5": "A gate that fails is an error that is observed.",
    "CIRCLE-6": "Wards are enforced by the circle, whatever the entity writes.",
    "CIRCLE-7": "Several calls of one utterance run in order: one observation, an entry each.",
    "CIRCLE-8": "The result is what `done` was given, with its type.",
    "CIRCLE-10": "What a gate depends on is bound when the circle is built.",
    "CIRCLE-11": "What the entity can do is presented on every query.",
    "MEDIUM-1": "A circle has exactly one medium.",
    "MEDIUM-2": "A medium presents gates, executes, returns observations, and isolates.",
    "MEDIUM-3": "A sandbox's state lasts from turn to turn.",
    "MEDIUM-4": "A medium may have wards of its own.",
    "WARD-1": "A child only tightens: the minimum of numbers, OR of truth values.",
    "WARD-2": "A medium's own wards compose in the same way.",
    "VIEWPORT": "Data is shown by type, size and a short preview; no flood reaches a model.",
    "COMP-1": "A child's circle is its own, and may have gates that its parent lacks.",
    "COMP-2": "`call_entity` waits, and gives the child's value.",
    "COMP-3": "A batch runs side by side, and its results come in the order of the requests.",
    "COMP-4": "A child sees its intent and its context, nothing else of its parent.",
    "COMP-5": "A child's turns hang under the turn that spawned it.",
    "COMP-6": "Depth falls by one a level; at 0 nothing can be delegated.",
    "COMP-7": "A child may have another model, identity, medium, gates and wards.",
    "COMP-8": "A child's failure is an exception, in a batch a value; to be truncated is none.",
    "COMP-9": "When a parent ends, its children are truncated with `parent_terminated`.",
    "COMP-10": "A child without an identity has a general one.",
    "COMP-11": "A child at depth 0 is given no gate that spawns.",
    "LOOM-1": "A turn is recorded before the next begins.",
    "LOOM-2": "Turns have ids, and name the turn before.",
    "LOOM-3": "The loom is append-only; a reward may come later.",
    "LOOM-4": "A fork has the path up to its turn; the original stays as it was.",
    "LOOM-5": "Folding is a view: all turns stay.",
    "LOOM-6": "A folded span is marked; identity and gates are never folded.",
    "LOOM-7": "Terminated and truncated are told apart.",
    "LOOM-8": "All stands in one tree, children under the turn that spawned them.",
    "LOOM-9": "A turn has its tokens, its length and its time.",
    "LOOM-10": "Each path from the root can be taken out.",
    "LOOM-11": "The entity can read the loom in its sandbox.",
    "LOOM-12": "All entities of a cantrip share one loom.",
    "LOOM-13": "A fork by replay takes results from the record and calls no gate.",
    "PROD-1": "The same spell behaves the same through every front.",
    "PROD-2": "Retries are out of sight: one turn, backoff, no other 4xx.",
    "PROD-3": "Tokens are counted per turn and per entity, and add up.",
    "PROD-4": "Folding happens by itself, near the window's end or after some turns.",
    "PROD-5": "An ephemeral answer is a reference in the messages, and whole in the loom.",
    "PROD-6": "The agent protocol: initialize, sessions, prompts, updates.",
    "PROD-7": "A session keeps its context.",
    "PROD-8": "Secrets stay out of logs and default exports.",
    "PROD-9": "Servers on standard input say how they live, and can check themselves.",
    "STREAMING": "What happens is told in order: steps, messages, calls, results, usage, response.",
}
"""Every rule, in short."""

_NAMED = re.compile(r"((?:[A-Z]+(?:-\d+)?)(?:, (?:[A-Z]+(?:-\d+)?))*): ")


def page() -> str:
    """The whole page.

    Raises:
        ValueError: A rule has neither a case nor a test, or a case names one that isn't listed.
    """
    return "\n".join((*_intro(), *_rows())) + "\n"


def _intro() -> Iterator[str]:
    yield """# Rules

Every rule of behaviour, in short, and what shows that it holds: cases of
[the suite](../tests/conformance/suite.yaml), which `circlet conform` runs, and tests whose
docstring begins with the rule. Both run with `make test`; a rule without either can't stand here.

| rule | what it says | cases of the suite | tests | status |
| --- | --- | --- | --- | --- |"""


def _rows() -> Iterator[str]:
    cases, tests = _cases(), _tests()
    unknown = [rule for rule in cases if rule not in RULES]
    if unknown:
        raise ValueError(f"the suite has cases of {unknown}, which docs/rules.py doesn't list")
    for rule, says in RULES.items():
        named, found = cases.get(rule, []), sorted(tests.get(rule, ()))
        if not named and not found:
            raise ValueError(f"nothing shows that {rule} holds: write a case or a test")
        status = "held" if named else "held, by tests alone"
        shown = ["<br>".join(named), "<br>".join(f"`{path}`" for path in found)]
        yield f"| {rule} | {says} | {shown[0]} | {shown[1]} | {status} |"


def _cases() -> dict[str, list[str]]:
    """The names of the suite's cases, by rule."""
    by_rule = defaultdict(list)
    for case in read_suite(SUITE).cases:
        by_rule[case.rule].append(case.label)
    return by_rule


def _tests() -> dict[str, set[str]]:
    """The files of tests, by the rules that a docstring in them begins with."""
    by_rule = defaultdict(set)
    for path in sorted(TESTS.rglob("test_*.py")):
        for rule in _rules_of(path.read_text(encoding="utf-8")):
            by_rule[rule].add(path.relative_to(TESTS.parent).as_posix())
    return by_rule


def _rules_of(source: str) -> set[str]:
    """The rules that the docstrings of a file's tests begin with."""
    rules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
            "test"
        ):
            found = _NAMED.match(ast.get_docstring(node) or "")
            named = found[1].split(", ") if found else []
            rules.update(rule for rule in named if rule in RULES)
    return rules


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
