"""Candidates as arms of one experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.advice.candidate import Candidate
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.experiment.stages import working
from tailrace.folder import Folder
from tailrace.results import Run
from tailrace.scenario.goal import Goal
from tailrace.scenario.loading import Loaded, load_document
from tailrace.scenario.replaced_arms import replace_arms
from tailrace.scenario.text.document import Document

PRESENT = "present"
"""The arm without changes."""
LEFT_OUT: dict[str, Any] = {"sweep": None, "expect": [], "published": None}
"""Sections that refer to other arms."""


@dataclass(frozen=True)
class Effort:
    """Amount of simulation."""

    jobs: int | None = None
    scale: float = 1.0


def with_arms(
    document: Document, tried: Sequence[Candidate], seed: int, values: Mapping[str, Any]
) -> Loaded:
    """The scenario with an arm for the present and one for each candidate, and other values by
    their dotted paths."""
    edit = document.edited()
    location = (document.file, 0)
    for section, nothing in LEFT_OUT.items():
        if section in document.data:
            edit.set((section,), nothing, location)
    replace_arms(edit, {PRESENT: {}, **{one.name: one.changes for one in tried}}, location)
    for path, value in values.items():
        edit.set(tuple(path.split(".")), value, location)
    edit.set(("experiment", "solo"), False, location)
    edit.set(("experiment", "seed"), seed, location)
    return load_document(edit.document())


def trials_of(number: int) -> dict[str, Any]:
    """Values for `with_arms`: this many trials of each arm."""
    return {"experiment.trials": number}


def until_decided_of(goal: Goal, trials_max: int, least_percent: float) -> dict[str, Any]:
    """Values for `with_arms`: each candidate runs until it is decided whether it changes the goal's
    figure by this much."""
    return {
        "headline": [{"workload": goal.subject, "metric": goal.metric}],
        "experiment.trials": "auto",
        "experiment.trials_max": trials_max,
        "experiment.precision": f"{least_percent:g}%",
    }


def experiment_of(loaded: Loaded, effort: Effort, reporter: Reporter) -> ExperimentRun:
    """The experiment. The path of its run directory may depend on its identity."""
    return ExperimentRun(loaded, Options(jobs=effort.jobs, scale=effort.scale), reporter)


def run_all(experiment: ExperimentRun, path: Path, reporter: Reporter) -> Run:
    """Runs the missing trials in a run directory.

    Raises `KeyboardInterrupt` when interrupted; finished trials are kept.
    """
    Folder(path.parent).make(path.name)  # a link to elsewhere is refused
    experiment.directory.path = path
    finished = experiment.run()
    if finished.is_interrupted:
        raise KeyboardInterrupt
    with working(reporter, "writing the report"):
        summarise_and_report(finished.path)
    return Run.read(finished.path)
