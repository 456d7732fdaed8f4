"""Lists of runs and scenarios."""

import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

from tailrace.experiment.storage import KEPT, read_object
from tailrace.outcome.stored import Status, read_head
from tailrace.results.large.summary import is_large

SCENARIO_FOLDERS = (".", "examples", "reproductions/*")
LISTED_MAX = 500
"""Runs, and likewise scenarios, that are listed at most."""
VALUES_MAX = 6
"""Values of an axis that are listed; of a longer axis only the first and the last are."""
HEAD_BYTES = 4000
"""Bytes of a file that are read to recognise a scenario and its description."""


def find_runs(folder: Path) -> list[dict[str, Any]]:
    """Run directories below `folder`, latest first."""
    rows = [_run(path.parent, manifest) for path in folder.glob("*/manifest.json") if (manifest := read_object(path))]
    return sorted(rows, key=lambda row: str(row["started"]), reverse=True)[:LISTED_MAX]


def find_scenarios(root: Path = Path()) -> list[dict[str, str]]:
    """Scenario files in this directory and the usual folders below it."""
    files = sorted({path for folder in SCENARIO_FOLDERS for path in root.glob(f"{folder}/*.yaml")})
    return [{"path": str(path), "title": title} for path in files if (title := _title(path)) is not None][:LISTED_MAX]


def _run(path: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    done = sum(1 for file in path.glob("trials/*/*.json") if _status(file) in KEPT)
    kept = {key: manifest.get(key) for key in ("name", "state", "started", "scale", "live_scale", "arms")}
    planned = len(manifest.get("order", []))
    if is_large(manifest):  # a line for each trial
        done = sum(file.read_bytes().count(b"\n") for file in path.glob("trials/*.jsonl"))
        planned = int(manifest["large"]["trials"])
    counts = {"trials_done": done, "trials_planned": planned}
    return {"path": str(path), **kept, **counts, "overridden": _overridden(manifest)}


def _overridden(manifest: dict[str, Any]) -> list[str]:
    """What a run changed in its scenario: the axes of a sweep, and the values set on the command line."""
    axes = (manifest.get("sweep") or {}).get("axes", [])
    command = manifest.get("command") or []
    words = command if isinstance(command, list) else shlex.split(command)
    pairs = [*pairwise(words), *(tuple(word.split("=", 1)) for word in words if word.startswith("--") and "=" in word)]
    sets = [str(value) for option, value in pairs if option == "--set"]
    return [*(f"{axis['path']} = {_values(axis['values'])}" for axis in axes), *sets]


def _values(values: list[str]) -> str:
    """All values of a short axis, else the first and the last."""
    if len(values) <= VALUES_MAX:
        return ", ".join(values)
    return f"{values[0]} to {values[-1]} ({len(values)} values)"


def _status(path: Path) -> Status | None:
    """The status of a trial; None of a file that cannot be read."""
    try:
        return read_head(path).status
    except (OSError, ValueError):
        return None


def _title(path: Path) -> str | None:
    """The first line of a scenario's description; None when the file is not a scenario."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = file.read(HEAD_BYTES).splitlines()
    if not any(line.startswith("tailrace:") for line in lines):
        return None
    described = next((line.partition(":")[2].strip() for line in lines if line.startswith("description:")), "")
    if described and described[0] not in "|>":
        return described
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), path.stem)
