"""The explanation that a run directory keeps, `explained.json`: bands and the slowest, not every transaction."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tailrace.files import read_json, write_json
from tailrace.results.causes.bands import Band, bands
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.sentence import sentence
from tailrace.results.directory.run_directory import Run

FILE = "explained.json"
FORMAT = 1
SLOWEST = 10


def as_data(arm: str, workload: str, of: Sequence[Transaction], slowest: int) -> dict[str, Any]:
    """One workload in one arm: bands, and the slowest transactions with a sentence each."""
    return {
        "arm": arm,
        "workload": workload,
        "transactions": len(of),
        "bands": [asdict(band) for band in bands(of)],
        "slowest": [{**asdict(one), "sentence": sentence(one)} for one in slowest_of(of, slowest)],
    }


def slowest_of(transactions: Sequence[Transaction], count: int) -> list[Transaction]:
    """From the longest latency; of equal ones the earlier first."""
    return sorted(transactions, key=lambda one: (-one.latency_ps, one.start_ps, one.user))[:count]


def keep(
    path: Path, trial: int, digests: dict[str, str], found: Sequence[tuple[str, str, Sequence[Transaction]]]
) -> None:
    """Writes the explanation of a trial of every arm, with the digests of the events that it explains."""
    told = [as_data(arm, workload, of, SLOWEST) for arm, workload, of in found if of]
    write_json(path / FILE, {"format": FORMAT, "trial": trial, "digests": digests, "explained": told})


def kept(run: Run) -> dict[str, Any] | None:
    """The explanation of a run; None where it has none, or one of other events."""
    try:
        found = read_json(run.path / FILE)
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return None
    number, digests = found["trial"], found["digests"]
    held = {arm: trial for arm in run.arms for trial in run.told(arm) if trial.number == number}
    is_of_it = all(arm in held and held[arm].outcome.get("digest") == digest for arm, digest in digests.items())
    return found if is_of_it else None


def bands_of(entry: dict[str, Any]) -> list[Band]:
    """The bands of one entry of `explained`."""
    return [Band(**band) for band in entry["bands"]]
