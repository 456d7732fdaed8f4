"""A whole live experiment on a stand-in for the fabric: the run directory is of the simulator's
shape."""

import json
from pathlib import Path
from typing import Any

import pytest

import tailrace
from lab import sound
from tailrace import results
from tailrace.cli.listing import find_runs
from tailrace.errors import RunRefusedError, TailraceError
from tailrace.experiment.judge import judged
from tailrace.experiment.native import Ran
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.live.engine import LiveEngine
from tailrace.live.lab import fabric
from tailrace.live.measure import closings
from tailrace.live.trial import effect
from tailrace.live.trial.replay import INGRESS
from tailrace.outcome.types import Outcome
from tailrace.scenario.loading import load_scenario
from trial_files import read_trial
from whole import part

pytestmark = pytest.mark.usefixtures("fake_lab")


def live(out: Path, options: dict[str, Any] | None = None, **changes: object) -> ExperimentRun:
    """A live experiment of the sound scenario, without a stream unless asked for."""
    loaded = load_scenario(sound(**({"workloads__backup": ...} | changes)))
    return ExperimentRun(loaded, Options(out=out, **(options or {})), engine=LiveEngine())


def trial(out: Path, arm: str = "fifo", number: int = 1) -> dict[str, Any]:
    """An outcome on disk."""
    outcome: dict[str, Any] = read_trial(out / "trials" / arm / f"{number}.json")
    return outcome


def test_a_live_run_is_summarised_and_reported_as_a_simulated_one(tmp_path: Path) -> None:
    out = tmp_path / "run"
    finished = live(
        out, workloads__backup={"kind": "stream", "source": "bulk", "destination": "client"}
    ).run()
    assert finished.is_valid
    summary, report = summarise_and_report(out)
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["engine"] == "live"
    orders = summary.arms["dpp"].workloads["orders"]
    assert orders.transactions.mean == 4 * 100
    assert orders.latency_ms.p50 == pytest.approx(0.9, rel=0.01)
    assert summary.arms["dpp"].workloads["backup"].goodput_gbps.mean > 0
    assert report.stat().st_size > 10_000
    assert "sound, live: seed 1" in results.format_table(summary)
    assert summary.arms["fifo"].fidelity.lateness_p99_9_us == 80
    assert "Fidelity" in report.read_text(encoding="utf-8")
    for table in ("transactions", "cut_off", "workload_series", "port_series", "queue_depth"):
        assert (out / "trials" / "dpp" / f"1.{table}.parquet").exists(), table


def test_nothing_but_results_and_logs_stays_in_the_run_directory(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out).run()
    assert {path.name for path in (out / "live").glob("*")} <= {INGRESS}


def test_the_same_command_resumes(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out).run()
    before = trial(out, "dpp", 2)["wall_s"]
    (out / "trials" / "fifo" / "1.json").unlink()
    live(out).run()
    assert trial(out, "dpp", 2)["wall_s"] == before
    assert trial(out)["status"] == "ok"


def test_a_directory_of_the_simulator_is_not_continued_live(tmp_path: Path, fake: None) -> None:
    out = tmp_path / "run"
    ExperimentRun(load_scenario(sound(workloads__backup=...)), Options(out=out)).run()
    with pytest.raises(RunRefusedError, match="holds another run"):
        live(out).run()


def test_the_latency_counts_from_the_intended_start(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out, workloads__orders__gap="exponential(7ms)").run()
    [orders] = trial(out)["workloads"]
    assert orders["latency"]["min_ps"] == orders["latency"]["max_ps"] == 900 * 10**6
    # The statements took 0.8 ms of the 0.9: the rest is the load generator's.
    assert trial(out)["live"]["generator_lag_us"]["orders"] == pytest.approx(100, abs=1)


def test_warm_up_transactions_count_towards_completion_and_not_towards_latency(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    live(out, workloads__orders__warmup_transactions=30).run()
    [orders] = trial(out)["workloads"]
    assert orders["latency"]["count"] == 4 * 70
    assert orders["transactions"] == 400


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("lost", "host client lost 3 frames outside of the modelled queues"),
        (
            "late",
            "lateness changed the mean delay at port leaf>client by 0.90 ms: 22.5% of the 4 ms in",
        ),
    ],
)
def test_a_trial_that_the_machine_spoilt_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setenv("FAKE_FAULT", fault)
    out = tmp_path / "run"
    finished = live(out, experiment__live__attempts=1).run()
    assert set(finished.statuses.values()) == {"invalid"}
    assert reason in trial(out)["reason"]


