"""The planned part of a run directory: the manifest and the plans. Damaged and foreign files are
refused."""

from pathlib import Path
from typing import Any

import msgspec

from tailrace.errors import TailraceError, closest, reason_of
from tailrace.files import parse_json
from tailrace.folder import IrregularFileError
from tailrace.outcome.journal import JOURNAL, LOST, DamagedError
from tailrace.outcome.run_files import MANIFEST, RunFiles
from tailrace.outcome.stored import FORMAT, format_words
from tailrace.plan.types import Plan
from tailrace.results.directory.manifest import Manifest
from tailrace.results.directory.names import manifest_fault, plan_fault
from tailrace.results.directory.shown import Shown
from tailrace.results.summary.sweep import PlannedSweep
from tailrace.scenario.experiment import folder_of
from tailrace.scenario.lowering.plan import plan_hash

_AGAIN = "run its scenario again"
_REWRITE = "remove the file and run the same command again"
_ELSEWHERE = f"{_AGAIN} with another --out"
_REPEATED = "run the same command again, which repeats what is damaged"


class RunDirectoryError(TailraceError):
    """A run directory cannot be read; names the file, the problem and the remedy."""


def read_manifest(files: RunFiles) -> Manifest:
    """The manifest of a run; raises `RunDirectoryError` for another format, and for a large
    sweep."""
    file = files.path / MANIFEST
    found = read_object(files, MANIFEST, "name a run directory; `tailrace list` shows them")
    if (version := found.get("manifest_version")) != FORMAT:
        raise RunDirectoryError(f"{files.path}: {format_words(version)} (hint: {_AGAIN})")
    if found.get("journal") and not files.journal.is_kept:
        raise RunDirectoryError(f"{files.path / JOURNAL}: {LOST} (hint: {_ELSEWHERE})")
    if "large" in found:
        raise RunDirectoryError(
            f"{files.path}: a large sweep keeps figures alone (hint: they are in sweep.csv and "
            "result.json; run a point by itself with --set for its charts and tables)"
        )
    try:
        manifest = msgspec.convert(found, Manifest)
        msgspec.convert(found, Shown)
    except msgspec.ValidationError as error:
        raise RunDirectoryError(f"{file}: cannot be read: {error} (hint: {_ELSEWHERE})") from error
    if fault := manifest_fault(manifest):
        raise RunDirectoryError(f"{file}: {fault} (hint: {_ELSEWHERE})")
    _refuse_unknown(file, manifest)
    return manifest


def _refuse_unknown(file: Path, manifest: Manifest) -> None:
    """Raises `RunDirectoryError` where a manifest names an arm or a workload that the run does not
    have."""
    arms = list(dict.fromkeys([*(manifest.overrides or {}), *manifest.arms]))
    if manifest.overrides and manifest.baseline is not None and manifest.baseline not in arms:
        hint = closest(manifest.baseline, arms, "arms")
        raise RunDirectoryError(
            f"{file}: there is no arm '{manifest.baseline}' - at `$.baseline` (hint: {hint})"
        )
    if manifest.sweep is not None:
        _refuse_sweep(file, manifest.sweep)
    known = [*manifest.groups, *manifest.workloads]
    for index, one in enumerate(manifest.headline):
        if one.workload not in known:
            hint = closest(one.workload, known, "workloads and groups")
            what = (
                f"there is no workload or group '{one.workload}' - at "
                f"`$.headline[{index}].workload`"
            )
            raise RunDirectoryError(f"{file}: {what} (hint: {hint})")


def _refuse_sweep(file: Path, sweep: PlannedSweep) -> None:
    """Raises `RunDirectoryError` for a sweep of nothing, or whose points lack an axis."""
    if not (sweep.axes and sweep.points and sweep.arms):
        raise RunDirectoryError(
            f"{file}: it has no axes, points or arms - at `$.sweep` (hint: {_AGAIN})"
        )
    for point in sweep.points:
        if lacking := {axis.path for axis in sweep.axes} - point.values.keys():
            raise RunDirectoryError(
                f"{file}: a point has no value of {min(lacking)!r} - at `$.sweep` (hint: {_AGAIN})"
            )


def read_plan(files: RunFiles, manifest: Manifest, arm: str) -> Plan | None:
    """Plan of an arm, where the run kept it; raises `RunDirectoryError` for another one."""
    name = f"plans/{folder_of(arm)}.json"
    file = files.path / name
    try:
        if (content := files.read_if_kept(name)) is None:
            return None
        plan = _PLANS.decode(content)
    except (OSError, ValueError, RecursionError) as error:
        raise RunDirectoryError(
            f"{file}: cannot be read: {reason_of(error)} (hint: {_REWRITE})"
        ) from error
    planned = (manifest.plan_hashes or {}).get(arm)
    if planned is not None and plan_hash(msgspec.json.decode(content)) != planned:
        raise RunDirectoryError(
            f"{file}: it is another plan than this run has of arm '{arm}' (hint: {_REWRITE})"
        )
    if fault := plan_fault(plan):
        raise RunDirectoryError(f"{file}: {fault} (hint: {_REWRITE})")
    return plan


_PLANS = msgspec.json.Decoder(Plan)


def read_object(files: RunFiles, name: str, hint: str) -> dict[str, Any]:
    """The object in a JSON file of a run; raises `RunDirectoryError` with this hint."""
    path = files.path / name
    try:
        content = parse_json(files.read(name))
    except FileNotFoundError as error:
        raise RunDirectoryError(f"{path}: no such file (hint: {hint})") from error
    except DamagedError as error:
        repair = _ELSEWHERE if name == MANIFEST else _REPEATED
        raise RunDirectoryError(f"{path}: {error} (hint: {repair})") from error
    except IrregularFileError as error:  # of this file, or of the journal
        raise RunDirectoryError(str(error)) from error
    except (OSError, ValueError) as error:
        raise RunDirectoryError(
            f"{path}: cannot be read: {reason_of(error)} (hint: {hint})"
        ) from error
    if not isinstance(content, dict):
        raise RunDirectoryError(f"{path}: not a JSON object (hint: {hint})")
    return content


def read_text(files: RunFiles, name: str) -> str | None:
    """The text of a file of a run; None where the run has not kept it. Raises
    `RunDirectoryError`."""
    try:
        content = files.read_if_kept(name)
        return None if content is None else content.decode("utf-8")
    except (OSError, ValueError) as error:
        raise RunDirectoryError(
            f"{files.path / name}: cannot be read: {reason_of(error)} (hint: {_REPEATED})"
        ) from error
