"""The parts of a live run that can be killed, told by its processes."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from machine_picture import Process

ALL = ("command", "guardian", "undertaker")
"""When these are killed in one moment, empty control groups wait for the next run."""
STAGES = ("python alone", "examination", "template", "trial")


@dataclass(frozen=True)
class Kill:
    """Who is killed, and what was going on."""

    who: str
    stage: str
    processes: tuple[Process, ...]


def roles(found: Sequence[Process], root: int) -> dict[str, list[tuple[str, tuple[Process, ...]]]]:
    """What could be killed, by kind; a kind that is not there now is left out."""
    by_pid = {process.pid: process for process in found}
    kinds: dict[str, list[tuple[str, tuple[Process, ...]]]] = {}

    def add(kind: str, name: str, *processes: Process) -> None:
        kinds.setdefault(kind, []).append((name, processes))

    guardians = {}
    for process in found:
        parent = by_pid.get(process.parent)
        of_fabric = process.name.startswith("tailrace-fabric") or process.words[1:2] == ("lab",)
        if process.pid == root:
            add("command", "command", process)
        elif (
            process.depth == 0
            and of_fabric
            and parent is not None
            and parent.words[:2] == process.words[:2]
        ):
            add("undertaker", "undertaker", process)
            if parent.words[1:2] == ("lab",):
                guardians[parent.pid] = (parent, process)
        elif process.depth == 0:
            add("fabric", _fabric_name(process), process)
        elif parent is not None and parent.depth == 0:
            add("lab", "lab", process)
        elif parent is not None and by_pid[parent.pid].depth and parent.words[1:2] == ("lab",):
            add("program", process.name, process)
        else:
            add("worker", process.name, process)
    for guardian, undertaker in guardians.values():
        add("both", "guardian and undertaker", guardian, undertaker)
        add("all", " and ".join(ALL), by_pid[root], guardian, undertaker)
    return kinds


def _fabric_name(process: Process) -> str:
    """The guardian, or what else runs outside the lab: a short command of the fabric, or `postgres
    --version`."""
    command = " ".join(process.words[1:2]) or process.name
    return "guardian" if command == "lab" else command


def stage(found: Sequence[Process]) -> str:
    """What a run is doing, as its processes tell."""
    words = [" ".join(process.words) for process in found]
    if any("/templates/" in each for each in words):
        return "template"
    for of_fabric, name in ((" doctor", "examination"), (" lab --plan", "trial")):
        if any(of_fabric in each for each in words):
            return name
    return "python alone"


def choose(found: Sequence[Process], root: int, generator: random.Random) -> Kill | None:
    """One part of a run: a kind by lot, then one of them."""
    kinds = roles(found, root)
    if not kinds:
        return None
    who, processes = generator.choice(kinds[generator.choice(sorted(kinds))])
    return Kill(who, stage(found), processes)
