"""`tailrace explain`: explanations are those of the simulated run, and what cannot be explained is
refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import tailrace
from command_line import tailrace as command_line
from scenario_files import EXAMPLES
from sealing import interrupt, without_journal
from tailrace.experiment.explain import causes_of, explain_all, trial_plan
from tailrace.experiment.native import unexplained
from tailrace.experiment.reporter import Silent
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.types import Workload
from tailrace.results import Run
from tailrace.results.causes.causes import Causes
from tailrace.scenario.lowering.plan import canonical_json
from trial_files import read_trial, write_trial

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


@pytest.mark.smoke
@pytest.mark.parametrize("arm", ["alone", "beside"])
def test_the_latencies_are_those_of_the_run(
    run: Path, explained: dict[str, dict[str, Any]], arm: str
) -> None:
    outcome = read_trial(run / "trials" / arm / "1.json")
    latency = next(each for each in outcome["workloads"] if each["name"] == "orders")["latency"]
    bands = explained[arm]["bands"]
    assert explained[arm]["transactions"] == latency["count"] > 100
    assert sum(band["count"] * band["latency_ps"] for band in bands) / latency[
        "count"
    ] == pytest.approx(latency["mean_ps"], rel=1e-12)
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


def test_arms_without_the_trial_are_left_out_of_an_interrupted_run(
    run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run, tmp_path / "run")
    (interrupt(tmp_path / "run") / "trials" / "alone" / "1.json").unlink()
    done = command_line("explain", str(tmp_path / "run"), "--json")
    assert (done.returncode, [one["arm"] for one in json.loads(done.stdout)["explained"]]) == (
        0,
        ["beside"],
    )
    assert "warning: 1 arm has no trial 1 with counters: left out" in done.stderr
    (tmp_path / "run" / "trials" / "beside" / "1.json").unlink()
    assert "there is no trial 1 of any arm" in command_line("explain", str(tmp_path / "run")).stderr


def test_a_run_keeps_its_explanation_and_the_report_shows_it(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    command = [
        "run",
        str(tmp_path / "scenario.yaml"),
        "--out",
        str(tmp_path / "run"),
        "--explain",
        "--json",
    ]
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
    assert (
        command_line(
            "explain", str(tmp_path / "run"), "--workload", "orders", "--slowest", "0"
        ).returncode
        == 0
    )
    assert record.read_bytes() == kept


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--exact"], "--explain: real kernels tell no critical path"),
        (
            ["--sweep", "workloads.orders.users=1,2"],
            "--explain: the report of a sweep shows no explanations",
        ),
    ],
)
def test_a_run_that_has_nothing_to_explain_does_not_begin(
    tmp_path: Path, words: list[str], expected: str
) -> None:
    without_arms = "".join(
        line for line in SCENARIO.splitlines(keepends=True) if not line.startswith("arms:")
    )
    (tmp_path / "scenario.yaml").write_text(without_arms, encoding="utf-8")
    done = command_line(
        "run", str(tmp_path / "scenario.yaml"), "--out", str(tmp_path / "run"), "--explain", *words
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--arm", "besides"], "there is no arm 'besides' (hint: did you mean 'beside'"),
        (
            ["--workload", "order"],
            "there is no workload or group 'order' (hint: did you mean 'orders'",
        ),
        (
            ["--workload", "backup"],
            "'backup' is not explained: a stream without an end is never complete",
        ),
        (["--trial", "2"], "there is no trial 2 of"),
    ],
)
def test_what_is_not_there_is_refused(run: Path, words: list[str], expected: str) -> None:
    done = command_line("explain", str(run), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def of_engine(run: Path, folder: Path, engine: str) -> Path:
    """The run as if another engine had made it, without explanations."""
    shutil.copytree(run, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(
        json.dumps(manifest | {"engine": engine}), encoding="utf-8"
    )
    for record in folder.glob("trials/*/*.causes.json"):
        record.unlink()
    return without_journal(folder)


@pytest.mark.parametrize(
    ("engine", "hint"),
    [
        (
            "exact",
            "real kernels tell no critical path (hint: run the same scenario without --exact",
        ),
        (
            "live",
            "has no ingress log, from which frames are traced (hint: `tailrace run --live "
            "--log-ingress`)",
        ),
    ],
)
def test_where_nothing_can_be_taken_apart_the_counters_are_told(
    run: Path, tmp_path: Path, engine: str, hint: str
) -> None:
    other = of_engine(run, tmp_path / "run", engine)
    done = command_line("explain", str(other), "--arm", "beside")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "With beside, orders" in said
    assert "of the time, by TCP's counters" in said, (
        "those of the simulator, whose outcomes these are"
    )
    assert hint in " ".join(done.stderr.split())
    told = json.loads(command_line("explain", str(other), "--json").stdout)
    assert told["explained"] == []
    assert {(one["arm"], one["workload"]) for one in told["counted"]} > {
        ("alone", "orders"),
        ("beside", "backup"),
    }
    assert hint in told["why"]


def test_without_an_explanation_the_report_and_all_tables_say_how_to_get_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    command = [
        "run",
        str(tmp_path / "scenario.yaml"),
        "--out",
        str(tmp_path / "run"),
        "--no-explain",
        "--full",
    ]
    said = " ".join(command_line(*command).stdout.split())
    hint = "no trial was explained (hint: `tailrace explain RUN` finds the critical path)."
    assert hint in said
    assert "application (of connections, by TCP's counters)" in said
    assert hint in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_a_run_of_streams_alone_is_told_by_counters(tmp_path: Path) -> None:
    text = SCENARIO.replace("arms: {alone: {workloads.backup.enabled: false}, beside: {}}\n", "")
    (tmp_path / "scenario.yaml").write_text(text, encoding="utf-8")
    words = ["--set", "workloads.orders.enabled=false", "--out", str(tmp_path / "run")]
    assert command_line("run", str(tmp_path / "scenario.yaml"), *words).returncode == 0
    done = command_line("explain", str(tmp_path / "run"))
    assert done.returncode == 0
    assert "With base, backup" in done.stdout
    assert "no workload can be explained" in done.stderr


DATAGRAMS = """
tailrace: 1
name: datagrams
network:
  topology: {kind: star, switch: leaf, hosts: [client, server, other]}
  link: {rate: 1Gbit/s, delay: 5us}
