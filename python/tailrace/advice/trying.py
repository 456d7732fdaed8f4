"""Candidates as arms of one experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.advice.candidate import Candidate
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.experiment.stages import working
from tailrace.experiment.storage import RunDirectory
from tailrace.results import Run
from tailrace.scenario.loading import Loaded, load_document
from tailrace.scenario.replaced_arms import replace_arms
from tailrace.scenario.text.document import Document

PRESENT = "present"
"""The arm without changes."""
LEFT_OUT: dict[str, Any] = {"sweep": None, "expect": [], "published": None}
"""Sections that speak of other arms."""


@dataclass(frozen=True)
class Effort:
    """How much is simulated."""

    jobs: int | None = None
    scale: float = 1.0


def with_arms(document: Document, tried: Sequence[Candidate], trials: int, seed: int) -> Loaded:
    """The scenario with an arm for the present and one for each candidate."""
    edit = document.edited()
    place = (document.file, 0)
    for section, value in LEFT_OUT.items():
        if section in document.data:
            edit.set((section,), value, place)
    replace_arms(edit, {PRESENT: {}, **{one.name: one.changes for one in tried}}, place)
    edit.set(("experiment", "trials"), trials, place)
    edit.set(("experiment", "solo"), False, place)
    edit.set(("experiment", "seed"), seed, place)
    return load_document(edit.document())


def experiment_of(loaded: Loaded, effort: Effort, reporter: Reporter) -> ExperimentRun:
    """The experiment, whose identity the place of its run directory may follow from."""
    return ExperimentRun(loaded, Options(jobs=effort.jobs, scale=effort.scale), reporter)


def run_all(experiment: ExperimentRun, path: Path, reporter: Reporter) -> Run:
    """Runs the missing trials in a run directory.

    Raises `KeyboardInterrupt` when interrupted, with what was finished kept.
    """
    experiment.directory = RunDirectory(path)
    finished = experiment.run()
    if finished.is_interrupted:
        raise KeyboardInterrupt
    with working(reporter, "writing the report"):
        summarise_and_report(finished.path)
    return Run.read(finished.path)
