"""`tailrace run --cores`: the same results on several cores, refusals in words, Ctrl-C, and what
the files say."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from command_line import tailrace
from counts import cases
from tailrace import _native
from tailrace.errors import TailraceError
from tailrace.experiment.cores import ONE, Cores, cores_of_each
from tailrace.experiment.engine import SimulatedTrial
from tailrace.experiment.machine import available_cores
from tailrace.experiment.plans import Plans
from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.loading import load_scenario
from trial_files import read_trial

SCENARIO = """
tailrace: 1
name: spines
network:
  link: {rate: 10Gbit/s, delay: 5us}
  topology: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 2, uplink_rate: 20Gbit/s}
workloads:
  orders:
    kind: oltp
    client: h1
    server: h5
    users: 4
    round_trips: [{request: 200B, response: 20kB}]
    gap: exponential(1ms)
  backup: {kind: stream, source: h2, destination: h7, connections: 2}
  copy: {kind: stream, source: h4, destination: h8, connections: 1}
arms:
  one: {}
  two: {workloads.backup.connections: 4}
experiment: {duration: 20ms, trials: 2}
"""
WEB = """  web: {kind: flows, sources: all, destinations: all, sizes: 90kB, interarrival: exponential(9us), flows: 4000}
  gathered: {kind: flows, sources: [h1, h2, h3], destinations: [h6], sizes: 20kB, interarrival: 50us, flows: 700}
"""  # noqa: E501
ASKED = """  asked: {kind: requests, clients: [h1, h2], servers: [h6, h8], users: 8, request: 100B,
    response: exponential(9kB), gap: exponential(1ms)}
