"""Writes ``docs/exports.md``: the formats of exports, from the models that check their lines.

python docs/exports.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from circlet import Loom
from circlet.runtime.llm import Message, Reply, Tool, ToolCall, Usage
from circlet.runtime.loom import (
    EndRecord,
    EntityRecord,
    IdentityRecord,
    IntentRecord,
    NodeRecord,
    Observation,
    ReplyRecord,
    RewardRecord,
    Sent,
    Verdict,
)
from circlet.runtime.loom.exports import ChatLine, GroupLine, PairLine
from circlet.runtime.loom.exports.table import COLUMNS
from circlet.sandbox.wire import dumps
from pydantic import BaseModel

PAGE = Path(__file__).with_name("exports.md")

HEAD = """# Exports

A loom can be written out for other programs to learn or to reckon from.

    circlet loom export DIR --format chat --out chat.jsonl

```python
loom.export("chat.jsonl", format="chat")
```

| format | what it is | for |
| --- | --- | --- |
| `jsonl` | every record, a line each | archives, other readers; whole with `--redaction none` |
| `chat` | what models were sent and said, a line a cast | supervised fine-tuning |
| `grpo` | judged casts at one task, a line a group | learning from rewards |
| `dpo` | a better and a worse cast, a line a pair | learning from preferences |
| `parquet` | a row a turn | tables; needs `pip install 'circlet[parquet]'` |

A file is made for its user alone (mode 0600) and written bit by bit, so that a large loom is never
held whole. Lines are ASCII, strict JSON.

**Secrets are withheld by default**, in every format, with a mask such as `[redacted: OpenAI key]`
in their place: what looks like a key, the keys of models in the environment, and the values that
the cantrip was given as `secrets` or bound its gates with. The values themselves are never
recorded, so a loom that is opened again knows only those that are in the environment; hand others
in with `loom.withhold(Secrets([...]))`. `redaction="none"` gives all.

