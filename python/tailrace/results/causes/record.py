"""The record of an explained trial: where the time of its transactions went, in one file beside its
outcome.

It belongs to the trial that has the same digest, and is not read for another one.
"""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from pathlib import Path

from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from tailrace.errors import reason_of
from tailrace.files import parse_json
from tailrace.results.causes.bands import bands
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.sentence import sentence, slowest_of
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.summary.base import Part
from tailrace.results.summary.causes import Band, Explained, LostDatagrams, Slowest

FORMAT = 2
"""Version of the layout of the file."""
SLOWEST_MAX = 10
"""Transactions of each workload that are kept with their sentence."""
NAMES_MAX = 16
"""Ports and workloads of each band that are kept by name, those with the longest times; the others
as their sum."""
OTHERS = "others"
FABRIC = "fabric"
"""Source of a record made from a live trial's ingress log; the record of a simulated trial states
none."""


class ExplainedWorkload(Part, frozen=True, kw_only=True):
    """One workload, as the file has it."""

    transactions: int
    bands: list[Band]
    slowest: list[Slowest]
    lost: list[LostDatagrams] = []


class Record(Part, frozen=True, kw_only=True):
    """The content of the file."""

    format: int
    arm: str
    trial: int
    digest: str | None
    workloads: dict[str, ExplainedWorkload]
    source: str | None = None
    """`fabric` of a live trial."""
    until_ps: int | None = None
    """End of the explained interval, where only the beginning of the trial was explained."""


def write_record(
    trial: Trial,
    workloads: Mapping[str, Sequence[Transaction]],
    lost: Mapping[str, Sequence[LostDatagrams]],
    measured: Mapping[str, Sequence[Transaction]] | None = None,
    until_ps: int | None = None,
) -> None:
    """Writes the record atomically, in place of an earlier one of the same trial.

    `lost` are datagrams by workload; `measured` are the slowest transactions in descending order of
    latency, where a fabric measured all of them. `until_ps` is the end of the explained interval,
    where that is not the whole trial.
    """
    slowest = measured or {name: slowest_of(of, SLOWEST_MAX) for name, of in workloads.items()}
    record = Record(
        format=FORMAT,
        arm=trial.arm,
        trial=trial.number,
        digest=trial.outcome.digest,
        workloads={
            name: _workload(of, slowest[name][:SLOWEST_MAX], lost.get(name, ()))
            for name, of in workloads.items()
            if of or lost.get(name)
        },
        source=None if measured is None else FABRIC,
        until_ps=until_ps,
    )
    trial.files.run.write_json(_name_of(trial), to_builtins(record))


def read_record(trial: Trial) -> dict[str, Explained]:
    """By workload; empty where the trial was not explained, or is another one than the explained.

    Raises `RunDirectoryError` when the file cannot be read.
    """
    if not trial.has_outcome:
        return {}
    path = path_of(trial)
    try:
        kept = trial.files.run.read_if_kept(_name_of(trial))
        content = {} if kept is None else parse_json(kept)
    except (OSError, ValueError) as error:
        raise RunDirectoryError(
            f"{path}: cannot be read: {reason_of(error)} (hint: {_HINT})"
        ) from error
    if not isinstance(content, dict):
        raise RunDirectoryError(f"{path}: not a JSON object (hint: {_HINT})")
    if content.get("format") != FORMAT or content.get("digest") != trial.outcome.digest:
        return {}
    try:
        record = convert(content, Record)
    except ValidationError as error:
        raise RunDirectoryError(
            f"{path}: not a record of an explained trial: {error} (hint: {_HINT})"
        ) from error
    return {name: _explained(record, own) for name, own in record.workloads.items()}


def has_record(trial: Trial) -> bool:
    """Whether a trial has a record that can be read."""
    try:
        return bool(read_record(trial))
    except RunDirectoryError:
        return False


def path_of(trial: Trial) -> Path:
    """Where the record of this trial lies; it need not exist."""
    return trial.files.run.path / _name_of(trial)


def _name_of(trial: Trial) -> str:
    """Its record, which need not exist."""
    return trial.files.beside("causes.json")


_HINT = "remove the file and run `tailrace explain` again"


def first_record(trials: Sequence[Trial]) -> dict[str, Explained]:
    """That of the first trial that has one; empty where none has."""
    return next((found for trial in trials if (found := read_record(trial))), {})


def _workload(
    of: Sequence[Transaction], slowest: Sequence[Transaction], lost: Sequence[LostDatagrams]
) -> ExplainedWorkload:
    return ExplainedWorkload(
        transactions=len(of),
        bands=[_bounded_band(band) for band in bands(of)],
        slowest=[
            Slowest(
                latency_ps=one.latency_ps,
                start_ps=one.start_ps,
                user=one.user,
                sentence=sentence(one),
            )
            for one in slowest
        ],
        lost=list(lost),
    )


def _bounded_band(band: Band) -> Band:
    names = ("queues", "behind", "interfaces", "interfaces_behind", "pauses", "dropped")
    return replace(band, **{name: _bounded(getattr(band, name)) for name in names})


def _bounded(times: Mapping[str, float]) -> dict[str, float]:
    """The longest times by name, and the sum of the others."""
    kept = dict(nlargest(NAMES_MAX, times.items(), key=lambda item: item[1]))
    rest = sum(time for name, time in times.items() if name not in kept)
    return kept | ({OTHERS: rest} if rest else {})


def _explained(record: Record, own: ExplainedWorkload) -> Explained:
    return Explained(
        trial=record.trial,
        until_s=None if record.until_ps is None else record.until_ps / PS_PER_S,
        transactions=own.transactions,
        bands=own.bands,
        slowest=own.slowest,
        lost=own.lost,
        is_live=record.source == FABRIC,
    )