"""
PINGPONG = """  pingpong: {kind: mpi, hosts: [h1, h6], pattern: pingpong, sizes: [8B], iterations: 9}
"""  # noqa: E501
WALL_KEYS = ("wall_s", "cores")
"""Entries of a trial that tell how it was run."""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    path = tmp_path / "lab.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def plan_of(lab: Path, *changes: tuple[str, str]) -> str:
    text = lab.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    lab.write_text(text, encoding="utf-8")
    return Plans(load_scenario(lab).arms).json(TrialKey("one", 1))


def trials(folder: Path) -> dict[str, Any]:
    found = {
        str(path.relative_to(folder)): read_trial(path)
        for path in folder.glob("trials/**/[0-9].json")
    }
    assert found
    return found


def told(value: Any) -> Any:
    """A result without times of the clock and the command."""
    if isinstance(value, dict):
        return {
            key: told(one)
            for key, one in value.items()
            if key not in ("wall_s", "started", "finished", "command")
        }
    return value


@pytest.mark.parametrize("added", ["", WEB, ASKED])
def test_results_are_those_of_one_core_and_say_how_many_there_were(
    lab: Path, tmp_path: Path, added: str
) -> None:
    changed = SCENARIO.replace("20ms", "60ms").replace("trials: 2", cases("trials: 2", "trials: 1"))
    lab.write_text(changed.replace("arms:\n", added + "arms:\n"), encoding="utf-8")
    folders = {cores: tmp_path / f"on-{cores}" for cores in ("1", "2")}
    for cores, folder in folders.items():
        done = tailrace("run", str(lab), "--jobs", "1", "--cores", cores, "--out", str(folder))
        assert done.returncode == 0, done.stderr
        assert json.loads((folder / "manifest.json").read_text())["cores_per_trial"] == int(cores)
    one, two = (trials(folder) for folder in folders.values())
    assert {trial.get("cores") for trial in one.values() if "digest" in trial} == {1}
    assert {trial.get("cores") for trial in two.values() if "digest" in trial} == {2}
    for name, trial in one.items():
        same = [
            {key: value for key, value in one.items() if key not in WALL_KEYS}
            for one in (trial, two[name])
        ]
        assert same[0] == same[1], name
    results = [json.loads((folder / "result.json").read_text()) for folder in folders.values()]
    assert told(results[0]) == told(results[1])


def test_a_run_that_is_continued_with_other_cores_tells_both(lab: Path, tmp_path: Path) -> None:
    told = []
    for cores, count in (("1", "1"), ("2", "2"), ("2", "2"), ("1", "2")):
        words = [
            "--jobs",
            "1",
            "--cores",
            cores,
            "--trials",
            count,
            "--arm",
            "one",
            "--out",
            str(tmp_path / "out"),
        ]
        done = tailrace("run", str(lab), *words)
        assert done.returncode == 0, done.stderr
        told.append(json.loads((tmp_path / "out/manifest.json").read_text())["cores_per_trial"])
    assert told == [1, [1, 2], [1, 2], [1, 2]]


SEARCH = ["search", "--vary", "workloads.backup.connections=1..2", "--goal", "orders.p50 < 1s", "--maximise",  # noqa: E501
          "connections", "--arm", "one", "--confirm", "3"]  # fmt: skip


def test_a_search_has_trials_of_several_cores(lab: Path, tmp_path: Path) -> None:
    plan_of(lab, ("20ms", "60ms"))
    found = []
    for cores in ("1", "2"):
        out = tmp_path / cores
        done = tailrace(
            SEARCH[0], str(lab), *SEARCH[1:], "--jobs", "1", "--cores", cores, "--out", str(out)
        )
        assert done.returncode == 0, done.stderr
        files = [read_trial(path) for path in out.rglob("trials/*/[0-9]*.json")]
        found.append(
            sorted((one["arm"], one["trial"], one["digest"], one.get("cores", 1)) for one in files)
        )
    assert {one[3] for one in found[0]} == {1}
    assert {one[3] for one in found[1]} == {2}
    assert [one[:3] for one in found[0]] == [one[:3] for one in found[1]]


def test_a_trial_that_ends_while_its_load_is_measured_is_run_once(lab: Path) -> None:
    plan = plan_of(lab, ("20ms", "1ms"))
    trial, alone = (_native.Trial(plan, *cores) for cores in ((2,), ()))
    told = [json.loads("".join(one.run()[0])) for one in (trial, alone)]
    assert (trial.cores(), told[0]["digest"], told[0]["events"]) == (
        1,
        told[1]["digest"],
        told[1]["events"],
    )


def test_what_cannot_be_divided_is_refused_with_its_line_before_anything_runs(
    lab: Path, tmp_path: Path
) -> None:
    lab.write_text(SCENARIO.replace("arms:\n", PINGPONG + "arms:\n"), encoding="utf-8")
    out = tmp_path / "out"
    done = tailrace("run", str(lab), "--cores", "2", "--out", str(out))
    line = 1 + lab.read_text().splitlines().index(PINGPONG.rstrip())
    assert done.returncode == 2
    assert f"lab.yaml:{line}: workloads.pingpong: --cores 2: only streams" in done.stderr
    assert "(hint: one core; --cores auto" in done.stderr
    assert not out.exists()
    tailrace("run", str(lab), "--out", str(out), "--trials", "1")
    assert (out / "result.json").exists(), "the default uses one core for it"


def test_a_trial_that_cannot_have_several_cores_has_failed_in_words(lab: Path) -> None:
    """A large sweep does not look at all of its plans before."""
    trial = SimulatedTrial(plan_of(lab, ("delay: 5us", "delay: 0us")), Cores(2))
    with pytest.raises(
        TailraceError, match=r"^several cores: the link from .* has no delay.* \(hint: one core"
    ):
        trial.run()


@pytest.mark.smoke
def test_a_link_without_delay_is_refused_with_its_line(lab: Path, tmp_path: Path) -> None:
    links = (
        "  links:\n    - {between: [leaf1, spine1], delay: 1us}\n    - {between: [spine2, "
        "leaf3], delay: 0us}\n"
    )
    lab.write_text(SCENARIO.replace("workloads:\n", links + "workloads:\n", 1), encoding="utf-8")
    done = tailrace("run", str(lab), "--cores", "2", "--out", str(tmp_path / "out"))
    line = 1 + lab.read_text().splitlines().index(links.splitlines()[2])
    assert done.returncode == 2
    assert (
        f"lab.yaml:{line}: network.links.1: --cores 2: the link from leaf3 to spine2 has no delay"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--cores", "some"],
            "--cores some: neither a number of cores nor auto (hint: for example --cores 2)",
        ),
        (["--cores", "0"], "--cores 0: neither a number"),
        (["--cores", "9" * 20], "9: neither a number"),
        (
            ["--cores", "2", "--exact"],
            "--cores 2: trials of exact runs are not divided (hint: omit --cores)",
        ),
        (
            ["--cores", "2", "--live"],
            "--cores 2: trials of live runs are not divided (hint: omit --cores)",
        ),
    ],
)
def test_options_are_refused_in_words(lab: Path, words: list[str], said: str) -> None:
    done = tailrace("run", str(lab), *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_network_with_fewer_parts_and_a_machine_with_fewer_cores_are_told(
    lab: Path, tmp_path: Path
) -> None:
    plan_of(lab, ("20ms", "60ms"))
    done = tailrace(
        "run",
        str(lab),
        "--jobs",
        "1",
        "--cores",
        "64",
        "--trials",
        "1",
        "--out",
        str(tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr
    assert "--cores 64: the network has 6 parts (arm one): its trials have 6 cores" in done.stderr
    crowded = f"1 at a time have up to 6 threads on {available_cores()} cores"
    assert (crowded in done.stderr) == (available_cores() < 6)
    assert {
        trial.get("cores") for trial in trials(tmp_path / "out").values() if "digest" in trial
    } == {6}


def test_an_explanation_says_that_it_has_one_core(lab: Path, tmp_path: Path) -> None:
    words = [
        "--cores",
        "2",
        "--explain",
        "--trials",
        "1",
        "--arm",
        "one",
        "--out",
        str(tmp_path / "out"),
    ]
    done = tailrace("run", str(lab), *words)
    assert done.returncode == 0, done.stderr
    assert "--cores 2: trials have 2 cores, their explanations one" in done.stderr


def test_one_switch_has_nothing_to_divide(lab: Path) -> None:
    star = ("{kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 2, uplink_rate: 20Gbit/s}",
            "{kind: star, switch: leaf, hosts: [h1, h2, h4, h5, h7, h8]}")  # fmt: skip
    trial = _native.Trial(plan_of(lab, star), 2)
    with pytest.raises(_native.NotDivided) as refused:
        trial.parts(2)
    what, _hint, *about = refused.value.args
    assert ("one switch" in what, about) == (True, [None, None])


def test_trials_share_the_cores_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.experiment.cores.available_cores", lambda: 8)
    assert [cores_of_each(None, at_once) for at_once in (1, 3, 4, 5, 8)] == [
        Cores(8, is_automatic=True),
        Cores(2, is_automatic=True),
        Cores(2, is_automatic=True),
        ONE,
        ONE,
    ]
    assert cores_of_each(3, 8) == Cores(3)


@pytest.mark.smoke
def test_a_short_trial_keeps_one_core_by_itself(lab: Path) -> None:
    trial = _native.Trial(plan_of(lab), 2, True)
    alone = _native.Trial(plan_of(lab))
    digests = [json.loads("".join(one.run()[0]))["digest"] for one in (trial, alone)]
    assert (trial.cores(), digests[0]) == (1, digests[1])


def test_a_trial_on_several_cores_is_watched_and_cancelled(lab: Path) -> None:
    trial = _native.Trial(plan_of(lab, ("duration: 20ms", "duration: 1h")), 2)
    ended: list[str] = []
    runner = threading.Thread(target=lambda: ended.append("".join(trial.run()[0])))
    runner.start()
    until_s = time.monotonic() + 60
    while not 0 < trial.progress() < 1:
        assert time.monotonic() < until_s
        time.sleep(0.01)
    trial.cancel()
    runner.join(60)
    assert not runner.is_alive(), "it would go on for hours"
    assert json.loads(ended[0])["cancelled"]


def test_ctrl_c_ends_all_parts_of_a_trial(lab: Path, tmp_path: Path) -> None:
    plan_of(lab, ("duration: 20ms", "duration: 1h"))
    out = tmp_path / "out"
    words = ["run", str(lab), "--jobs", "1", "--cores", "2", "--out", str(out), "--json"]
    command = [sys.executable, "-m", "tailrace", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stderr is not None
        while "progress" not in program.stderr.readline():
            assert program.poll() is None
        os.kill(program.pid, signal.SIGINT)
        program.communicate(timeout=60)
    assert program.returncode == 130
    shutil.rmtree(out)
