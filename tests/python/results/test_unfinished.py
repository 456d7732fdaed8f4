"""What did not finish is a result: its bound, how far it came, and its figures per second."""

import re
from pathlib import Path
from typing import Any

import pytest

import whole
from lab import sound
from outcomes import write_run
from parts import part
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.plan.types import Plan
from tailrace.report.charts.completion import completion_bars
from tailrace.report.charts.drops import drops_chart, drops_unit
from tailrace.results import Run, format_table, summarise
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.unfinished import (
    group_words,
    planned_work,
    share_text,
    unfinished_of,
    unfinished_sentences,
)
from tailrace.results.ports.rates import end_words, summarise_rates
from tailrace.results.summary.workload import Unfinished, WorkloadSummary
from tailrace.scenario.loading import load_scenario

DURATION_PS = 20 * 10**12


def stop(outcome: dict[str, Any], arm: str, number: int, *, trials: range = range(1, 7)) -> None:
    """In the congested arm nothing finishes within 20 s."""
    if arm != "fifo" or number not in trials:
        return
    outcome["end_ps"] = DURATION_PS
    outcome |= {"status": "invalid", "reason": "did not finish", "unfinished": ["XS"]}
    for one in outcome["workloads"]:
        one["completion_ps"] = None
        one["transactions"] = round(one["transactions"] * 0.41)
        one["goodput_bytes"] = round(one["goodput_bytes"] * 0.41)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    groups = {"databases": ["XS", "S", "M", "L1", "L2"]}
    return write_run(
        tmp_path_factory.mktemp("late") / "run", stop, manifest={"groups": groups}, scale=1.0
    )


def test_an_unfinished_arm_is_told_by_its_bound(path: Path) -> None:
    summary = summarise(path)
    [sentence] = unfinished_sentences(summary)
    assert (
        sentence == "fifo: > 20.0 s, 5 of 5 workloads unfinished, 41 % of the "
        "transactions done (6 of 6 trials)."
    )
    text = format_table(summary)
    assert "> 20.0 s, 5 of 5 databases unfinished, 41 % of the transactions done" in text
    assert "unfinished in 6 of 6 trials" in text
    assert "fifo trial 1: invalid" not in text, "one line of reason for an arm"


def test_its_rates_and_latencies_are_compared(path: Path) -> None:
    summary = summarise(path)
    fifo = summary.arms["fifo"].workloads["XS"]
    assert fifo.latency_ms.p99 > 0
    assert fifo.completion_s.mean is None
    [effect] = [e for e in summary.comparisons if e.is_main and e.workload == "databases"]
    assert effect.metric == "rate_per_s"
    assert effect.trials == (6, 6)
    assert not [e for e in summary.comparisons if e.metric == "completion_s"]


def test_it_is_no_valid_trial_and_no_figure_is_judged_by_it(path: Path) -> None:
    run = Run.read(path)
    assert run.valid("fifo") == []
    assert len(run.with_outcome("fifo")) == 6
    assert summarise(path).arms["fifo"].unfinished_trials == [1, 2, 3, 4, 5, 6]


def test_bars_are_hatched_and_as_long_as_what_is_known(path: Path) -> None:
    summary = summarise(path)
    bars = {bar.arm: bar for bar in completion_bars(summary) if bar.workload == "XS"}
    assert bars["fifo"].mean_s == 20
    assert bars["fifo"].late.startswith("> 20.0 s")
    assert not bars["dpp"].late
    _, report = summarise_and_report(path)
    page = report.read_text(encoding="utf-8")
    assert 'fill="url(#hatch-completion)"' in page
    assert "unfinished: lower bound" in page


def test_an_arm_of_which_some_trials_finished_has_no_mean_of_the_lucky_ones(tmp_path: Path) -> None:
    late = write_run(
        tmp_path / "run",
        lambda outcome, arm, number: stop(outcome, arm, number, trials=range(1, 3)),
        scale=1.0,
    )
    summary = summarise(late)
    assert summary.arms["fifo"].workloads["XS"].completion_s.mean is None
    assert "> 20.0 s, unfinished in 2 of 6 trials, 41 % of the transactions done" in format_table(
        summary
    )
    [bar] = [bar for bar in completion_bars(summary) if (bar.workload, bar.arm) == ("XS", "fifo")]
    assert bar.mean_s == pytest.approx((2 * 20 + 4 * 572) / 6, rel=0.02)


