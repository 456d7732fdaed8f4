"""The record of an explained trial: where the time of its transactions went, in one file beside its outcome.

It belongs to the trial that has the same digest, and is not read for another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from heapq import nlargest
from pathlib import Path
from typing import Any

from tailrace.files import write_json
from tailrace.results.causes.bands import Band, bands
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.sentence import sentence, slowest_of
from tailrace.results.directory.run_directory import RunDirectoryError, Trial, read_object

FORMAT = 1
"""Version of the layout of the file."""
SLOWEST_MAX = 10
"""Transactions of each workload that are kept with their sentence."""
NAMES_MAX = 16
"""Ports and workloads of each band that are kept by name, those with the longest times; the others as their sum."""
OTHERS = "others"


@dataclass(frozen=True)
class Explained:
    """One workload of an explained trial."""

    trial: int
    transactions: int
    bands: list[Band]
    slowest: list[dict[str, Any]]
    """`latency_ps`, `start_ps`, `user` and `sentence`, from the longest latency."""


def path_of(trial: Trial) -> Path:
    """Where the record of this trial lies; it need not exist."""
    return trial.stem.with_name(f"{trial.stem.name}.causes.json")


def write_record(trial: Trial, workloads: Mapping[str, Sequence[Transaction]]) -> None:
    """Writes the record, whole or not at all, in place of an earlier one of the same trial."""
    write_json(path_of(trial), _content(trial, workloads))


def read_record(trial: Trial) -> dict[str, Explained]:
    """By workload; empty where the trial was not explained, or is another one than the explained.

    Raises `RunDirectoryError` when the file cannot be read.
    """
    path = path_of(trial)
    if not path.exists():
        return {}
    content = read_object(path, _HINT)
    if content.get("format") != FORMAT or content.get("digest") != trial.outcome.get("digest"):
        return {}
    try:
        return {str(name): _explained(trial.number, found) for name, found in content["workloads"].items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise RunDirectoryError(f"{path}: not a record of an explained trial (hint: {_HINT})") from error


_HINT = "remove the file and run `tailrace explain` again"


def first_record(trials: Sequence[Trial]) -> dict[str, Explained]:
    """That of the first trial that has one; empty where none has."""
    return next((found for trial in trials if (found := read_record(trial))), {})


def _content(trial: Trial, workloads: Mapping[str, Sequence[Transaction]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "arm": trial.arm,
        "trial": trial.number,
        "digest": trial.outcome["digest"],
        "workloads": {name: _workload(of) for name, of in workloads.items() if of},
    }


def _workload(of: Sequence[Transaction]) -> dict[str, Any]:
    return {
        "transactions": len(of),
        "bands": [_band(band) for band in bands(of)],
        "slowest": [
            {"latency_ps": one.latency_ps, "start_ps": one.start_ps, "user": one.user, "sentence": sentence(one)}
            for one in slowest_of(of, SLOWEST_MAX)
        ],
    }


def _band(band: Band) -> dict[str, Any]:
    return asdict(band) | {"queues": _bounded(band.queues), "behind": _bounded(band.behind)}


def _bounded(times: Mapping[str, float]) -> dict[str, float]:
    """The longest times by name, and the sum of the others."""
    kept = dict(nlargest(NAMES_MAX, times.items(), key=lambda item: item[1]))
    rest = sum(time for name, time in times.items() if name not in kept)
    return kept | ({OTHERS: rest} if rest else {})


def _explained(trial: int, found: Mapping[str, Any]) -> Explained:
    slowest = [dict(one) for one in found["slowest"]]
    return Explained(trial, int(found["transactions"]), [Band(**band) for band in found["bands"]], slowest)
