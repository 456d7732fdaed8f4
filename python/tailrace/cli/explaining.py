"""`tailrace explain`, and `--explain` of `tailrace run`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import Simulated
from tailrace.experiment.explain import (
    Explanation,
    chosen_workloads,
    explain_trials,
    first_trials,
    keep,
)
from tailrace.experiment.options import jobs_of
from tailrace.experiment.reporter import Reporter, reporter_for
from tailrace.results import Run
from tailrace.results.causes.bands import bands
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.sentence import sentence, slowest_of
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.text.causes import causes_text
from tailrace.scenario.loading import Loaded


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    arms: Sequence[str]
    workloads: Sequence[str]
    number: int
    slowest: int
    jobs: int | None


def explain_run(path: Path, wanted: Wanted, *, json_: bool) -> None:
    """Prints where the time went, by arm and workload; a record of it stays in the run directory."""
    run = Run.read(path)
    workloads = chosen_workloads(run, wanted.workloads)
    arms = list(dict.fromkeys(wanted.arms)) or run.arms
    trials = [trial_of(run, arm, wanted.number) for arm in arms]
    jobs = jobs_of(wanted.jobs, Simulated())
    told: list[dict[str, Any]] = []
    found = explain_trials(run, trials, jobs, reporter_for(json_lines=json_))
    for one in found:
        _warn(one)
        for workload, counted in one.workloads.items():
            if workload not in workloads:
                continue
            if counted and json_:
                told.append(_json(one.trial.arm, workload, counted, wanted.slowest))
            elif counted:
                emit_table(partial(_text, one.trial.arm, workload, counted, wanted.slowest))
            elif not json_:
                note(f"{workload} {one.trial.arm}: no transaction was complete after the warm-up")
    if json_:
        emit_json({"run": str(run.path), "trial": wanted.number, "explained": told})
    if keep(found) and not json_:
        note(f"kept in {run.path}; `tailrace report {run.path}` shows it")


def refuse_explain(loaded: Loaded, engine: object | None) -> None:
    """Raises `RunRefusedError` where `run --explain` has nothing to explain or the report would not show it."""
    if engine is not None:
        raise RunRefusedError("--explain: only simulated runs are explained (hint: leave out --live and --exact)")
    if loaded.points:
        raise RunRefusedError(
            "--explain: the report of a sweep shows no explanations"
            " (hint: run the sweep, then `tailrace explain RUN --arm ARM@POINT`)"
        )


def explain_finished(path: Path, jobs: int, reporter: Reporter) -> bool:
    """Explains the first trial of every arm of a run that has ended; returns whether it was interrupted.

    What cannot be explained is a warning: the run itself has its results.
    """
    run = Run.read(path)
    trials = first_trials(run)
    if not trials:
        return False
    try:
        found = explain_trials(run, trials, jobs, reporter)
    except RunRefusedError as error:
        note(f"warning: {error}")
        return False
    except KeyboardInterrupt:
        return True
    for one in found:
        _warn(one)
    keep(found)
    return False


def _warn(one: Explanation) -> None:
    if not one.is_same:
        note(
            f"warning: {one.key} had other events when it was run: the simulator has changed since, and the explanation"
            " is not kept (hint: run it again)"
        )


def _text(arm: str, workload: str, of: Sequence[Transaction], slowest: int) -> str:
    return causes_text(arm, workload, of, slowest) + "\n"


def _json(arm: str, workload: str, of: Sequence[Transaction], slowest: int) -> dict[str, Any]:
    return {
        "arm": arm,
        "workload": workload,
        "transactions": len(of),
        "bands": [asdict(band) for band in bands(of)],
        "slowest": [{**asdict(one), "sentence": sentence(one)} for one in slowest_of(of, slowest)],
    }
