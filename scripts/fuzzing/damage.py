"""Damages of run directories: what a disk, a copy or another person makes of them.

Every command that reads the damaged run prints what it printed of the sound one, or refuses with a
sentence; the same `run` command repairs it, or says why it cannot; and nothing outside the
directory is changed.
"""

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from check_commands import Answer
from fuzzing.program import FindingError, program
from fuzzing.runs import BASE
from tailrace.cli import codes

OTHER = b"another person's file\n"
PUBLISHED = (
    "figures:\n- {metric: rate_per_s, workload: orders, arm: small, at_least: 1, source: x, "
    "kind: bound}\n"
)
SCENARIO = BASE | {
    "published": "figures.yaml",
    "expect": [],
    "experiment": {"trials": 2, "duration": "50ms", "solo": True},
}
"""Two arms and the orders alone, explained, with published figures."""
RESULT = "result.json"
FLIPS_MAX = 4
NUMBERS = re.compile(rb"[0-9]+")


@dataclass(frozen=True)
class Place:
    """What damages are tried on."""

    folder: Path
    scenario: Path
    sound: Path
    """The run directory, which stays as it is."""
    said: dict[str, Answer]
    """What each command printed of it."""
    result: str
    """Its `result.json`."""


def prepared(folder: Path) -> Place:
    """A sound run, and what is said of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.yaml").write_text(PUBLISHED, encoding="utf-8")
    scenario, sound = folder / "base.json", folder / "sound"
    scenario.write_text(json.dumps(SCENARIO), encoding="utf-8")
    shutil.rmtree(sound, ignore_errors=True)
    made = program("run", str(scenario), "--out", str(sound), "--explain", "--jobs", "1")
    if made.code != codes.DONE:
        raise RuntimeError(f"the run directory cannot be made: {made.code} {made.err}")
    place = Place(folder, scenario, sound, {}, (sound / RESULT).read_text(encoding="utf-8"))
    run = copied(place)
    place.said.update({name: program(*words) for name, words in readers(place, run).items()})
    if wrong := [name for name, answer in place.said.items() if answer.code != codes.DONE]:
        raise RuntimeError(f"{wrong[0]} does not read it: {place.said[wrong[0]].err}")
    return place


def copied(place: Place) -> Path:
    """A copy of the run, to be damaged."""
    run = place.folder / "changed"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(place.sound, run)
    return run


def readers(place: Place, run: Path) -> dict[str, Sequence[str]]:
    """The commands that read a run directory, by name."""
    return {
        "report": ("report", str(run), "--full"),
        "compare": ("compare", str(place.sound), str(run)),
        "arms": ("compare", str(run), "--arms", "small", "large"),
        "queues": ("show", "queues", str(run)),
        "interfaces": ("show", "interfaces", str(run), "--interval", "1ms", "--count", "2"),
        "check": ("check", str(run)),
        "explain": ("explain", str(run), "--arm", "small", "--jobs", "1"),
        "trace": ("trace", str(run), "--out", str(place.folder / "trace")),
        "list": ("list", "--runs", str(place.folder)),
    }


def tried(place: Place, dice: random.Random, told: list[str]) -> None:
    """Damages a copy of the run, has it read and repaired; raises for a finding. `told` gets the
    kind of the damage and what was damaged.
    """
    run = copied(place)
    outside = place.folder / "outside"
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir()
    (outside / "file").write_bytes(OTHER)
    told[:] = damaged(run, outside, dice)
    before = everything(outside)
    for name, words in readers(place, run).items():
        judged(place, run, name, program(*words))
    repaired(place, run)
    if everything(outside) != before:
        raise FindingError("something outside the run directory was changed")


def judged(place: Place, run: Path, name: str, answer: Answer) -> None:
    """Raises for an answer that differs in silence."""
    sound = place.said[name]
    if answer.code == codes.USAGE:
        if str(run) not in answer.err:
            raise FindingError(
                f"{name}: the message does not name the file: {answer.err.strip()[:300]}"
            )
        return
    if answer.code != sound.code:
        raise FindingError(
            f"{name}: exit code {answer.code} and not {sound.code}: {answer.err.strip()[:300]}"
        )
    if name != "list" and answer.out != sound.out:
        raise FindingError(f"{name}: it prints something else: {difference(sound.out, answer.out)}")
    if name == "report" and (run / RESULT).read_text(encoding="utf-8") != place.result:
        raise FindingError(f"{name}: {RESULT} is another one")


def repaired(place: Place, run: Path) -> None:
    """Runs the same command; raises where it says that all is well and the run is another one."""
    words = ("run", str(place.scenario), "--out", str(run), "--explain", "--jobs", "1")
    answer = program(*words)
    if answer.code == codes.USAGE:
        if str(run) not in answer.err:
            raise FindingError(
                f"run: the message does not name the file: {answer.err.strip()[:300]}"
            )
        return
    if answer.code != codes.DONE:
        raise FindingError(f"run: exit code {answer.code}: {answer.err.strip()[:300]}")
    for name, reader in readers(place, run).items():
        found = program(*reader)
        if name == "list":
            continue
        if (found.code, without_counts(found.out)) != (
            place.said[name].code,
            without_counts(place.said[name].out),
        ):
            what = difference(place.said[name].out, found.out) or found.err.strip()[:300]
            raise FindingError(f"{name} after the repair: exit code {found.code}, {what}")


def without_counts(text: str) -> str:
    """A report says how long trials took, and `check` how many files there are: those differ after
    a repair."""
    return re.sub(r"and [0-9]+ other files", "", text)


def difference(before: str, after: str) -> str:
    """The first line that differs."""
    pairs = zip([*before.splitlines(), ""], [*after.splitlines(), ""], strict=False)
    return next((f"{one!r} became {other!r}" for one, other in pairs if one != other), "")


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def damaged(run: Path, outside: Path, dice: random.Random) -> tuple[str, str]:
    """One damage, of a file, or now and then of a folder: its kind, and the name."""
    paths = sorted(path for path in run.rglob("*"))
    files, folders = (
        [path for path in paths if path.is_file()],
        [path for path in paths if path.is_dir()],
    )
    if dice.random() < 0.1:
        path, kinds = dice.choice(folders), OF_FOLDERS
    else:
        path, kinds = dice.choice(files), OF_FILES
    name = dice.choice(list(kinds))
    kinds[name](path, outside, dice)
    return name, f"{name} {path.relative_to(run)}"


def _truncate(path: Path, _: Path, dice: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: dice.randrange(len(content) + 1)])


def _flip(path: Path, _: Path, dice: random.Random) -> None:
    content = bytearray(path.read_bytes() or b"\0")
    for _number in range(dice.randint(1, FLIPS_MAX)):
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def _change_number(path: Path, _: Path, dice: random.Random) -> None:
    """What a person does: a figure is another one, and the file is well formed."""
    content = path.read_bytes()
    found = list(NUMBERS.finditer(content))
    if not found:
        _truncate(path, path, dice)
        return
    one = dice.choice(found)
    path.write_bytes(
        content[: one.start()] + str(2 * int(one[0][:18]) + 1).encode() + content[one.end() :]
    )


def _delete(path: Path, _: Path, _dice: random.Random) -> None:
    path.unlink()


def _swap(path: Path, _: Path, dice: random.Random) -> None:
    """Two files of the same kind are exchanged, or one is a copy of the other."""
    root = next(folder for folder in path.parents if folder.name == "changed")
    others = sorted(
        other for other in root.rglob(f"*{path.suffix}") if other.is_file() and other != path
    )
    same = [
        other for other in others if other.name.partition(".")[2] == path.name.partition(".")[2]
    ] or others
    if not same:
        path.unlink()
        return
    other = dice.choice(same)
    mine, its = path.read_bytes(), other.read_bytes()
    path.write_bytes(its)
    if dice.random() < 0.5:
        other.write_bytes(mine)


def _link(path: Path, outside: Path, dice: random.Random) -> None:
    """A link to a copy of the file elsewhere, to another file, or to nothing."""
    (outside / "copy").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(
        dice.choice((outside / "copy", outside / "file", outside / "nothing", Path("/dev/zero")))
    )


def _folder(path: Path, _: Path, dice: random.Random) -> None:
    path.unlink()
    path.mkdir()
    if dice.random() < 0.5:
        (path / "x").write_bytes(OTHER)


def _pipe(path: Path, _: Path, _dice: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def _lose(path: Path, _: Path, _dice: random.Random) -> None:
    shutil.rmtree(path)


def _link_folder(path: Path, outside: Path, _dice: random.Random) -> None:
    shutil.copytree(path, outside / "folder")
    shutil.rmtree(path)
    path.symlink_to(outside / "folder")


def _file(path: Path, _: Path, _dice: random.Random) -> None:
    shutil.rmtree(path)
    path.write_bytes(OTHER)


Change = Callable[[Path, Path, random.Random], None]
OF_FILES: dict[str, Change] = {
    "truncate": _truncate,
    "flip bits": _flip,
    "change a number": _change_number,
    "delete": _delete,
    "swap": _swap,
    "link": _link,
    "folder": _folder,
    "pipe": _pipe,
}
OF_FOLDERS: dict[str, Change] = {"lose": _lose, "link the folder": _link_folder, "file": _file}