def test_a_spoilt_trial_is_run_again_and_every_attempt_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    monkeypatch.setenv("FAKE_FAULT", "late")
    assert not live(out, experiment__live__attempts=2).run().is_valid
    assert sorted(file.name for file in (out / "trials" / "fifo").glob("1.*json")) == [
        "1.attempt-1.json",
        "1.json",
    ]
    monkeypatch.delenv("FAKE_FAULT")
    assert not live(out, experiment__live__attempts=2).run().is_valid, "both attempts were used"
    assert live(out, experiment__live__attempts=3).run().is_valid

    out = tmp_path / "again"
    (tmp_path / "late").mkdir()
    for number in range(3):
        (tmp_path / "late" / str(number)).touch()
    monkeypatch.setenv("FAKE_LATE", str(tmp_path / "late"))
    finished = live(out).run()
    assert finished.is_valid
    summary, report = summarise_and_report(out)
    assert summary.run.problems == []
    assert [problem.status for problem in summary.run.repeated] == ["invalid"] * 3
    assert (
        "lateness changed the mean delay"
        in results.format_table(summary).rpartition("of trials that were run again")[2]
    )
    assert "3 attempts invalidated by the machine" in report.read_text(encoding="utf-8")
    spoilt = summary.run.repeated[0]
    folder = out / "trials" / spoilt.arm.replace(":", "-")
    assert (folder / f"{spoilt.trial}.attempt-1.transactions.parquet").is_file()


def test_a_late_switch_that_changed_nothing_spoils_no_trial(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out).run()
    outcome = {key: value for key, value in trial(out).items() if key in Outcome.__struct_fields__}
    port = outcome["fabric"]["effect"]["leaf>client"]
    assert (port["mean_ms"], port["p99_ms"], port["drain_ms"], port["slope"]) == pytest.approx(
        (0.06, 0.06, 4.0, 1.1)
    )
    outcome["fabric"]["lateness_us"]["p99_9"] = 3800.0
    experiment = live(out)
    assert (
        judged(
            Ran(part(Outcome, **outcome)), experiment.scenarios["fifo"], experiment.engine
        ).status
        == "ok"
    )
    strict = live(out, experiment__live__max_lateness="1ms").scenarios["fifo"]
    assert (
        "p99.9 is 3,800 us"
        in judged(Ran(part(Outcome, **outcome)), strict, experiment.engine).reason
    )


def test_a_trial_whose_log_is_not_whole_says_that_lateness_was_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effect, "LOG_BYTES_MAX", -1)
    said: list[str] = []
    loaded = load_scenario(sound(workloads__backup=...))
    ExperimentRun(loaded, Options(out=tmp_path / "run"), engine=LiveEngine(say=said.append)).run()
    assert sum("was not judged" in text for text in said) == 1
    assert trial(tmp_path / "run")["fabric"]["effect"] is None


def test_a_time_budget_tries_spoilt_trials_until_each_arm_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late").mkdir()
    for number in range(7):  # more than three attempts at each of the four trials could leave
        (tmp_path / "late" / str(number)).touch()
    monkeypatch.setenv("FAKE_LATE", str(tmp_path / "late"))
    out = tmp_path / "run"
    finished = live(out, {"time_budget_s": 600.0}).run()
    assert finished.is_valid
    assert not finished.lacks
    assert len(list(out.glob("trials/*/*.attempt-*.json"))) == 7


def test_a_time_budget_that_is_over_says_what_is_lacking_and_goes_on_later(tmp_path: Path) -> None:
    out = tmp_path / "run"
    finished = live(out, {"time_budget_s": 1e-9}).run()
    assert not finished.is_valid
    assert [lack.sentence for lack in finished.lacks] == [
        "fifo has 0 of 2 valid trials",
        "dpp has 0 of 2 valid trials",
    ]
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["state"] == "interrupted"
    assert live(out, {"time_budget_s": 600.0}).run().is_valid
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["state"] == "finished"


