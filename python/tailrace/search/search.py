"""From a scenario, variables and goals to the best setting that meets the goals."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tailrace.errors import known_arm
from tailrace.experiment.executor import Executor
from tailrace.experiment.points import LEFT_OUT, Points
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import RUNS
from tailrace.files import make_folder
from tailrace.json_text import json_text
from tailrace.results.metrics.goal import Goal
from tailrace.scenario.loading import Loaded, document_of
from tailrace.scenario.replaced_arms import replace_arms
from tailrace.scenario.text.document import Document
from tailrace.search.bisection import FOUND, NONE, bisect, steps_max
from tailrace.search.deciding import Decider, Tried
from tailrace.search.several import EARLY_ERROR, Several, library
from tailrace.search.wanted import GRID, Asked, Wanted, read, test_of
from tailrace.statistics.sequential import SequentialTest

FOLDER_DIGITS = 8
ALL_MET, SOME_MET, NONE_MET = "all", FOUND, NONE


@dataclass(frozen=True)
class Searched:
    """The answer."""

    scenario: str
    arm: str
    path: Path
    asked: Asked
    wanted: Wanted
    method: str
    error: float
    """Of one decision."""
    steps: int
    """Decisions over which the error is corrected."""
    lead: int
    """Trials of a clear case."""
    state: str
    found: Tried | None
    nearest: Tried | None
    """Of one variable: the nearest better setting that was tried and does not meet the goals."""
    contradictions: list[Tried]
    tried: list[Tried]

    def name(self, tried: Tried) -> str:
        """A setting in short words."""
        return ", ".join(
            f"{one.name}={value}" for one, value in zip(self.asked.variables, tried.values.values(), strict=True)
        )


def search(loaded: Loaded, wanted: Wanted, reporter: Reporter, executor: Executor | None = None) -> Searched:
    """Simulates settings until the best one is known; raises `RunRefusedError` for what makes no sense.

    Raises `KeyboardInterrupt` when interrupted: what was finished is kept, and the same call continues.
    """
    arm = known_arm(wanted.arm or loaded.scenario.baseline, list(loaded.arms))
    scenario = loaded.arms[arm]
    document = _only(document_of(loaded, arm), arm)
    asked = read(wanted, scenario, document)
    is_one = len(asked.variables) == 1 and asked.aim.variable is not None and wanted.sampler != GRID
    if not is_one and wanted.sampler != GRID:
        library()
    folder = wanted.out or RUNS / f"{scenario.name}-search-{_digest(document, wanted, arm)}"
    points = Points(document, [arm], folder, reporter, wanted.jobs, wanted.scale, executor, wanted.cores)
    steps = steps_max(len(asked.variables[0].values)) if is_one else _evaluations(wanted, asked)
    final = test_of(wanted.confidence, steps)
    kept = [*asked.goals, *([asked.aim.figure] if asked.aim.figure else [])]
    test = final if is_one else SequentialTest(EARLY_ERROR)
    decider = Decider(points, arm, kept, scenario.groups, asked.variables, test, wanted.trials_max)
    make_folder(folder)
    base = Searched(
        scenario.name, arm, folder, asked, wanted, "bisection" if is_one else wanted.sampler,
        final.error, steps, test.lead, NONE_MET, None, None, [], [],
    )  # fmt: skip
    if is_one:
        return _one(base, decider)
    found = Several(wanted, asked, decider, folder, scenario.experiment.seed, final).run()
    tried = list(decider.tried.values())
    state = NONE_MET if found is None else ALL_MET if all(one.is_met for one in tried) else SOME_MET
    return replace(base, state=state, found=found, tried=tried)


def _one(base: Searched, decider: Decider) -> Searched:
    """Bisection over the positions of the only variable, the best setting first."""
    [variable] = base.asked.variables
    count = len(variable.values)

    def place(at: int) -> int:
        return at if base.asked.aim.is_minimised else count - 1 - at

    done = bisect(count, lambda at: decider.try_at((place(at),)))

    def at(position: int | None) -> Tried | None:
        return None if position is None else decider.tried[(place(position),)]

    found = at(done.best)
    if found is not None:
        found = decider.try_at(found.positions, least=base.wanted.confirm)
    contradictions = [one for position in done.contradictions if (one := at(position)) is not None]
    tried = sorted(decider.tried.values(), key=lambda one: one.positions)
    return replace(
        base, state=done.state, found=found, nearest=at(done.missed), contradictions=contradictions, tried=tried
    )


def _evaluations(wanted: Wanted, asked: Asked) -> int:
    return asked.count if wanted.sampler == GRID else min(wanted.evaluations, asked.count)


def _only(document: Document, arm: str) -> Document:
    """The document with one arm, whose changes it has already, and without what is said of others."""
    edit = document.edited()
    replace_arms(edit, {arm: {}}, (document.file, 0))
    for section, value in LEFT_OUT.items():
        if section in document.data:
            edit.set((section,), value, (document.file, 0))
    return edit.document()


def _digest(document: Document, wanted: Wanted, arm: str) -> str:
    """Of everything that decides the course of a search: the same command continues in the same folder."""
    options: dict[str, Any] = {**asdict(wanted), "out": None, "jobs": None, "arm": arm}
    del options["cores"]
    text = json_text([document.data, options])
    return hashlib.sha256(text.encode()).hexdigest()[:FOLDER_DIGITS]


def goals_text(goals: Sequence[Goal]) -> str:
    """Goals in a line."""
    return " and ".join(str(goal) for goal in goals)