switches: {leaf: {buffer: 60kB}}
workloads:
  calls:
    kind: requests
    protocol: udp
    client: client
    server: server
    users: 4
    gap: exponential(1ms)
    request: 200B
    response: 8kB
    timeout: 20ms
    retries: 3
  samples: {kind: datagrams, source: server, destination: client, sizes: 4kB, interarrival: exponential(1ms)}
  backup: {kind: stream, source: other, destination: client, connections: 2}
experiment: {trials: 1, duration: 2s, warm_up: 100ms}
"""  # noqa: E501


def test_datagrams_are_explained_with_reassembly_retries_and_losses(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(DATAGRAMS, encoding="utf-8")
    folder = tmp_path / "run"
    assert (
        command_line(
            "run", str(tmp_path / "scenario.yaml"), "--out", str(folder), "--explain"
        ).returncode
        == 0
    )
    done = command_line("explain", str(folder), "--slowest", "1", "--json")
    found = {one["workload"]: one for one in json.loads(done.stdout)["explained"]}
    assert list(found) == ["calls", "samples"]
    for one in found.values():
        assert all(band["parts"]["reassembly"] > 0 for band in one["bands"])
        assert [(place["port"], place["by"]) for place in one["lost"]] == [
            ("leaf>client", "buffer-full")
        ]
    [slowest] = found["calls"]["slowest"]
    repeated, rest_ps = divmod(slowest["parts"]["timeout"], 20 * 10**9)
    assert (rest_ps, repeated) == (0, len(slowest["losses"])), (
        "each retry waited 20 ms for what was lost"
    )
    outcome = read_trial(folder / "trials" / "base" / "1.json")
    for workload in outcome["workloads"][:2]:
        assert found[workload["name"]]["transactions"] == workload["latency"]["count"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "reassembly of fragments" in page
    assert (
        f"{found['samples']['lost'][0]['datagrams']} datagrams were lost and have no latency"
        in page
    )
    done = command_line("trace", str(folder), "--workload", "calls")
    assert (done.returncode, done.stdout) == (2, "")
    assert "calls: datagrams are explained, but not traced" in done.stderr


def test_what_was_lost_is_told_where_nothing_was_complete(tmp_path: Path) -> None:
    """No fragment of an answer passes the switch of the second arm: none comes."""
    scenario = DATAGRAMS.replace(
        "experiment:", "arms: {wide: {}, narrow: {switches.leaf.mtu: 1000B}}\nexperiment:"
    )
    (tmp_path / "scenario.yaml").write_text(scenario, encoding="utf-8")
    folder = tmp_path / "run"
    assert (
        command_line(
            "run", str(tmp_path / "scenario.yaml"), "--out", str(folder), "--explain"
        ).returncode
        == 0
    )
    done = command_line("explain", str(folder), "--json")
    found = {(one["arm"], one["workload"]): one for one in json.loads(done.stdout)["explained"]}
    calls = found["narrow", "calls"]
    assert (calls["transactions"], calls["bands"], calls["slowest"]) == (0, [], [])
    assert [place["by"] for place in calls["lost"]] == ["mtu"]
    summary = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    causes = {arm: own["workloads"]["calls"]["causes"] for arm, own in summary["arms"].items()}
    assert causes["narrow"] == {
        **causes["narrow"],
        "transactions": 0,
        "bands": [],
        "lost": calls["lost"],
    }
    assert causes["wide"]["transactions"] > 0
    lost = sum(place["datagrams"] for place in calls["lost"])
    assert f"{lost} datagrams were lost and have no latency" in (folder / "report.html").read_text(
        encoding="utf-8"
    )


def test_a_finite_workload_is_explained_from_the_start(tmp_path: Path) -> None:
    finite = SCENARIO.replace("users: 4\n", "users: 4\n    transactions: 40\n")
    (tmp_path / "scenario.yaml").write_text(finite, encoding="utf-8")
    scenario, folder = str(tmp_path / "scenario.yaml"), str(tmp_path / "run")
    assert command_line("run", scenario, "--arm", "alone", "--out", folder).returncode == 0
    done = command_line("explain", folder, "--json")
    assert [of_arm["transactions"] for of_arm in json.loads(done.stdout)["explained"]] == [160], (
        "40 of each user"
    )


def test_a_run_with_other_events_is_explained_with_a_warning(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    file = other / "trials" / "alone" / "1.json"
    write_trial(file, read_trial(file) | {"digest": "0" * 16})
    record = other / "trials" / "alone" / "1.causes.json"
    record.unlink(missing_ok=True)
    without_journal(other)
    done = command_line("explain", str(other), "--arm", "alone")
    assert done.returncode == 0
    assert "warning: alone/1 had other events when it was run" in done.stderr
    assert not record.exists()


@pytest.mark.filterwarnings("ignore::tailrace.errors.ScenarioWarning")
@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_is_explained(path: Path, tmp_path: Path) -> None:
    run = Run.read(tailrace.run(path, trials=1, scale=EXAMPLE_SCALE, out=tmp_path / "run").path)
    for arm in run.arms:
        plan = trial_plan(run, run.trials[arm][0])
        trial = run.trials[arm][0].outcome
        key = TrialKey(arm, 1)
        ran = explain_all({key: canonical_json(plan)}, 1, Silent())[key]
        assert ran.outcome.digest == trial.digest
        causes = causes_of(ran, plan)
        why = unexplained(canonical_json(plan))
        for workload in trial.workloads:
            one_workload_adds_up(workload, causes, why)


def one_workload_adds_up(workload: Workload, causes: Causes, why: dict[str, str]) -> None:
    of_workload = causes.by_workload.get(workload.name, [])
    explained = [one for one in of_workload if one.end_ps > workload.counted_from_ps]
    if workload.name in why:
        assert not of_workload
        return
    assert len(explained) == (workload.latency.count if workload.latency else 0)
    if workload.latency:
        mean_ps = sum(one.latency_ps for one in explained) / len(explained)
        assert mean_ps == pytest.approx(workload.latency.mean_ps, rel=1e-9)
        assert not any("unknown" in one.parts for one in explained)