**How a cast ended stands in every format**: `terminated` (by itself), `truncated` (by a ward, which
`reason` names), `failed` (`reason` begins with the error's name), and null where it has not ended
yet. Filter by it; nothing is left out for it. Only a cast that came to no turn, as one whose first
query failed, has nothing that a line or a row could hold: it stands in `jsonl` alone.

**What an ephemeral gate answered** was never sent to a model, and is exported as the reference that
was sent in its place. Only `jsonl` has the value itself, as the loom does.

A *task* is an intent with its context, at one level of the tree and with one past. Casts of one
cantrip with one intent are at one task, and so are forks of one turn that were given one intent.
`circlet loom threads` ranks them; `circlet loom reward` judges them.

The models that check the lines are `ChatLine`, `GroupLine` and `PairLine` of
`circlet.runtime.loom.exports`: `ChatLine.model_validate_json(line)` reads one, and
`ChatLine.model_json_schema()` is its JSON schema. In the tables below a field with a default may be
absent.
"""

JSONL = """## `jsonl`

The first line tells `format`, `version`, `circlet` and `redaction`; each other one is a record, in
the order in which it was recorded: `n`, `at`, `kind`, then its fields by name. An entity's values
are JSON; what JSON lacks is tagged, such as `{"$bytes": "..."}`, and what can't be read is
`{"$described": ...}`. With `redaction="none"` a value stands as `{"value": ..., "codec": BASE64}`,
whose bytes are exact, and blobs have lines of their own, so that nothing is lost.
"""

CHAT = """## `chat`

A line has all that the model was sent in the last query of a cast, and what it said to that, in the
form of OpenAI's Chat Completions, as its fine-tuning takes it. Nothing in it is made up: it is what
the loom recorded when the query was sent, the system prompt, the capabilities of a code circle and
the tools included.

- Where turns were folded (or messages shortened to fit the window), the cast has several lines,
  each a stretch in which one query went on from the other; `part` counts them.
- What the model said is to be learned where it said it. Where the same message is only context, as
  in the line of a later cast of a lasting entity, of a fork, or after a folding, it has
  `"weight": 0`, which OpenAI's trainer honours.
- Cut-off replies and programs that failed are in it too: they were said.

`metadata` is for choosing lines. A service that refuses keys which it does not know is given the
lines without it:

    jq -c 'select(.metadata.outcome == "terminated") | del(.metadata)' chat.jsonl
"""

GRPO = """## `grpo`

A line has the casts at one task that are judged, at least two. `prompt` is the first query of each;
casts that were sent something else (another system prompt, other gates or wards) have a line of
their own. A completion is all that was said and observed since, in full: where the model was told
less, for turns were folded, `folded` says so. Its messages end with the model's last one.

An advantage is the reward less the mean of the line's rewards, divided by the standard deviation of
the sample, as in GRPO (Shao et al. 2024, "DeepSeekMath"); 0 where all rewards are equal. For RLOO,
`Group.leave_one_out` has what it takes.

`prompt` and `tools` are a conversational, prompt-only data set as TRL's `GRPOTrainer` reads it; it
makes completions of its own. The recorded ones, with rewards and advantages, are for trainers that
learn from what is there. Arguments of calls are objects, and tool messages have the tool's name, as
chat templates expect.

```python
from datasets import load_dataset

groups = load_dataset("json", data_files="groups.jsonl", split="train")
```
"""

DPO = """## `dpo`

A line is a preference with an explicit prompt, conversational, as TRL's `DPOTrainer` reads it. By
default a group gives one pair, its best cast against its worst; with `pairs="all"` (`--pairs all`)
each two whose rewards differ. `margin` (`--margin`) is how far apart they are at least. Two that
are equally good are no pair. Prompt and completions are those of `grpo`.
"""

PARQUET = """## `parquet`

A row is a turn: one utterance, with all that was observed of it. Rows come entity by entity, in the
order in which the entities began. Texts of gate calls are those of the observation, shortened as it
shortens them; a row of the gate `...` says how many more there were.
"""

_SAID = {"type": "object", "properties": {"answer": {}}, "required": ["answer"]}
_TOOL = Tool("done", "Finish: hand in the answer and stop.", _SAID)


def example() -> Loom:
    """Two casts at one task, of which one was right."""
    loom = Loom()
    loom.append(IdentityRecord("identity", "cantrip", "Count letters.", {}, ""))
    asked = [Message("system", "Count letters."), Message("user", "How many r has strawberry?")]
    sent = Sent(0, dumps([message.neutral() for message in asked]), dumps([_TOOL.neutral()]))
    for name, answer in {"a": 3, "b": 2}.items():
        wards = {"max_turns": 3}
        loom.append(
            EntityRecord(
                name, "cantrip", "identity", None, 0, wards, "conversation", "m", asked[1].content
            )
        )
        loom.append(IntentRecord(name, 1, asked[1].content))
        call = ToolCall("call_1", "done", {"answer": answer})
        reply = Reply(None, (call,), Usage(40, 8), stop_reason="tool_calls")
        loom.append(ReplyRecord(name, 1, reply, sent))
        seen = Observation((), "", None, None, str(answer), False)
        loom.append(NodeRecord(f"{name}.1", None, name, 1, 1, 1, True, seen, (), (), "kept", 1.0))
        result = dumps(answer)
        loom.append(EndRecord(name, 1, f"{name}.1", "terminated", "done", result, str(answer)))
        verdict = Verdict("It is 3.", "is_right", answer == 3)
        loom.append(RewardRecord(f"{name}.1", float(answer == 3), "is_right", verdict))
    return loom


def page() -> str:
    """The page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    loom = example()
    told: set[str] = set()
    yield HEAD
    yield JSONL
    for text, model, name in (
        (CHAT, ChatLine, "chat"),
        (GRPO, GroupLine, "grpo"),
        (DPO, PairLine, "dpo"),
    ):
        yield text
        yield from _example(loom.export(format=name))
        yield from _model(model, told)
    yield PARQUET
    yield from _table(
        ("column", "type", "what it is"),
        ((f"`{name}`", f"`{kind}`", told) for name, (kind, told) in COLUMNS.items()),
    )


def _example(text: str) -> Iterator[str]:
    yield "A line, laid out:\n"
    yield "```json"
    yield json.dumps(json.loads(text.splitlines()[0]), indent=1)
    yield "```\n"


def _model(model: type[BaseModel], told: set[str]) -> Iterator[str]:
    """A table for a model, and one for each that stands in it and was not told of before."""
    schema = model.model_json_schema()
    parts = {model.__name__: schema, **schema.get("$defs", {})}
    for name, part in parts.items():
        if name in told:
            continue
        told.add(name)
        yield f"`{name.lstrip('_')}`\n"
        required = set(part.get("required", ()))
        yield from _table(
            ("field", "type", "what it is"),
            (
                (
                    f"`{field}`",
                    _type(its, field in required),
                    its.get("description", ""),
                )
                for field, its in part["properties"].items()
            ),
        )


def _type(its: dict[str, Any], is_required: bool) -> str:
    told = _told(its)
    if is_required:
        return told
    return f"{told}, may be absent"


def _told(its: dict[str, Any]) -> str:
    """A type in JSON Schema, in few words."""
    if "$ref" in its:
        return f"`{its['$ref'].rpartition('/')[2].lstrip('_')}`"
    for several in ("anyOf", "oneOf"):
        if several in its:
            return " or ".join(_told(one) for one in its[several])
    if "const" in its:
        return f"`{json.dumps(its['const'])}`"
    if "enum" in its:
        return " or ".join(f"`{json.dumps(one)}`" for one in its["enum"])
    if its.get("type") == "array":
        return f"list of {_told(its['items'])}"
    return str(its.get("type", "anything"))


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield _row(head)
    yield _row("---" for _ in head)
    for row in rows:
        yield _row(row)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
