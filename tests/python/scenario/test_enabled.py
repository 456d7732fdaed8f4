"""A workload that is disabled is checked like the others, and runs in no plan."""

from typing import Any

from lab import load, problems, sound
from tailrace.experiment.plans import Plans, alone
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.planned import planned_workloads

ARMS = {"without": {"workloads.backup.enabled": False}, "with": {}}


def names(plan: dict[str, Any]) -> list[str]:
    return [own.name for own in planned_workloads(plan)]


def test_an_arm_leaves_out_the_workload_that_it_disables() -> None:
    arms = load(arms=ARMS).arms
    plans = {name: lower(scenario, name, 1) for name, scenario in arms.items()}
    assert names(plans["without"]) == ["orders"]
    assert names(plans["with"]) == ["orders", "backup"]
    assert plans["without"]["workloads"][0] == plans["with"]["workloads"][0]


def test_a_disabled_workload_is_checked_all_the_same() -> None:
    (found,) = problems(sound(arms=ARMS, workloads__backup__source="nowhere"))
    assert "there is no host 'nowhere'" in found


def test_a_scenario_whose_workloads_are_all_disabled_is_refused() -> None:
    found = problems(sound(workloads__orders__enabled=False, workloads__backup__enabled=False))
    assert any("every workload is disabled" in problem for problem in found)


def test_a_workload_that_the_baseline_disables_runs_alone_all_the_same() -> None:
    baseline = load(arms=ARMS).arms["without"]
    raw = Plans({"solo": alone(baseline, "backup")})
    assert list(raw.scenarios["solo"].running) == ["backup"]
