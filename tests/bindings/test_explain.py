"""`tailrace explain`: explanations are those of the simulated run, and what cannot be explained is refused."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCENARIO = """
tailrace: 1
name: beside
network:
  topology: {kind: star, switch: leaf, hosts: [client, server, other]}
  link: {rate: 1Gbit/s, delay: 5us}
switches: {leaf: {buffer: 200kB}}
workloads:
  orders:
    kind: oltp
    client: client
    server: server
    users: 4
    round_trips: [{request: 200B, response: 20kB}]
    gap: exponential(1ms)
  backup: {kind: stream, source: other, destination: client, connections: 2}
arms: {alone: {workloads.backup.enabled: false}, beside: {}}
experiment: {trials: 1, duration: 400ms, warm_up: 100ms}
"""
EXPLAIN_LIMIT_S = 120


def tailrace(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tailrace", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=EXPLAIN_LIMIT_S, check=False)
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    done = tailrace("run", str(folder / "scenario.yaml"), "--out", str(folder / "run"))
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def explained(run: Path) -> dict[str, dict[str, Any]]:
    done = tailrace("explain", str(run), "--slowest", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, "the digest is that of the run"
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert events[0] == "begin"
    assert [events.count(event) for event in ("trial", "end")] == [2, 1]
    return {of_arm["arm"]: of_arm for of_arm in json.loads(done.stdout)["explained"]}


@pytest.mark.parametrize("arm", ["alone", "beside"])
def test_the_latencies_are_those_of_the_run(run: Path, explained: dict[str, dict[str, Any]], arm: str) -> None:
    outcome = json.loads((run / "trials" / arm / "1.json").read_text(encoding="utf-8"))
    latency = next(each for each in outcome["workloads"] if each["name"] == "orders")["latency"]
    bands = explained[arm]["bands"]
    assert explained[arm]["transactions"] == latency["count"] > 100
    assert sum(band["count"] * band["latency_ps"] for band in bands) / latency["count"] == pytest.approx(
        latency["mean_ps"], rel=1e-12
    )
    for band in bands:
        assert sum(band["parts"].values()) == pytest.approx(band["latency_ps"], rel=1e-12)


def test_queues_beside_a_backup_are_behind_it(explained: dict[str, dict[str, Any]]) -> None:
    alone, beside = (explained[arm]["bands"][1] for arm in ("alone", "beside"))
    assert "backup" not in alone["behind"]
    assert beside["behind"]["backup"] > 0.5 * beside["parts"]["switch_queue"]
    assert beside["queues"]["leaf>client"] > 0.5 * beside["parts"]["switch_queue"]
    assert [len(of_arm["slowest"]) for of_arm in explained.values()] == [2, 2]


def test_a_table_for_each_arm_is_printed(run: Path) -> None:
    done = tailrace("explain", str(run), "--arm", "beside")
    assert done.returncode == 0
    assert done.stdout.startswith("orders beside: ")
    assert done.stdout.count("\n- ") == 10
    assert "orders alone" not in done.stdout
    assert "explaining: 1 trial\n" in done.stderr
    assert "warning" not in done.stderr


def test_a_run_keeps_its_explanation_and_the_report_shows_it(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    command = ["run", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "run"), "--explain", "--json"]
    done = tailrace(*command)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    causes = {arm: own["workloads"]["orders"]["causes"] for arm, own in summary["arms"].items()}
    assert {arm: found["trial"] for arm, found in causes.items()} == {"alone": 1, "beside": 1}
    assert summary["arms"]["beside"]["workloads"]["backup"]["causes"] is None
    record = tmp_path / "run" / "trials" / "beside" / "1.causes.json"
    kept = record.read_bytes()
    assert "Where the time went" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    again = tailrace(*command)
    assert again.returncode == 0
    assert '"stage": "explaining"' not in again.stderr, "it has its record already"
    assert tailrace("explain", str(tmp_path / "run"), "--workload", "orders", "--slowest", "0").returncode == 0
    assert record.read_bytes() == kept


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--exact"], "--explain: only simulated runs are explained"),
        (["--sweep", "workloads.orders.users=1,2"], "--explain: the report of a sweep shows no explanations"),
        (["--set", "workloads.orders.enabled=false"], "--explain: no workload is of kind oltp"),
    ],
)
def test_a_run_that_has_nothing_to_explain_does_not_begin(tmp_path: Path, words: list[str], expected: str) -> None:
    without_arms = "".join(line for line in SCENARIO.splitlines(keepends=True) if not line.startswith("arms:"))
    (tmp_path / "scenario.yaml").write_text(without_arms, encoding="utf-8")
    done = tailrace("run", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "run"), "--explain", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--arm", "besides"], "there is no arm 'besides' (hint: did you mean 'beside'"),
        (["--workload", "order"], "there is no workload 'order' (hint: did you mean 'orders'"),
        (["--workload", "backup"], "'backup' is of kind stream, and only oltp is explained"),
        (["--trial", "2"], "there is no trial 2 of"),
    ],
)
def test_what_is_not_there_is_refused(run: Path, words: list[str], expected: str) -> None:
    done = tailrace("explain", str(run), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_a_host_with_a_processor_is_refused(run: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO + "hosts: {client: {cpu: {cores: 2}}}\n", encoding="utf-8")
    assert tailrace("run", str(scenario), "--out", str(tmp_path / "run")).returncode == 0
    done = tailrace("explain", str(tmp_path / "run"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be explained: a host has a processor" in done.stderr
    again = tailrace("run", str(scenario), "--out", str(tmp_path / "run"), "--explain")
    assert again.returncode == 0, "the run has its results"
    assert "warning: alone/1 cannot be explained: a host has a processor" in again.stderr
    assert not list((tmp_path / "run").glob("trials/*/*.causes.json"))


def test_a_run_with_other_events_is_explained_with_a_warning(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    file = other / "trials" / "alone" / "1.json"
    outcome = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**outcome, "digest": "0" * 16}), encoding="utf-8")
    record = other / "trials" / "alone" / "1.causes.json"
    record.unlink(missing_ok=True)
    done = tailrace("explain", str(other), "--arm", "alone")
    assert done.returncode == 0
    assert "warning: alone/1 had other events when it was run" in done.stderr
    assert not record.exists()
