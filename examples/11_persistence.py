"""Persistence: a loom on disk outlives the process that wrote it, and the work goes on from there.

Another process works on a year of readings and files one month after the other, through a gate
with an effect. It dies without a word in the middle of its second turn, as in a power cut. Look at
what the loom knows afterwards, call by call: what was filed, and the one call of which nobody can
say whether it happened. Then at how the turn goes on in a third process: months on record are not
filed again, and the program is told of the call that was lost, sees which it was, and goes on.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from _show import choose_llm, head, say, show_loom, show_turns
from circlet import Cantrip, Circle, CircletError, Identity, Loom, gate
from circlet.runtime.loom import CallRecord

ROLE = "DIES_IN"  # the environment variable that tells a process that it is the first one
GOES_ON = "GOES_ON_IN"  # and that it is the one that goes on
SCRIPT = {
    "^File": [
        {
            "code": """
months = {}
for line in context.splitlines():
    date, value = line.split()
    months.setdefault(date[:7], []).append(float(value))
print(len(months), 'months,', sum(map(len, months.values())), 'readings')
"""
        },
        {
            "code": """
for month, values in months.items():
    mean = round(sum(values) / len(values), 2)
    try:
        file_month(month, mean)
    except GateInterrupted as lost:
        print(lost)
        if month not in filed():
            print(month, 'was not filed')
            file_month(month, mean)
done(len(filed()))
"""
        },
    ],
}


@gate(binds=("folder",))
def file_month(month: str, mean: float, *, folder: Path) -> str:
    """File a month's mean; a month can be filed once."""
    if ROLE in os.environ and month == "2024-05":
        os._exit(9)  # the power goes
    with open(folder / month, "x") as file:
        file.write(str(mean))
    return f"filed {month}"


@gate(idempotent=True, binds=("folder",))
def filed(*, folder: Path) -> list[str]:
    """The months that have been filed."""
    return [path.name for path in folder.iterdir()]


def readings() -> str:
    """A seeded year of readings, a line each: date and value."""
    rng = random.Random(11)
    days = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    return "\n".join(f"{day} {rng.gauss(9, 5):.1f}" for day in days)


def spell(folder: Path, loom: Loom) -> Cantrip:
    """The cantrip, the same in each process: what it was is not in the loom but here."""
    files = [one.bind(folder=folder / "filed") for one in (file_month, filed)]
    return Cantrip(
        llm=choose_llm(SCRIPT),
        identity=Identity(system_prompt="You file readings. Look at the data first."),
        circle=Circle(medium="code", gates=["done", *files], wards=[{"max_turns": 6}]),
        loom=loom,
    )


def go_on(home: Path) -> None:
    """In a fresh process: nothing is there but the loom and what was filed."""
    with Loom(home / "run") as loom:
        cast = spell(home, loom).resume()
        show_turns(cast)
        say("months on disk:", len(list((home / "filed").iterdir())))
        show_loom(loom)


if ROLE in os.environ:
    home = Path(os.environ[ROLE])
    spell(home, Loom(home / "run")).cast("File the mean of each month.", context=readings())
    sys.exit("it should have died")
if GOES_ON in os.environ:
    go_on(Path(os.environ[GOES_ON]))
    sys.exit()

with tempfile.TemporaryDirectory() as name:
    home = Path(name)
    (home / "filed").mkdir()
    head("The first process")
    died = subprocess.run([sys.executable, *sys.argv], env={**os.environ, ROLE: name})
    say("it died with exit code", died.returncode)

    with Loom(home / "run") as loom:
        head("What the loom knows of it")
        entity = next(iter(loom.entities.values()))
        say(loom, "- the entity's cast:", entity.outcome or "not ended")
        whole = [turn.turn for turn in entity.turns]
        say("whole turns:", whole, " last utterance: turn", entity.last_turn)
        for *_, record in loom.records():
            if isinstance(record, CallRecord):
                say(f"   {record.state}: {record.gate} {record.arguments_text}", record.text)

        head("A second writer is refused; a reader is not")
        try:
            Loom(home / "run")
        except CircletError as error:
            say(str(error).replace(name, "..."))
        with Loom(home / "run", read_only=True) as reader:
            say("a reader sees", reader)

    head("Another process goes on with the turn, from the loom")
    sys.stdout.flush()
    subprocess.run([sys.executable, *sys.argv], env={**os.environ, GOES_ON: name}, check=True)
