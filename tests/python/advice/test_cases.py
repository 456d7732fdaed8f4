"""Scenarios whose right answer is known: one for each mechanism, and four that nothing helps."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from counts import cases
from tailrace.advice.advise import Advice, advise
from tailrace.advice.options import AdviceOptions
from tailrace.experiment.reporter import Silent
from tailrace.scenario.loading import load_scenario

CASES = Path(__file__).parent / "cases"


class Case(NamedTuple):
    right: str
    """Candidate that must help."""
    least_percent: float
    """By at least so much."""
    wrong: tuple[str, ...]
    """Candidates that must not be among those that are followed."""
    goal: str | None = None
    is_best: bool = True
    scale: float = 1.0


# What else helps is said in each file: of several remedies for a queue, the best one depends on the
# last percent.
KNOWN = {
    "prioritise": Case("dpp-120", 50, ("rto-min-10ms", "queues-8-times-longer"), is_best=False),
    "timer": Case("rto-min-10ms", 60, ("queues-8-times-longer", "dpp-120"), is_best=False),
    "short-queue": Case("alpha-0_5", 500, ("afd", "queues-8-times-shorter"), "copy.goodput"),
    "fair-drop": Case("dpp-120", 80, ("rto-min-10ms",), "web.p50", is_best=False),
    "frames": Case("mtu-9000", 50, ("streams-4-times", "dctcp"), "copy.goodput"),
    "cores": Case("cores-twice", 40, ("dpp-120", "dctcp")),
    "poll-mode": Case("poll-mode-switch", 20, ("dctcp", "dpp-120")),
    "streams": Case("streams-4-times", 200, ("dctcp", "socket-buffers-64MiB"), "copy.goodput"),
    "socket-buffers": Case("socket-buffers-64MiB", 50, ("dctcp", "dpp-120")),
    "weights": Case("larger-share", 90, ("rto-min-10ms", "own-queue")),
    "pauses": Case("no-pauses", 20, ("rto-min-10ms", "buffer-4-times"), "beside.goodput"),
    "idle": Case("no-restart", 60, ("dctcp", "dpp-120")),
    "pinning": Case("pinned", 40, ("dctcp", "dpp-120"), "orders.p99", scale=0.5),
    "moderation": Case("no-moderation", 80, ("dctcp", "dpp-120")),
}
TOLD = Path(__file__).resolve().parents[3] / "reproductions" / "yahoo-traffic"
NOTHING = ("nothing-server", "nothing-distance", "nothing-line", "nothing-drive")


DISMISSED = ("pauses",)
"""Of `KNOWN`: a wrong remedy does not exist there."""


def advice_on(
    name: str, goal: str | None, scale: float, out: Path, only: Sequence[str] = ()
) -> Advice:
    loaded = load_scenario(CASES / f"{name}.yaml")
    return advise(
        loaded,
        AdviceOptions(goal=goal, out=out, only=list(only), jobs=1, scale=scale),
        Silent(),
    )


@pytest.mark.parametrize("name", KNOWN)
def test_the_known_remedy_helps(name: str, tmp_path: Path) -> None:
    """Beside the wrong ones, alone where those do not exist; beside every candidate with
    `TAILRACE_TESTS=all`."""
    case = KNOWN[name]
    only = cases((), (case.right, *(() if name in DISMISSED else case.wrong)))
    found = advice_on(name, case.goal, case.scale, tmp_path / "advice", only)
    helpful = {one.candidate.name: one.judged.improvement_percent for one in found.helpful}
    assert helpful.get(case.right, 0.0) >= case.least_percent, helpful
    assert not case.is_best or found.helpful[0].candidate.name == case.right, helpful
    assert not set(case.wrong) & set(helpful), helpful


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_helps_nothing_is_advised(name: str, tmp_path: Path) -> None:
    found = advice_on(name, None, 1.0, tmp_path / "advice")
    assert not found.helpful, [one.candidate.name for one in found.helpful]
    assert found.screened, "candidates were simulated"


@pytest.mark.parametrize(
    ("name", "goal", "right", "wrong"),
    [
        ("window", "tcp8000.p99", "dpp-120", "rto-min-10ms"),
        ("virtual-hosts", "web.p99", "poll-mode-switch", "dpp-120"),
    ],
)
def test_the_case_study_holds(name: str, goal: str, right: str, wrong: str, tmp_path: Path) -> None:
    wanted = AdviceOptions(
        goal=goal, out=tmp_path / "advice", only=[right, wrong], trials_max=6, jobs=1
    )
    found = advise(load_scenario(TOLD / f"{name}.yaml"), wanted, Silent())
    assert [one.candidate.name for one in found.helpful] == [right]
