"""`tailrace explain`: explanations are those of the simulated run, and what cannot be explained is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import tailrace
from command_line import tailrace as command_line
from scenario_files import EXAMPLES
from tailrace.errors import RunRefusedError
from tailrace.experiment.explain import explain_all
from tailrace.experiment.native import unexplained, values
from tailrace.experiment.reporter import Silent
from tailrace.experiment.schedule import TrialKey
from tailrace.results import Run
from tailrace.results.causes.causes import Causes
from tailrace.scenario.lowering.plan import canonical_json

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
EXAMPLE_SCALE = 0.02
"""Share of an example that is run: what is complete after that is explained."""
REFUSED = "hypervisors"
"""What a plan cannot have."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    done = command_line("run", str(folder / "scenario.yaml"), "--out", str(folder / "run"))
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def explained(run: Path) -> dict[str, dict[str, Any]]:
    done = command_line("explain", str(run), "--slowest", "2", "--json")
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
    done = command_line("explain", str(run), "--arm", "beside")
    assert done.returncode == 0
    assert done.stdout.startswith("orders beside: ")
    assert done.stdout.count("\n- ") == 10
    assert "orders alone" not in done.stdout
    assert "explaining: 1 trial\n" in done.stderr
    assert "warning" not in done.stderr


def test_a_run_keeps_its_explanation_and_the_report_shows_it(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    command = ["run", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "run"), "--explain", "--json"]
    done = command_line(*command)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    causes = {arm: own["workloads"]["orders"]["causes"] for arm, own in summary["arms"].items()}
    assert {arm: found["trial"] for arm, found in causes.items()} == {"alone": 1, "beside": 1}
    assert summary["arms"]["beside"]["workloads"]["backup"]["causes"] is None
    record = tmp_path / "run" / "trials" / "beside" / "1.causes.json"
    kept = record.read_bytes()
    assert "Where the time went" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    again = command_line(*command)
    assert again.returncode == 0
    assert '"stage": "explaining"' not in again.stderr, "it has its record already"
    assert command_line("explain", str(tmp_path / "run"), "--workload", "orders", "--slowest", "0").returncode == 0
    assert record.read_bytes() == kept


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--exact"], "--explain: only simulated runs are explained"),
        (["--sweep", "workloads.orders.users=1,2"], "--explain: the report of a sweep shows no explanations"),
    ],
)
def test_a_run_that_has_nothing_to_explain_does_not_begin(tmp_path: Path, words: list[str], expected: str) -> None:
    without_arms = "".join(line for line in SCENARIO.splitlines(keepends=True) if not line.startswith("arms:"))
    (tmp_path / "scenario.yaml").write_text(without_arms, encoding="utf-8")
    done = command_line("run", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "run"), "--explain", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--arm", "besides"], "there is no arm 'besides' (hint: did you mean 'beside'"),
        (["--workload", "order"], "there is no workload 'order' (hint: did you mean 'orders'"),
        (["--workload", "backup"], "'backup' is not explained: a stream without an end is never complete"),
        (["--trial", "2"], "there is no trial 2 of"),
    ],
)
def test_what_is_not_there_is_refused(run: Path, words: list[str], expected: str) -> None:
    done = command_line("explain", str(run), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_a_finite_workload_is_explained_from_the_start(tmp_path: Path) -> None:
    finite = SCENARIO.replace("users: 4\n", "users: 4\n    transactions: 40\n")
    (tmp_path / "scenario.yaml").write_text(finite, encoding="utf-8")
    scenario, folder = str(tmp_path / "scenario.yaml"), str(tmp_path / "run")
    assert command_line("run", scenario, "--arm", "alone", "--out", folder).returncode == 0
    done = command_line("explain", folder, "--json")
    assert [of_arm["transactions"] for of_arm in json.loads(done.stdout)["explained"]] == [160], "40 of each user"


def test_a_run_with_other_events_is_explained_with_a_warning(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    file = other / "trials" / "alone" / "1.json"
    outcome = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**outcome, "digest": "0" * 16}), encoding="utf-8")
    record = other / "trials" / "alone" / "1.causes.json"
    record.unlink(missing_ok=True)
    done = command_line("explain", str(other), "--arm", "alone")
    assert done.returncode == 0
    assert "warning: alone/1 had other events when it was run" in done.stderr
    assert not record.exists()


@pytest.mark.filterwarnings("ignore::tailrace.errors.ScenarioWarning")
@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_is_explained_or_refused_in_words(path: Path, tmp_path: Path) -> None:
    run = Run.read(tailrace.run(path, trials=1, scale=EXAMPLE_SCALE, out=tmp_path / "run").path)
    for arm in run.arms:
        plan = run.plan(arm)
        assert plan is not None
        trial = run.trials[arm][0].outcome
        key = TrialKey(arm, 1)
        if plan.get(REFUSED):
            with pytest.raises(RunRefusedError, match=r"cannot be explained: there are hypervisors"):
                explain_all({key: canonical_json(plan)}, 1, Silent())
            continue
        plan |= {"name": trial["name"], "seed": trial["seed"]}
        outcome = explain_all({key: canonical_json(plan)}, 1, Silent())[key]
        assert outcome.data["digest"] == trial["digest"]
        causes = Causes({name: values(columns) for name, columns in outcome.tables.items()}, plan)
        why = unexplained(canonical_json(plan))
        for workload in trial["workloads"]:
            one_workload_adds_up(workload, causes, why)


def one_workload_adds_up(workload: dict[str, Any], causes: Causes, why: dict[str, str]) -> None:
    of_workload = causes.by_workload.get(workload["name"], [])
    explained = [one for one in of_workload if one.end_ps > workload["counted_from_ps"]]
    if workload["name"] in why:
        assert not of_workload
        return
    latency = workload["latency"] or {"count": 0}
    assert len(explained) == latency["count"]
    if explained:
        mean_ps = sum(one.latency_ps for one in explained) / len(explained)
        assert mean_ps == pytest.approx(latency["mean_ps"], rel=1e-9)
        assert not any("unknown" in one.parts for one in explained)
