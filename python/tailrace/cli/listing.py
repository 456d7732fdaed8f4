"""Lists of runs and scenarios."""

import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert

from tailrace.errors import TailraceError
from tailrace.experiment.storage import KEPT
from tailrace.files import opened
from tailrace.folder import Folder
from tailrace.outcome.run_files import MANIFEST, OUTCOME, TRIALS, RunFiles
from tailrace.outcome.stored import Status, read_head
from tailrace.results.directory.kept import read_object
from tailrace.results.large.lines import Lines

KEYS = ("name", "state", "started", "scale", "live_scale", "arms")
"""Of a manifest, that are listed."""
DAMAGED = "damaged"
"""State of a run whose manifest cannot be read, or differs from that of the run."""

SCENARIO_FOLDERS = (".", "examples", "reproductions/*")
LISTED_MAX = 500
"""Runs, and likewise scenarios, that are listed at most."""
VALUES_MAX = 6
"""Values of an axis that are listed; of a longer axis only the first and the last are."""
HEAD_BYTES = 4000
"""Bytes of a file that are read to recognise a scenario and its description."""


class _Axis(Struct):
    path: str
    values: list[str]


class _Axes(Struct):
    axes: list[_Axis] = []


class _Large(Struct):
    trials: int


class _Listed(Struct):
    """The keys of a manifest that `list` reads; others are ignored."""

    order: list[str] = []
    command: list[str] | str | None = None
    sweep: _Axes | None = None
    large: _Large | None = None


def find_runs(folder: Path) -> list[dict[str, Any]]:
    """Run directories below `folder`, latest first."""
    paths = list(folder.iterdir()) if folder.is_dir() else []
    rows = [row for path in paths if path.is_dir() and (row := _run(path)) is not None]
    return sorted(rows, key=lambda row: str(row["started"]), reverse=True)[:LISTED_MAX]


def find_scenarios(root: Path = Path()) -> list[dict[str, str]]:
    """Scenario files in this directory and the usual folders below it."""
    files = sorted({path for folder in SCENARIO_FOLDERS for path in root.glob(f"{folder}/*.yaml")})
    return [
        {"path": str(path), "title": title} for path in files if (title := _title(path)) is not None
    ][:LISTED_MAX]


def _run(path: Path) -> dict[str, Any] | None:
    """A run; None of a folder that is none."""
    files = RunFiles(path)
    row: dict[str, Any] = {"path": str(path), **dict.fromkeys(KEYS), "state": DAMAGED}
    row |= {"trials_done": 0, "trials_planned": 0, "overridden": []}
    try:
        if not files.folder.has(MANIFEST):
            return None
        found = read_object(files, MANIFEST, "run its scenario again")
        manifest = convert(found, _Listed)
        row |= {key: found.get(key) for key in KEYS} | {"overridden": _overridden(manifest)}
        if manifest.large is not None:  # a line for each trial
            return row | {
                "trials_done": Lines(files.folder).count(),
                "trials_planned": manifest.large.trials,
            }
        return row | {"trials_done": _done(files.folder), "trials_planned": len(manifest.order)}
    except (TailraceError, ValidationError):
        return row


def _done(folder: Folder) -> int:
    """Trials that are results, by the heads of their files."""
    arms = [f"{TRIALS}/{arm}" for arm in folder.folders(TRIALS)]
    names = (
        f"{arm}/{name}"
        for arm in arms
        for name in folder.names(arm)
        if name.endswith(f".{OUTCOME}")
    )
    return sum(_status(folder, name) in KEPT for name in names)


def _overridden(manifest: _Listed) -> list[str]:
    """The changes of a run to its scenario: the axes of a sweep, and the values set on the command
    line."""
    axes, command = manifest.sweep.axes if manifest.sweep else [], manifest.command or []
    words = shlex.split(command) if isinstance(command, str) else command
    pairs = [
        *pairwise(words),
        *(tuple(word.split("=", 1)) for word in words if word.startswith("--") and "=" in word),
    ]
    sets = [str(value) for option, value in pairs if option == "--set"]
    return [*(f"{axis.path} = {_values(axis.values)}" for axis in axes), *sets]


def _values(values: list[str]) -> str:
    """All values of a short axis, else the first and the last."""
    if len(values) <= VALUES_MAX:
        return ", ".join(values)
    return f"{values[0]} to {values[-1]} ({len(values)} values)"


def _status(folder: Folder, name: str) -> Status | None:
    """The status of a trial; None of a file that cannot be read."""
    try:
        with folder.opened(name) as file:
            return read_head(file).status
    except (OSError, ValueError):
        return None


def _title(path: Path) -> str | None:
    """The first line of a scenario's description; None when the file is not a scenario."""
    try:
        with opened(path) as file:
            lines = file.read(HEAD_BYTES).decode("utf-8", errors="replace").splitlines()
    except OSError:
        return None
    if not any(line.startswith("tailrace:") for line in lines):
        return None
    described = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("description:")), ""
    )
    if described and described[0] not in "|>":
        return described
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), path.stem)
