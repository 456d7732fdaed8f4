"""What a run directory keeps of what was planned: the manifest and the plans. What is damaged or foreign is refused."""

from pathlib import Path
from typing import Any

import msgspec

from tailrace.errors import TailraceError, closest, reason_of
from tailrace.files import named, read_json
from tailrace.outcome.stored import FORMAT, format_words
from tailrace.plan.types import Plan
from tailrace.results.directory.manifest import Manifest
from tailrace.scenario.experiment import folder_of
from tailrace.scenario.lowering.plan import plan_hash

_AGAIN = "run its scenario again"
_REWRITE = "remove the file and run the same command again"


class RunDirectoryError(TailraceError):
    """A run directory cannot be read; names the file, the problem and the remedy."""


def read_manifest(path: Path) -> Manifest:
    """The manifest in this directory; raises `RunDirectoryError` for another format, and for a large sweep."""
    file = path / "manifest.json"
    found = read_object(file, "name a run directory; `tailrace list` shows them")
    if (version := found.get("manifest_version")) != FORMAT:
        raise RunDirectoryError(f"{path}: {format_words(version)} (hint: {_AGAIN})")
    if "large" in found:
        raise RunDirectoryError(
            f"{path}: a large sweep keeps figures alone (hint: they are in sweep.csv and result.json;"
            " run a point by itself with --set for its charts and tables)"
        )
    try:
        manifest = msgspec.convert(found, Manifest)
    except msgspec.ValidationError as error:
        raise RunDirectoryError(f"{file}: cannot be read: {error} (hint: {_AGAIN} with another --out)") from error
    _refuse_unknown(file, manifest)
    return manifest


def _refuse_unknown(file: Path, manifest: Manifest) -> None:
    """Raises `RunDirectoryError` where a manifest names an arm or a workload that the run does not have."""
    arms = list(dict.fromkeys([*(manifest.overrides or {}), *manifest.arms]))
    if manifest.overrides and manifest.baseline is not None and manifest.baseline not in arms:
        hint = closest(manifest.baseline, arms, "arms")
        raise RunDirectoryError(f"{file}: there is no arm '{manifest.baseline}' - at `$.baseline` (hint: {hint})")
    known = [*manifest.groups, *manifest.workloads]
    for place, one in enumerate(manifest.headline):
        if one.workload not in known:
            hint = closest(one.workload, known, "workloads and groups")
            what = f"there is no workload or group '{one.workload}' - at `$.headline[{place}].workload`"
            raise RunDirectoryError(f"{file}: {what} (hint: {hint})")


def read_plan(path: Path, manifest: Manifest, arm: str) -> Plan | None:
    """Plan of an arm, where the run in this directory kept it; raises `RunDirectoryError` for another one."""
    file = path / "plans" / f"{folder_of(arm)}.json"
    if not file.exists():
        return None
    try:
        with named(file):
            content = file.read_bytes()
        plan = _PLANS.decode(content)
    except (OSError, ValueError, RecursionError) as error:
        raise RunDirectoryError(f"{file}: cannot be read: {reason_of(error)} (hint: {_REWRITE})") from error
    planned = (manifest.plan_hashes or {}).get(arm)
    if planned is not None and plan_hash(msgspec.json.decode(content)) != planned:
        raise RunDirectoryError(f"{file}: it is another plan than this run has of arm '{arm}' (hint: {_REWRITE})")
    return plan


_PLANS = msgspec.json.Decoder(Plan)


def read_object(path: Path, hint: str) -> dict[str, Any]:
    """The object in a JSON file of a run; raises `RunDirectoryError` with this hint."""
    try:
        content = read_json(path)
    except FileNotFoundError as error:
        raise RunDirectoryError(f"{path}: no such file (hint: {hint})") from error
    except (OSError, ValueError) as error:
        raise RunDirectoryError(f"{path}: cannot be read: {reason_of(error)} (hint: {hint})") from error
    if not isinstance(content, dict):
        raise RunDirectoryError(f"{path}: not a JSON object (hint: {hint})")
    return content
