"""A familiar: a persistent entity that builds other cantrips, casts them and learns from them.

`cast_cantrip` is a gate of this example's: the familiar writes down what a cantrip is made of, and
the host makes it and casts it. Look at its first spec, which has no ward and is refused with the
text that any author of a cantrip gets; and at the second day, which is another process: the loom
is opened again from disk, the same familiar is summoned from it by its id, and goes on with the
variables that it had. Its oldest turns are folded in what its model is told, and it reads in `loom`
what it did then; no cantrip of the first day is cast a second time.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, Folding, Identity, Loom, gate

DAY = "SECOND_DAY_IN"  # the environment variable that tells a process that it is the next day
STDLIB = Path(sysconfig.get_path("stdlib"))
COUNT = """
texts = {name: read(name) for name in context}
done({name: len(text.splitlines()) for name, text in texts.items()})
"""
FAMILIAR = "familiar"
IMPORTS = """
import re
texts = {name: read(name) for name in context}
done({name: len(re.findall(r'^(?:import|from) ', text, re.M)) for name, text in texts.items()})
"""
SCRIPT = {
    "^You work": [
        {
            "code": """
FILES = ['csv.py', 'textwrap.py']
specs = {'lines': {
    'prompt': 'You count with code.', 'medium': 'code', 'gates': ['done', 'read'], 'wards': [],
}}
lines = cast_cantrip(specs['lines'], 'Count the lines of these files.', FILES)
"""
        },
        {
            "code": """
specs['lines']['wards'] = [{'max_turns': 4}]
lines = cast_cantrip(specs['lines'], 'Count the lines of these files.', FILES)
print(lines)
"""
        },
        {"code": "done(f'learnt {list(specs)}; {lines}')"},
        {
            "code": """
print('I can make:', list(specs), '- I know:', lines)
for turn in loom.turns:
    for call in turn.calls:
        print('turn', turn.turn, call.gate, 'failed' if call.is_error else 'went well')
"""
        },
        {
            "code": """
specs['imports'] = {**specs['lines'], 'prompt': 'You look for imports with code.'}
imports = cast_cantrip(specs['imports'], 'Count the imports of these files.', list(lines))
done({name: {'lines': lines[name], 'imports': imports[name]} for name in lines})
"""
        },
    ],
    "^Count the lines": [{"code": COUNT}],
    "^Count the imports": [{"code": IMPORTS}],
}


@gate(timeout_s=300, binds=("loom",))
async def cast_cantrip(
    spec: dict[str, Any], intent: str, context: Any = None, *, loom: Loom
) -> Any:
    """Make a cantrip and cast it; gives its result.

    Args:
        spec: What it is made of: `prompt` (text), `medium` ("code" or "conversation"), `gates`
            (names out of done and read), `wards` (such as [{"max_turns": 5}]).
        intent: What its entity is to do.
        context: Data for it.
        loom: Where it is recorded; bound beforehand.
    """
    offered: dict[str, Any] = {"done": "done", "read": {"name": "read", "root": STDLIB}}
    unknown = [name for name in spec["gates"] if name not in offered]
    if unknown:
        raise LookupError(f"there is no gate {unknown[0]!r}; there are {', '.join(offered)}")
    made = Cantrip(
        llm=llm,
        identity=Identity(system_prompt=spec["prompt"]),
        circle=Circle(
            medium=spec["medium"],
            gates=[offered[name] for name in spec["gates"]],
            wards=spec["wards"],
        ),
        loom=loom,
    )
    cast = await made.acast(intent, context)
    if cast.truncated:
        raise RuntimeError(f"stopped by {cast.reason}: {cast.summary}")
    return cast.result


def familiar(loom: Loom) -> Cantrip:
    """The familiar's own cantrip, over a loom."""
    return Cantrip(
        llm=llm,
        identity=Identity(
            system_prompt="You are a familiar. You work through cantrips that you make: write a "
            "spec, cast it, keep specs that worked in the variable `specs`."
        ),
        circle=Circle(
            medium="code",
            gates=["done", cast_cantrip.bind(loom=loom)],
            wards=[{"max_turns": 8}, {"require_done_tool": True}],
        ),
        folding=Folding(after_turns=3),
        loom=loom,
    )


def first_day(home: str) -> None:
    """The familiar begins, and ends with the process."""
    head("The first day")
    with Loom(home) as loom, familiar(loom).summon(entity_id=FAMILIAR) as entity:
        cast = entity.send(
            "You work on the modules csv.py and textwrap.py. Have their lines counted, and keep "
            "what you learnt in variables."
        )
        show_turns(cast)
        say("entities in the loom:", len(loom.entities))


def second_day(home: str) -> None:
    """The familiar goes on, in a process that has nothing but its loom."""
    head("The next day, in another process")
    with Loom(home) as loom:
        before = loom.entities[FAMILIAR]
        say(before, "->", before.result)
        with familiar(loom).summon(entity_id=FAMILIAR, resume=True) as entity:
            cast = entity.send(
                "A new day. Have the imports of the same modules counted by a cantrip like the "
                "one that worked, and answer with a dict of module to {'lines', 'imports'}."
            )
        show_turns(cast)
        told = before.folds[-1].text.partition("\n")[0]
        say("what its model is told of the first day:", told)
        say("entities in the loom:", len(loom.entities), "- the familiar and its cantrips")
        show_loom(loom)


llm = choose_llm(SCRIPT)
if DAY in os.environ:
    second_day(os.environ[DAY])
else:
    with tempfile.TemporaryDirectory() as name:
        first_day(name)
        sys.stdout.flush()
        subprocess.run([sys.executable, *sys.argv], env={**os.environ, DAY: name}, check=True)
