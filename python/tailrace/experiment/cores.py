"""The cores of one trial: how trials share those of the machine, and plans that have to do with
one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailrace.errors import KeyPath, RunRefusedError, ScenarioError
from tailrace.experiment.machine import available_cores
from tailrace.experiment.native import make_trial, parts_of

if TYPE_CHECKING:
    from tailrace.errors import Problem
    from tailrace.experiment.native import NotDivided
    from tailrace.scenario.loading import Loaded
    from tailrace.scenario.scenario import Scenario

AUTO = "auto"
HINT = "--cores auto uses several where it can and where that is faster"


@dataclass(frozen=True)
class Cores:
    """Cores of one trial."""

    count: int = 1
    is_automatic: bool = False
    """Whether `count` is a limit, and the trial has one where several are no faster."""


ONE = Cores()


def parse_cores(text: str | None) -> int | None:
    """The value of `--cores`; None for `auto`. Raises `RunRefusedError` for other texts."""
    if text is None or text == AUTO:
        return None
    if re.fullmatch("[0-9]{1,9}", text) is None or int(text) < 1:
        raise RunRefusedError(
            f"--cores {text}: neither a number of cores nor {AUTO} (hint: for example --cores 2)"
        )
    return int(text)


def cores_of_each(asked: int | None, at_once: int) -> Cores:
    """The cores of each of `at_once` concurrent trials: the requested number, or up to an equal
    share."""
    if asked is not None:
        return Cores(asked)
    share = available_cores() // max(1, at_once)
    return Cores(share, is_automatic=True) if share > 1 else ONE


def refuse_one_core(asked: int | None, engine: str) -> None:
    """Raises `RunRefusedError` when trials of an engine that has one core are to have several."""
    if asked is not None and asked > 1:
        raise RunRefusedError(
            f"--cores {asked}: trials of {engine} runs are not divided (hint: omit --cores)"
        )


def divided_plans(
    asked: int, jobs: int, loaded: Loaded, plans: Mapping[str, Callable[[], str]]
) -> Iterator[str]:
    """Notes about arms whose plans (as JSON) are divided into fewer parts than requested, and about
    concurrent trials with more threads than there are cores. Raises `ScenarioError` with every
    reason why one of them cannot be divided."""
    problems: list[Problem] = []
    fewer: dict[int, str] = {}
    most = 1
    for arm, plan in plans.items():
        found = parts_of(make_trial(plan()), asked)
        if isinstance(found, int):
            most = max(most, found)
            if found < asked:
                fewer.setdefault(found, arm)
            continue
        path = _missing_key(found, loaded.arms.get(arm, loaded.scenario))
        problems.append(
            loaded.document.problem(path, f"--cores {asked}: {found.what}", f"{found.hint}; {HINT}")
        )
    if problems:
        raise ScenarioError(problems)
    for parts, arm in fewer.items():
        yield (
            f"--cores {asked}: the network has {parts} parts (arm {arm}): its trials have "
            f"{parts} cores"
        )
    cores = available_cores()
    if jobs * most > cores:
        yield (
            f"--cores {asked}: {jobs} at a time have up to {jobs * most} threads on {cores} cores, "
            "which is slower than one core for each trial"
        )


def _missing_key(found: NotDivided, scenario: Scenario) -> KeyPath:
    """The part of a scenario that stands against several cores."""
    if found.workload:
        return ("workloads", found.workload)
    links = enumerate(scenario.network.links)
    return next((("network", "links", at) for at, link in links if found.link and {*link.between} == {*found.link}),  # noqa: E501
                ("network",))  # fmt: skip
