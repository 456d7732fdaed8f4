"""The record of an explained trial: where the time of its transactions went, in one file beside its outcome.

It belongs to the trial that has the same digest, and is not read for another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from pathlib import Path
from typing import Any

from tailrace.files import write_json
from tailrace.results.causes.bands import Band, bands
from tailrace.results.causes.causes import LostDatagrams, Transaction
from tailrace.results.causes.sentence import sentence, slowest_of
from tailrace.results.directory.run_directory import RunDirectoryError, Trial, read_object

FORMAT = 1
"""Version of the layout of the file."""
SLOWEST_MAX = 10
"""Transactions of each workload that are kept with their sentence."""
NAMES_MAX = 16
"""Ports and workloads of each band that are kept by name, those with the longest times; the others as their sum."""
OTHERS = "others"
FABRIC = "fabric"
"""Source of a record that a live trial's ingress log tells; a simulated one states none."""


@dataclass(frozen=True)
class Explained:
    """One workload of an explained trial."""

    trial: int
    transactions: int
    """0 where nothing was complete, and what was lost is told alone; there are no bands then."""
    bands: list[Band]
    slowest: list[dict[str, Any]]
    """`latency_ps`, `start_ps`, `user` and `sentence`, from the longest latency."""
    lost: list[LostDatagrams] = field(default_factory=list)
    """Datagrams that were lost and are not explained, from the place with most of them."""
    is_live: bool = False
    """Measured by the fabric of a live trial; the others are simulated."""


def path_of(trial: Trial) -> Path:
    """Where the record of this trial lies; it need not exist."""
    return trial.stem.with_name(f"{trial.stem.name}.causes.json")


def write_record(
    trial: Trial,
    workloads: Mapping[str, Sequence[Transaction]],
    lost: Mapping[str, Sequence[LostDatagrams]],
    measured: Mapping[str, Sequence[Transaction]] | None = None,
) -> None:
    """Writes the record, whole or not at all, in place of an earlier one of the same trial.

    `lost` are datagrams by workload; `measured` are the slowest transactions, from the slowest, where a fabric measured
    all of them.
    """
    source = {} if measured is None else {"source": FABRIC}
    slowest = measured or {name: slowest_of(of, SLOWEST_MAX) for name, of in workloads.items()}
    write_json(path_of(trial), _content(trial, workloads, slowest, lost) | source)


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
        is_live = content.get("source") == FABRIC
        return {str(name): _explained(trial.number, found, is_live) for name, found in content["workloads"].items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise RunDirectoryError(f"{path}: not a record of an explained trial (hint: {_HINT})") from error


_HINT = "remove the file and run `tailrace explain` again"


def first_record(trials: Sequence[Trial]) -> dict[str, Explained]:
    """That of the first trial that has one; empty where none has."""
    return next((found for trial in trials if (found := read_record(trial))), {})


def _content(
    trial: Trial,
    workloads: Mapping[str, Sequence[Transaction]],
    slowest: Mapping[str, Sequence[Transaction]],
    lost: Mapping[str, Sequence[LostDatagrams]],
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "arm": trial.arm,
        "trial": trial.number,
        "digest": trial.outcome["digest"],
        "workloads": {
            name: _workload(of, slowest[name][:SLOWEST_MAX], lost.get(name, ()))
            for name, of in workloads.items()
            if of or lost.get(name)
        },
    }


def _workload(
    of: Sequence[Transaction], slowest: Sequence[Transaction], lost: Sequence[LostDatagrams]
) -> dict[str, Any]:
    return {
        "transactions": len(of),
        "bands": [_band(band) for band in bands(of)],
        "slowest": [
            {"latency_ps": one.latency_ps, "start_ps": one.start_ps, "user": one.user, "sentence": sentence(one)}
            for one in slowest
        ],
        "lost": [asdict(place) for place in lost],
    }


def _band(band: Band) -> dict[str, Any]:
    return asdict(band) | {"queues": _bounded(band.queues), "behind": _bounded(band.behind)}


def _bounded(times: Mapping[str, float]) -> dict[str, float]:
    """The longest times by name, and the sum of the others."""
    kept = dict(nlargest(NAMES_MAX, times.items(), key=lambda item: item[1]))
    rest = sum(time for name, time in times.items() if name not in kept)
    return kept | ({OTHERS: rest} if rest else {})


def _explained(trial: int, found: Mapping[str, Any], is_live: bool) -> Explained:
    slowest = [dict(one) for one in found["slowest"]]
    lost = [LostDatagrams(**place) for place in found.get("lost", [])]
    told = [Band(**band) for band in found["bands"]]
    return Explained(trial, int(found["transactions"]), told, slowest, lost, is_live)
