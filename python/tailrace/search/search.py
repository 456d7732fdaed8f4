"""From a scenario, variables and goals to the best setting that meets the goals."""

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tailrace.errors import known_arm
from tailrace.experiment.executor import Executor
from tailrace.experiment.points import LEFT_OUT, Points
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import RUNS
from tailrace.files import make_folder
from tailrace.json_text import json_text
from tailrace.scenario.loading import Loaded, document_of
from tailrace.scenario.replaced_arms import replace_arms
from tailrace.scenario.text.document import Document
from tailrace.search.asked import GRID, Asked, read
from tailrace.search.bisection import ALL, FOUND, NONE, bisect, concluded, steps_max
from tailrace.search.deciding import Decider, Tried, excess
from tailrace.search.options import SearchOptions
from tailrace.search.rule import Rule, rule_of
from tailrace.search.several import EARLY_ERROR, Several, library

FOLDER_DIGITS = 8


@dataclass(frozen=True)
class Searched:
    """The answer."""

    scenario: str
    arm: str
    path: Path
    asked: Asked
    wanted: SearchOptions
    method: str
    rule: Rule
    """Of one decision."""
    steps: int
    """Decisions for which the error is corrected."""
    state: str
    """found, all (every setting that was tried meets the goals) or none."""
    found: Tried | None
    """The best setting that meets the goals."""
    nearest: Tried | None
    """With one variable: the nearest better setting that misses the goals."""
    undecided: list[Tried]
    """Settings that neither meet nor miss them."""
    contradictions: list[Tried]
    tried: list[Tried]

    def name(self, tried: Tried) -> str:
        """A setting in short words."""
        return ", ".join(
            f"{one.name}={value}"
            for one, value in zip(self.asked.variables, tried.values.values(), strict=True)
        )


def search(
    loaded: Loaded, wanted: SearchOptions, reporter: Reporter, executor: Executor | None = None
) -> Searched:
    """Simulates settings until the best one is known; raises `RunRefusedError` for contradictory
    options.

    Raises `KeyboardInterrupt` when interrupted: finished trials are kept, and the same call
    continues.
    """
    arm = known_arm(wanted.arm or loaded.scenario.baseline, list(loaded.arms))
    scenario = loaded.arms[arm]
    document = _only(document_of(loaded, arm), arm)
    asked = read(wanted, scenario, document)
    is_one = len(asked.variables) == 1 and asked.aim.variable is not None and wanted.sampler != GRID
    if not is_one and wanted.sampler != GRID:
        library()
    folder = wanted.out or RUNS / f"{scenario.name}-search-{_digest(document, wanted, arm)}"
    points = Points(
        document,
        [arm],
        folder,
        reporter,
        wanted.jobs,
        wanted.scale,
        executor,
        wanted.execution.trial_cores,
    )
    steps = steps_max(len(asked.variables[0].values)) if is_one else _evaluations(wanted, asked)
    final = rule_of((1 - wanted.confidence) / steps, wanted.trials_max)
    kept = [*asked.goals, *([asked.aim.figure] if asked.aim.figure else [])]
    rule = final if is_one else rule_of(EARLY_ERROR, wanted.trials_max, is_early=True)
    decider = Decider(points, arm, kept, scenario.groups, asked.variables, rule)
    make_folder(folder)
    base = Searched(
        scenario.name, arm, folder, asked, wanted, "bisection" if is_one else wanted.sampler,
        final, steps, NONE, None, None, [], [], [],
    )  # fmt: skip
    if is_one:
        return _one(base, decider)
    found = Several(wanted, asked, decider, folder, scenario.experiment.seed, final).run()
    tried = list(decider.tried.values())
    state = NONE if found is None else ALL if all(one.is_met for one in tried) else FOUND
    undecided = [one for one in tried if one.end == "undecided"]
    return replace(base, state=state, found=found, undecided=undecided, tried=tried)


def _one(base: Searched, decider: Decider) -> Searched:
    """Bisection over the positions of the only variable, the best setting first. More trials
    confirm the result; the conclusion uses the states of all settings after that."""
    [variable] = base.asked.variables
    count = len(variable.values)

    def position_of(at: int) -> tuple[int]:
        return (at if base.asked.aim.is_minimised else count - 1 - at,)

    tried = bisect(
        count, lambda at: decider.try_at(position_of(at)), partial(excess, base.asked.goals)
    )
    done = concluded(tried)
    confirmed: set[int] = set()
    while done.best is not None and done.best not in confirmed:
        confirmed.add(done.best)
        if tried[done.best].trials < base.wanted.confirm:
            tried[done.best] = decider.try_at(
                position_of(done.best), base.rule.from_trials(base.wanted.confirm)
            )
        done = concluded(tried)
    return replace(
        base,
        state=done.state,
        found=None if done.best is None else tried[done.best],
        nearest=None if done.missed is None else tried[done.missed],
        undecided=[tried[position] for position in done.undecided],
        contradictions=[tried[position] for position in done.contradictions],
        tried=sorted(tried.values(), key=lambda one: one.positions),
    )


def _evaluations(wanted: SearchOptions, asked: Asked) -> int:
    return asked.count if wanted.sampler == GRID else min(wanted.evaluations, asked.count)


def _only(document: Document, arm: str) -> Document:
    """The document with one arm, with the changes of that arm applied and without the sections
    about other arms."""
    edit = document.edited()
    replace_arms(edit, {arm: {}}, (document.file, 0))
    for section, value in LEFT_OUT.items():
        if section in document.data:
            edit.set((section,), value, (document.file, 0))
    return edit.document()


DECIDING = (
    *("vary", "goals", "minimise", "maximise", "arm", "precision", "confidence", "trials_max"),
    *("confirm", "sampler", "evaluations", "jobs", "scale", "out"),
)
"""Options in the digest of a search, in this order. `jobs` and `out` decide nothing: the digest has
them as null."""


def _digest(document: Document, wanted: SearchOptions, arm: str) -> str:
    """Of everything that decides the course of a search: the same command continues in the same
    folder."""
    options: dict[str, Any] = {name: getattr(wanted, name) for name in DECIDING}
    options |= {"out": None, "jobs": None, "arm": arm}
    text = json_text([document.data, options])
    return hashlib.sha256(text.encode()).hexdigest()[:FOLDER_DIGITS]
