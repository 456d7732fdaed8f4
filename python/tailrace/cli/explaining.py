"""`tailrace explain`, and `--explain` of `tailrace run`."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.cli.explaining_counters import counted_data, counted_rows, print_counted
from tailrace.cli.explaining_live import explain_live_run
from tailrace.cli.trial_arguments import ExplainArguments
from tailrace.errors import RunRefusedError, closest
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.engine import EXACT, LIVE, Simulated
from tailrace.experiment.explain import (
    NOT_KEPT,
    Explanation,
    chosen_subjects,
    explain_trials,
    keep,
    other_events_words,
)
from tailrace.experiment.options import jobs_of
from tailrace.experiment.reporter import reporter_for
from tailrace.live.engine import LiveEngine
from tailrace.results import Run
from tailrace.results.causes.bands import bands
from tailrace.results.causes.sentence import lost_sentence, sentence, slowest_of
from tailrace.results.causes.verdict import verdict_of
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.directory.run_directory import Trial
from tailrace.results.text.causes import causes_text
from tailrace.results.text.unexplained import unexplained_sentence
from tailrace.scenario.loading import Loaded


def explain_run(path: Path, wanted: ExplainArguments, *, json_: bool) -> None:
    """Prints the parts of the latency by arm and workload, and writes them to the run
    directory."""
    run = Run.read(path)
    if run.manifest.engine == LIVE:
        explain_live_run(
            path, wanted.arms, wanted.workloads, wanted.number, wanted.slowest, json_=json_
        )
        return
    if run.manifest.engine == EXACT:
        _print_counters(run, wanted, json_=json_)
        return
    try:
        subjects = chosen_subjects(run, wanted.workloads)
    except RunRefusedError as error:
        if wanted.workloads:
            raise
        _print_counters(run, wanted, str(error), json_=json_)
        return
    trials = _trials(run, wanted)
    jobs = jobs_of(wanted.jobs, Simulated())
    explained: list[dict[str, Any]] = []
    empty: list[str] = []
    found = explain_trials(run, trials, jobs, reporter_for(json_lines=json_))
    for one in found:
        _warn(one)
        for workload, counted in one.workloads.items():
            if workload not in subjects:
                continue
            empty += [workload] if not counted else []
            if json_:
                explained.append(
                    _json(one, workload, run.groups.get(workload, [workload]), wanted.slowest)
                )
            elif counted:
                emit_table(
                    partial(
                        _text, one, workload, run.groups.get(workload, [workload]), wanted.slowest
                    )
                )
            else:
                lost = lost_sentence(one.lost.get(workload, ()))
                note(
                    f"{workload} {one.trial.arm}: no transaction was complete after the "
                    f"warm-up. {lost}".rstrip(". ")
                )
    rows = counted_rows(run, wanted.arms, empty)[1] if empty else []
    if json_:
        more = {"counted": counted_data(rows)} if empty else {}
        emit_json({"run": str(run.path), "trial": wanted.number, "explained": explained, **more})
    print_counted([] if json_ else rows)
    if keep(found) and not json_:
        note(f"kept in {run.path}; `tailrace report {run.path}` shows it")


def _print_counters(
    run: Run, wanted: ExplainArguments, why: str | None = None, *, json_: bool
) -> None:
    """Prints the verdict of the counters, the reason for the absence of a critical path, and the
    command that yields one."""
    for name in [*wanted.arms, *wanted.workloads]:
        known = run.arms if name in wanted.arms else [*run.groups, *run.workloads]
        if name not in known:
            what = "arm" if name in wanted.arms else "workload or group"
            raise RunRefusedError(
                f"{run.path}: there is no {what} '{name}' (hint: "
                f"{closest(name, known, f'{what}s')})"
            )
    summary, rows = counted_rows(run, wanted.arms, wanted.workloads)
    why = why or unexplained_sentence(summary)
    if json_:
        emit_json(
            {"run": str(run.path), "explained": [], "counted": counted_data(rows), "why": why}
        )
        return
    print_counted(rows)
    if why:
        note(why)


def _trials(run: Run, wanted: ExplainArguments) -> list[Trial]:
    """That of every wanted arm; without any, of those that have it: an interrupted run is explained
    too."""
    if wanted.arms:
        return [trial_of(run, arm, wanted.number) for arm in dict.fromkeys(wanted.arms)]
    found = [
        trial
        for arm in run.arms
        for trial in run.trials[arm]
        if trial.number == wanted.number and trial.has_outcome
    ]
    if missing := len(run.arms) - len(found):
        first = trial_of(run, None, wanted.number)  # refuses where no arm has it
        noun = "1 arm has" if missing == 1 else f"{missing} arms have"
        note(f"warning: {noun} no trial {first.number} with counters: left out")
    return found


def refuse_explain(loaded: Loaded, engine: object | None) -> None:
    """Raises `RunRefusedError` where `run --explain` has nothing to explain or the report would not
    show it."""
    if isinstance(engine, ExactEngine):
        raise RunRefusedError(
            "--explain: real kernels tell no critical path (hint: leave out --exact)"
        )
    if isinstance(engine, LiveEngine) and engine.kind.is_foreign:
        raise RunRefusedError(
            f"--explain: the fabric '{engine.kind.name}' keeps no log of frames (hint: leave "
            "out --fabric)"
        )
    if loaded.scenario.sweep is not None:
        raise RunRefusedError(
            "--explain: the report of a sweep shows no explanations"
            " (hint: run the sweep, then `tailrace explain RUN --arm ARM@POINT`)"
        )


def _warn(one: Explanation) -> None:
    if not one.is_same:
        note(other_events_words(one.key, NOT_KEPT))


def _text(one: Explanation, workload: str, members: Sequence[str], slowest: int) -> str:
    of, lost = one.workloads[workload], one.lost.get(workload, ())
    return causes_text(one.trial.arm, workload, of, slowest_of(of, slowest), lost, members) + "\n"


def _json(
    explanation: Explanation, workload: str, members: Sequence[str], slowest: int
) -> dict[str, Any]:
    of = explanation.workloads[workload]
    return {
        "arm": explanation.trial.arm,
        "workload": workload,
        "transactions": len(of),
        "limited_by": verdict_of(bands(of), members) if of else None,
        "bands": to_builtins(bands(of)),
        "slowest": [
            {**asdict(one), "workload": one.workload or workload, "sentence": sentence(one)}
            for one in slowest_of(of, slowest)
        ],
        "lost": to_builtins(list(explanation.lost.get(workload, ()))),
    }
