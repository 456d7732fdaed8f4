"""Groups of workloads and the headline: what is refused, and what a manifest keeps."""

from pathlib import Path

import pytest

from lab import load, problems, sound
from tailrace.experiment.manifest import manifest_of
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun


def test_names_and_mappings_are_both_headlines(tmp_path: Path) -> None:
    chosen = ["orders", {"workload": "bulk", "metric": "goodput_gbps"}]
    loaded = load(headline=chosen, workloads__backup__group="bulk")
    assert [(one.workload, one.metric) for one in loaded.scenario.headline] == [
        ("orders", None),
        ("bulk", "goodput_gbps"),
    ]
    manifest = manifest_of(ExperimentRun(loaded, Options(out=tmp_path)).described(None), None)
    assert manifest["groups"] == {"bulk": ["backup"]}
    assert manifest["headline"] == [
        {"workload": "orders"},
        {"workload": "bulk", "metric": "goodput_gbps"},
    ]


@pytest.mark.parametrize(
    ("headline", "what", "hint"),
    [
        (
            ["order"],
            "headline.0.workload: there is no workload or group 'order'",
            "did you mean 'orders'?",
        ),
        (
            [{"workload": "backup", "metric": "rate_per_s"}],
            "'backup' has no rate_per_s",
            "it has goodput_gbps, loss_percent",
        ),
        (["orders", "orders"], "headline.1: 'orders' is listed twice", "remove one of the two"),
        (
            [{"workload": "orders", "metric": "p99"}],
            "headline.0.metric: 'p99' is not one of the choices",
            "latency_p99",
        ),
    ],
)
def test_a_headline_that_cannot_be_is_refused(headline: list[object], what: str, hint: str) -> None:
    [problem] = problems(sound(headline=headline))
    assert what in problem
    assert hint in problem


def test_a_workload_without_an_end_has_no_completion_time() -> None:
    headline = [{"workload": "backup", "metric": "completion_s"}]
    assert problems(sound(headline=headline, workloads__backup__size="1MB")) == []
    [problem] = problems(sound(headline=headline))
    assert (
        "headline.0.metric: 'backup' has no completion_s (hint: it has goodput_gbps, loss_percent)"
        in problem
    )


def test_a_group_with_the_name_of_a_workload_is_refused() -> None:
    [problem] = problems(sound(workloads__orders__group="backup"))
    assert "workloads.orders.group: group and workload have the same name, 'backup'" in problem


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            {"experiment__duration": "500ms"},
            "workloads.orders.transactions: it needs at least 0.694",
        ),
        (
            {"workloads__orders__gap_from": "start", "experiment__duration": "500ms"},
            "it needs at least 0.693 s",
        ),
        (
            {"workloads__orders__users": 1000, "experiment__duration": "1s"},
            "1.44 s at the line rate",
        ),
        (
            {"workloads__backup__size": "10GB"},
            "workloads.backup.size: it needs at least 8 s at the line rate",
        ),
    ],
)
def test_what_cannot_finish_is_warned_of(changes: dict[str, object], what: str) -> None:
    [warning] = [str(found) for found in load(**changes).warnings]
    assert what in warning
    assert "it cannot finish" in warning


def test_workloads_that_cannot_finish_together_are_warned_of() -> None:
    both = {"workloads__backup__size": "4GB", "workloads__orders__users": 2000}
    [warning] = [str(found) for found in load(**both).warnings]
    assert "orders, backup need at least 6.08 s together at the line rate of 'client'" in warning


def test_what_can_finish_is_not_warned_of() -> None:
    assert load().warnings == ()
    assert load(workloads__backup__size="5GB").warnings == ()
