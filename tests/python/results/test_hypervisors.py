"""What hypervisors did: figures of a trial, and figures of two arms."""

from typing import Any

import pytest

import tailrace
import whole
from fake_hypervisor import S, own
from lab import sound
from parts import part
from tailrace.results.compare.judge import judge
from tailrace.results.directory.published import Band
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics import hypervisors
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.text.hypervisors import hypervisors_text


def trial(*found: dict[str, Any]) -> Trial:
    parts: dict[str, Any] = {"hypervisors": list(found)} if found else {}
    return whole.trial(
        hosts=[{"name": "db"}],
        workloads=[{"name": "orders", "transactions": 50}],
        end_ps=2 * S,
        **parts,
    )


def test_hypervisors_together() -> None:
    found = trial(own(), own())
    assert hypervisors.switches_per_s(found) == 400
    assert hypervisors.overruns(found) == 24
    assert hypervisors.per_transaction(found, "orders", "hypervisor_switches_per_transaction") == 16
    assert hypervisors.per_transaction(found, "orders", "exits_per_transaction") == 8


def test_polling_for_nothing_is_no_work_and_neighbours_are_left_out() -> None:
    found = trial(own())
    # 1.5 s of one core, and what the other one spent on frames.
    assert (
        hypervisors.per_transaction(found, "orders", "hypervisor_cpu_us_per_transaction")
        == 1_625_000 / 50
    )
    # 1/8 + 1/4 of kernels beside 1/2 in machines and 1/8 for frames.
    assert hypervisors.kernel_share_percent(found) == 37.5


def test_each_hypervisor_has_means_over_trials() -> None:
    [row] = hypervisors.summarise_hypervisors([trial(own()), trial(own() | {"exits": 400})])
    assert row.name == "leaf"
    cores = [row.user_cores, row.system_cores, row.softirq_cores, row.polling_cores, row.idle_cores]
    assert cores == [(1 + 1 / 8) / 2, 1 / 8, 1 / 8, 15 / 16, 1 / 4]
    assert sum(cores) == row.cores == 2
    assert (row.voluntary_per_s, row.involuntary_per_s, row.exits_per_s) == (150, 50, 150)
    assert (row.receive_overruns, row.send_overruns, row.backlog_overruns, row.overruns) == (
        4,
        5,
        3,
        12,
    )
    assert hypervisors.summarise_hypervisors([trial()]) == []


def test_the_text_of_a_run_has_them() -> None:
    arms = {
        name: part(ArmSummary, hypervisors=hypervisors.summarise_hypervisors([found]))
        for name, found in (("a", trial(own())), ("b", trial()))
    }
    head, row, *note = hypervisors_text(part(Summary, arms=arms)).splitlines()
    assert head.split()[:2] == ["hypervisors", "arm"]
    assert row.split()[:2] == ["leaf", "a"]
    assert [float(word) for word in row.split()[2:]] == [
        0.5625,
        0.125,
        0.125,
        0.9375,
        0.25,
        200,
        100,
        4,
        5,
        3,
    ]
    assert "Overruns" in " ".join(note)
    assert hypervisors_text(part(Summary, arms={"b": arms["b"]})) == ""


def test_without_hypervisors_there_is_no_figure() -> None:
    assert hypervisors.switches_per_s(trial()) is None
    assert hypervisors.overruns(trial()) is None
    assert hypervisors.kernel_share_percent(trial()) is None
    assert hypervisors.per_transaction(trial(), "orders", "exits_per_transaction") is None


def test_a_ratio_is_an_arm_over_its_baseline(tmp_path: Any) -> None:
    scenario = sound(
        arms={"one": {"workloads.orders.users": 1}, "two": {"workloads.orders.users": 2}},
        workloads__backup=...,
        workloads__orders__transactions=...,
        experiment={"duration": "200ms", "trials": 1},
    )
    run = Run.read(tailrace.run(scenario, out=tmp_path / "run").path)

    def value(**raw: Any) -> Any:
        return judge(run, Band.parse({"workload": "orders", "at_least": 0, **raw}, "test")).value

    rates = [value(metric="rate_per_s", arm=arm) for arm in ("one", "two")]
    assert value(metric="rate_ratio", arm="two", baseline="one") == pytest.approx(
        rates[1] / rates[0]
    )
    assert value(metric="rate_ratio", arm="two", baseline="one") == pytest.approx(2, rel=0.1)
    judged = judge(
        run,
        Band.parse(
            {
                "metric": "rate_ratio",
                "arm": "two",
                "baseline": "one",
                "value": 2,
                "tolerance": "10%",
            },
            "test",
        ),
    )
    assert (judged.passed, judged.passed_without) == (True, False)
