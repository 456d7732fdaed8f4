"""`tailrace explain` of live runs: what the fabric knows, and the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from msgspec import to_builtins

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.errors import RunRefusedError
from tailrace.experiment.explain import first_trials
from tailrace.results import Run
from tailrace.results.causes.bands import bands
from tailrace.results.causes.record import write_record
from tailrace.results.causes.sentence import sentence
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.format.columns import Row, align
from tailrace.results.format.numbers import count_text, span_text
from tailrace.results.text.causes import causes_text
from tailrace.timeline.crossings import AtQueue
from tailrace.timeline.explained import LiveExplanation, OfWorkload, explain_live
from tailrace.timeline.live import NoTransactionsError

QUEUES_MAX = 12
"""Ports and classes that are listed, from the longest waits."""
TAIL = 0.99
SLOWEST_KEPT = 10
"""Of a record."""


def explain_live_run(
    path: Path, arms: Sequence[str], workloads: Sequence[str], number: int, slowest: int, *, json_: bool
) -> None:
    """Prints what the fabric measured, by arm and workload; a record of it stays in the run directory."""
    run = Run.read(path)
    told: list[dict[str, Any]] = []
    kept = 0
    for arm in list(dict.fromkeys(arms)) or run.arms:
        found = explain_live(run, trial_of(run, arm, number), workloads, slowest)
        kept += _keep(found)
        for name, of in found.workloads.items():
            if json_:
                told.append({"arm": arm, "workload": name, **_data(of)})
            else:
                emit_table(partial(_text, arm, name, of))
    if json_:
        emit_json({"run": str(run.path), "trial": number, "measured_by": "fabric", "explained": told})
    elif kept:
        note(f"kept in {run.path}; `tailrace report {run.path}` shows it")


def explain_live_finished(path: Path) -> None:
    """Explains the first trial of every arm of a live run with ingress logs; what cannot be explained is a warning."""
    run = Run.read(path)
    for trial in first_trials(run):
        try:
            _keep(explain_live(run, trial, [], SLOWEST_KEPT))
        except NoTransactionsError:
            continue  # nobody asked for it
        except RunRefusedError as error:
            note(f"warning: {error}")
            return


def _keep(found: LiveExplanation) -> bool:
    """Writes the record of a trial whose replay was the same."""
    if not found.is_same:
        note(
            f"warning: the replay of {found.trial.arm}/{found.trial.number} had other events, and the explanation is"
            " not kept (hint: `tailrace replay` tells)"
        )
        return False
    known = {name: of.transactions for name, of in found.workloads.items() if of.transactions}
    if known:
        write_record(found.trial, known, {}, {name: found.workloads[name].slowest for name in known})
    return bool(known)


def _text(arm: str, name: str, of: OfWorkload) -> str:
    lines = [f"{name} {arm}, measured by the fabric (replay of the ingress log)"]
    lines.append(_queues(of.queues) if of.queues else "no frame between its hosts crossed the fabric")
    if of.transactions:
        lines += ["", causes_text(arm, name, of.transactions, of.slowest)]
    if of.unknown:
        lines.append(
            f"{count_text(of.unknown)} transactions are not taken apart: whose connection is whose is not known"
        )
    if of.unseen:
        lines.append(f"{count_text(of.unseen)} later transactions are left out: the log has too many frames")
    return "\n".join(lines) + "\n"


def _queues(queues: Mapping[str, AtQueue]) -> str:
    header: Row = [
        "frames of its connections",
        "sent",
        "mean wait",
        "p99",
        "longest",
        "paused",
        "mean pause",
        "dropped",
    ]
    rows: list[Row] = [
        [
            queue,
            count_text(len(at.waited_ps)),
            *(span_text(value) for value in _waits(at)),
            count_text(at.paused_frames) if at.paused_frames else "–",
            span_text(at.paused_ps / at.paused_frames) if at.paused_frames else "–",
            count_text(at.dropped) if at.dropped else "–",
        ]
        for queue, at in list(queues.items())[:QUEUES_MAX]
    ]
    return align([header, *rows])


def _waits(at: AtQueue) -> tuple[float, float, float]:
    """Mean, 99th percentile and longest, in picoseconds."""
    ordered = sorted(at.waited_ps) or [0]
    return mean(ordered), ordered[min(len(ordered) - 1, int(TAIL * len(ordered)))], ordered[-1]


def _data(of: OfWorkload) -> dict[str, Any]:
    return {
        "queues": [
            {
                "queue": queue,
                "frames": len(at.waited_ps),
                **dict(zip(("mean_ps", "p99_ps", "max_ps"), _waits(at), strict=True)),
                "paused_frames": at.paused_frames,
                "paused_ps": at.paused_ps,
                "dropped": at.dropped,
            }
            for queue, at in of.queues.items()
        ],
        "transactions": len(of.transactions),
        "transactions_of_unknown_connections": of.unknown,
        "transactions_left_out": of.unseen,
        "bands": to_builtins(bands(of.transactions)) if of.transactions else [],
        "slowest": [{**asdict(one), "sentence": sentence(one)} for one in of.slowest],
    }