def test_members_of_a_group_are_databases_where_all_of_them_are(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        stop(outcome, arm, number)
        next(one for one in outcome["workloads"] if one["name"] == "L1")["kind"] = "stream"

    groups = {"late": ["XS", "S", "M", "L1", "L2"]}
    text = format_table(
        summarise(write_run(tmp_path / "run", change, manifest={"groups": groups}, scale=1.0))
    )
    assert re.search(r"4 of \d workloads unfinished", text)
    assert "databases" not in text


def test_drops_are_compared_per_second_where_trials_end_at_different_times(path: Path) -> None:
    summary = summarise(path)
    words = end_words(summary.arms)
    assert words.startswith("Trials end at different times (on average after 20.0 s with fifo, ")
    assert drops_unit(summary) == "frames per second"
    rates = summary.arms["fifo"].rates
    total = sum(lost.frames for lost in summary.arms["fifo"].drops.values())
    assert rates.per_second.drops == pytest.approx(total / 20)
    assert rates.per_million_frames.drops == pytest.approx(total / rates.frames * 1e6)
    assert words in (path / "report.html").read_text(encoding="utf-8")


def test_no_chart_invents_a_zero_for_an_arm_of_which_nothing_is_known(tmp_path: Path) -> None:
    failed = {("fifo", number) for number in range(1, 3)}
    summary = summarise(write_run(tmp_path / "run", lambda *_: None, failed=failed, trials=2))
    drawn = str(drops_chart(summary))
    assert "fifo: no valid trial" in drawn
    assert not re.search(r">0<", drawn.partition("</svg>")[0].rpartition("tick")[2])
    [sentence] = unfinished_sentences(summary)
    assert sentence == "fifo: no valid trial: the simulator ran out of memory."


def test_a_real_trial_that_is_cut_short_says_what_did_not_finish(tmp_path: Path) -> None:
    slow = {"workloads.orders.gap": "20ms"}
    data = sound(
        arms={"quick": {}, "slow": slow},
        workloads__orders__transactions=20,
        experiment__duration="300ms",
    )
    loaded = load_scenario(data)
    finished = ExperimentRun(loaded, Options(out=tmp_path / "run")).run()
    assert not finished.is_valid
    summary = summarise(finished.path)
    assert summary.arms["quick"].unfinished_trials == []
    assert summary.arms["slow"].unfinished_trials == [1, 2]
    [sentence] = unfinished_sentences(summary)
    assert re.fullmatch(
        r"slow: > 0\.300 s, 1 of 1 workload unfinished, [67]\d % of the transactions done \(2 of 2 trials\)\.",  # noqa: E501
        sentence,
    )
    assert any("it needs at least 0.38" in str(warning) for warning in loaded.warnings)


def test_what_is_not_done_is_never_all_of_it() -> None:
    assert share_text(0.41) == "41 %"
    assert share_text(0.9999) == "99.9 %"
    assert share_text(0.002) == "0.20 %"


def trial(number: int = 1, end_s: int = 10, **outcome: Any) -> Trial:
    return whole.trial(number=number, end_ps=end_s * 10**12, **outcome)


def test_a_bound_holds_for_every_trial() -> None:
    late = [
        {"name": "XS", "kind": "oltp", "completion_ps": None, "transactions": n} for n in (40, 60)
    ]
    found = unfinished_of(
        [trial(1, 20, workloads=late[:1]), trial(2, 30, workloads=late[1:])], "XS", 100
    )
    assert found is not None
    assert (found.after_s, found.mean_bound_s, found.done_share) == (20, 25, 0.5)


def test_members_that_finished_did_all_of_their_work() -> None:
    late = part(Unfinished, done_share=0.5, after_s=20.0, noun="transactions")
    workloads = {
        "a": part(WorkloadSummary, planned=100, unfinished=late),
        "b": part(WorkloadSummary, planned=300),
    }
    words = group_words(workloads, ["a", "b"], "databases")
    assert words == "> 20.0 s, 1 of 2 databases unfinished, 88 % of the transactions done"


def test_what_is_to_be_done_counts_every_user_and_connection() -> None:
    workloads = [
        {"header": {"name": "shop"}, "body": {"oltp": {"transactions": 100, "users": 4}}},
        {"header": {"name": "backup"}, "body": {"stream": {"bytes": 1000, "connections": 8}}},
        {"header": {"name": "search"}, "body": {"flows": {"flows": 50}}},
        {"header": {"name": "endless"}, "body": {"stream": {}}},
    ]
    work = {("shop", "oltp"): 400, ("backup", "stream"): 8000, ("search", "flows"): 50}
    assert planned_work(whole.part(Plan, workloads=workloads)) == work


def test_drops_of_hosts_are_drops() -> None:
    hosts = [{"nic_queue_drops": 3, "rx_ring_drops": 7}]
    rates = summarise_rates([trial(hosts=hosts, conservation={"sent": 1000})])
    assert rates.per_second.drops == 1
    assert rates.per_million_frames.drops == 10_000


def test_after_a_warm_up_nothing_is_told_per_million_frames() -> None:
    hosts = [{"nic_queue_drops": 10, "rx_ring_drops": 0}]
    rates = summarise_rates(
        [trial(hosts=hosts, conservation={"sent": 1000}, counted_from_ps=5 * 10**12)]
    )
    assert rates.per_second.drops == 2
    assert rates.per_million_frames.drops is None


def test_marks_that_one_queue_does_not_count_are_not_known() -> None:
    ports = [
        {
            "node": "leaf",
            "towards": "db",
            "queues": [{"name": "q", "drops": {}, "marked_frames": n} for n in (5, None)],
        }
    ]
    rates = summarise_rates([trial(ports=ports)])
    assert rates.per_second.marks is None
    assert rates.per_second.drops == 0
