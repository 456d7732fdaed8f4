"""`tailrace explain` of live runs: the fabric's measurements, and the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from msgspec import to_builtins

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.cli.explaining_counters import counted_data, counted_rows, print_counted
from tailrace.results import Run
from tailrace.results.causes.bands import bands
from tailrace.results.causes.sentence import sentence
from tailrace.results.causes.verdict import verdict_of
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.format.columns import Row, align
from tailrace.results.format.numbers import count_text, span_text
from tailrace.results.text.causes import causes_text
from tailrace.timeline.crossings import AtQueue
from tailrace.timeline.explained import OfWorkload, explain_live, keep_live
from tailrace.timeline.live import NotMeasuredError

QUEUES_MAX = 12
"""Ports and classes that are listed, from the longest waits."""
TAIL = 0.99


def explain_live_run(
    path: Path,
    arms: Sequence[str],
    workloads: Sequence[str],
    number: int,
    slowest: int,
    *,
    json_: bool,
) -> None:
    """Prints the fabric's measurements by arm and workload, and writes them to the run
    directory."""
    run = Run.read(path)
    explained: list[dict[str, Any]] = []
    kept = 0
    unmeasured: dict[str, str] = {}
    for arm in list(dict.fromkeys(arms)) or run.arms:
        try:
            found = explain_live(run, trial_of(run, arm, number), workloads, slowest)
        except NotMeasuredError as error:
            unmeasured[arm] = str(error)
            continue
        kept += keep_live(found, note)
        for name, of in found.workloads.items():
            members = run.groups.get(name, [name])
            if json_:
                explained.append({"arm": arm, "workload": name, **_data(of, members)})
            else:
                emit_table(partial(_text, arm, name, of, members))
    _, rows = counted_rows(run, list(unmeasured), workloads) if unmeasured else (None, [])
    why = next(iter(unmeasured.values()), None)
    if json_:
        data = {
            "run": str(run.path),
            "trial": number,
            "measured_by": "fabric",
            "explained": explained,
        }
        emit_json(data | ({"counted": counted_data(rows), "why": why} if unmeasured else {}))
        return
    print_counted(rows)
    if why:
        note(why)
    if kept:
        note(f"kept in {run.path}; `tailrace report {run.path}` shows it")


def _text(arm: str, name: str, of: OfWorkload, members: Sequence[str]) -> str:
    lines = [f"{name} {arm}, measured by the fabric (replay of the ingress log)"]
    lines.append(
        _queues(of.queues) if of.queues else "no frame between its hosts crossed the fabric"
    )
    if of.transactions:
        lines += ["", causes_text(arm, name, of.transactions, of.slowest, members=members)]
    if of.unknown:
        lines.append(
            f"{count_text(of.unknown)} transactions are not taken apart: whose connection is "
            "whose is not known"
        )
    if of.unseen:
        lines.append(
            f"{count_text(of.unseen)} later transactions are left out: the log has too many frames"
        )
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


def _data(of: OfWorkload, members: Sequence[str]) -> dict[str, Any]:
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
        "limited_by": verdict_of(bands(of.transactions), members) if of.transactions else None,
        "bands": to_builtins(bands(of.transactions)) if of.transactions else [],
        "slowest": [{**asdict(one), "sentence": sentence(one)} for one in of.slowest],
    }