def test_a_divided_run_says_so_everywhere(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "run"
    live(out, {"live_scale": 2}, workloads__orders__users=4).run()
    assert (
        json.loads((out / "plans" / "fifo.json").read_text(encoding="utf-8"))["links"][0][
            "rate_bps"
        ]
        == 5 * 10**9
    )
    summary, report = summarise_and_report(out)
    assert "rates, queues and users divided by 2" in results.format_table(summary)
    assert "rates, queues and users divided by 2" in report.read_text(encoding="utf-8")
    [row] = find_runs(tmp_path / "runs")
    assert row["live_scale"] == 2


def test_a_trial_with_a_fault_of_its_own_is_not_run_again(tmp_path: Path) -> None:
    out = tmp_path / "run"
    experiment = live(out)
    experiment.run()
    outcome = {key: value for key, value in trial(out).items() if key in Outcome.__struct_fields__}
    scenario = experiment.scenarios["fifo"]
    assert judged(Ran(part(Outcome, **outcome)), scenario, experiment.engine).status == "ok"
    outcome["fabric"]["effect"]["leaf>client"]["mean_ms"] = 0.9
    assert (
        judged(Ran(part(Outcome, **outcome)), scenario, experiment.engine).is_machine_fault is True
    )
    outcome["workloads"][0]["completion_ps"] = None
    assert (
        judged(Ran(part(Outcome, **outcome)), scenario, experiment.engine).is_machine_fault is False
    )


def test_what_hosts_are_set_to_is_in_the_outcome(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out, experiment__trials=1, arms={"fifo": {}}).run()
    found = trial(out)["live"]["settings"]["db"]
    assert found["route"] == "10.77.0.0/16 proto static scope link congctl cubic"
    names = ("tcp_ecn", "tcp_rmem", "tcp_no_metrics_save")
    assert [found["sysctls"][name] for name in names] == ["0", "4096 131072 6291456", "1"]
    assert (found["offloads"]["tcp_segmentation_offload"], found["tcp_metrics"]) == ("off", 0)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("dead", "pgbench-orders: pgbench ended with status 1"),
        ("unready", "the fabric did not start: no /dev/net/tun"),
        ("corrupt", "the database of db differs from the loaded one"),
        ("remembers", "host client remembers 1 TCP metrics before the trial"),
    ],
)
def test_a_failed_program_is_a_failed_trial_with_its_words_and_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setenv("FAKE_FAULT", fault)
    out = tmp_path / "run"
    finished = live(out, experiment__trials=1, arms={"fifo": {}}).run()
    assert set(finished.statuses.values()) == {"failed"}
    assert reason in trial(out)["reason"]


def test_counters_of_a_host_are_a_workloads_where_it_has_the_host_to_itself(tmp_path: Path) -> None:
    second = sound()["workloads"]["orders"] | {"transactions": 3}
    live(tmp_path / "one", experiment__trials=1).run()
    live(tmp_path / "two", experiment__trials=1, workloads__more=second).run()
    assert trial(tmp_path / "one")["workloads"][0]["tcp"]["retransmits"] == 0
    assert [one["tcp"] for one in trial(tmp_path / "two")["workloads"]] == [None, None]


def test_counters_of_connections_that_were_not_all_seen_to_end_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closings, "SETTLE_S", 0.0)
    out = tmp_path / "run"
    stream = {"kind": "stream", "source": "bulk", "destination": "client"}
    live(out, experiment__trials=1, arms={"fifo": {}}, workloads__backup=stream).run()
    orders, backup = trial(out)["workloads"]
    # The stand-in tells of one connection of the stream; it has another for iperf3's own words.
    assert [trial(out)["live"]["connections"]["backup"][key] for key in ("count", "expected")] == [
        1,
        2,
    ]
    assert backup["tcp"] is None
    assert orders["tcp"] is not None


def test_live_trials_do_not_run_at_the_same_time(tmp_path: Path) -> None:
    assert live(tmp_path / "run").jobs == 1
    with pytest.raises(RunRefusedError, match="would disturb each other"):
        live(tmp_path / "run", {"jobs": 2})


def test_a_rate_that_the_machine_cannot_hold_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FRAMES_PER_S", "100000")
    with pytest.raises(
        TailraceError, match=r"network\.link\.rate: its ports carry up to .* frames/s"
    ):
        live(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_fabrics_doctor_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(*arguments: str, **limits: Any) -> dict[str, Any]:
        asked.append(arguments[0])
        return answer(*arguments, **limits)

    answer = fabric.ask
    monkeypatch.setattr(fabric, "ask", ask)
    live(tmp_path / "run")
    assert asked.count("doctor") == 1


def test_solo_runs_and_calibration_work_as_simulated(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out, experiment__solo=True, experiment__trials=1).run()
    assert trial(out, "solo-orders")["status"] == "ok"


def test_what_a_lab_lacks_is_said_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_WARNING", "no real-time scheduling")
    said: list[str] = []
    out = tmp_path / "run"
    loaded = load_scenario(sound(workloads__backup=..., experiment__trials=2))
    assert (
        ExperimentRun(loaded, Options(out=out), engine=LiveEngine(say=said.append)).run().is_valid
    )
    assert said.count("warning: no real-time scheduling") == 1
    assert trial(out)["live"]["warnings"] == ["no real-time scheduling"]


def test_a_program_can_run_live(tmp_path: Path) -> None:
    result = tailrace.run(sound(workloads__backup=...), trials=1, out=tmp_path / "run", live=True)
    assert (
        json.loads((result.path / "manifest.json").read_text(encoding="utf-8"))["engine"] == "live"
    )
