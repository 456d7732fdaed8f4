"""Ranks of MPI with real programs, from the command line to the results."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("mpi.yaml")
LOADED = machine.ROOT / "examples" / "live" / "mpi.yaml"
RUN_LIMIT_S = 280
START_LIMIT_S = 180
PATTERNS = ("ring", "exchange", "allreduce", "alltoall", "bcast", "barrier")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of a run of one arm, which leaves the machine as it was."""
    out = tmp_path_factory.mktemp("mpi") / "run"
    return machine.finished_run(SCENARIO, out, RUN_LIMIT_S, "--arm", "base")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of one run of all other arms, which leaves the machine as it was."""
    out = tmp_path_factory.mktemp("mpi") / "run"
    arms = [word for arm in (*PATTERNS, "netpipe") for word in ("--arm", arm)]
    machine.finished_run(SCENARIO, out, RUN_LIMIT_S, *arms)
    return out


def outcome(run: Path, arm: str) -> dict[str, Any]:
    found: dict[str, Any] = read_trial(run / "trials" / arm / "1.json")
    return found


def job(run: Path, arm: str) -> dict[str, Any]:
    [own] = outcome(run, arm)["workloads"]
    return dict(own)


def test_every_iteration_of_a_pingpong_counts_and_crosses_the_network(base: dict[str, Any]) -> None:
    [own] = base["workloads"]
    sizes = own["mpi_times"]["sizes"]
    assert [(one["bytes"], one["repetitions"]) for one in sizes] == [
        (8, 40),
        (1000, 40),
        (100_000, 40),
    ]
    assert own["transactions"] == own["latency"]["count"] == 120
    assert own["completion_ps"] is not None
    # Its bytes there and back, at 50 Mbit/s.
    assert sizes[2]["min_ps"] > 2 * 100_000 * 8 / 50e6 * 1e12
    messages = 2 * (40 + 4) * (8 + 1000 + 100_000)
    assert messages < own["goodput_bytes"] < 1.01 * messages + 20_000, (
        "messages, headers, and nothing twice"
    )
    assert own["request_counts"]["connections"] == 1
    assert own["tcp"]["segments_sent"] > 40 * 100_000 / 1448


def test_frames_have_the_priority_of_the_workload(base: dict[str, Any]) -> None:
    programs = base["live"]["programs"]["commands"]
    assert sorted(programs) == ["mpi-pair", "mpi-pair-b"]
    [port] = [port for port in base["ports"] if port["towards"] == "b"]
    sent = {queue["name"]: queue["tx_bytes"] for queue in port["queues"]}
    assert sent["jobs"] > (40 + 4) * (8 + 1000 + 100_000) > 100 * sent["normal"]
    assert (
        not any("ranks share" in text for text in base["live"]["warnings"])
        or len(os.sched_getaffinity(0)) < 2
    )


@pytest.mark.slow
@pytest.mark.parametrize("arm", PATTERNS)
def test_every_pattern_ends_with_exact_counts(run: Path, arm: str) -> None:
    own = job(run, arm)
    ranks = 4 if arm == "ring" else 3
    assert own["mpi_times"]["ranks"] == ranks
    for one in own["mpi_times"]["sizes"]:
        assert (one["repetitions"], one["ranks"], len(one["mean_of_ranks_ps"])) == (
            40,
            ranks,
            ranks,
        )
    assert own["transactions"] == 40 * ranks * len(own["mpi_times"]["sizes"])
    assert own["request_counts"]["connections"] >= 2
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["versions"]["mpirun"].startswith("4.1")


@pytest.mark.slow
def test_an_algorithm_is_that_of_the_scenario(run: Path) -> None:
    words = outcome(run, "allreduce")["live"]["programs"]["commands"]["mpi-pair"]
    assert words[words.index("coll_tuned_allreduce_algorithm") + 1] == "4"


@pytest.mark.slow
def test_more_ranks_than_cores_are_told(run: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    warnings = " ".join(outcome(run, "ring")["live"]["warnings"])
    assert (f"4 ranks share {cores} cores: its times measure the scheduler" in warnings) == (
        cores < 4
    )


@pytest.mark.slow
def test_netpipe_measures_each_size_by_itself(run: Path) -> None:
    own = job(run, "netpipe")
    require_times(own, [8, 1000], 50e6)
    assert len(outcome(run, "netpipe")["live"]["programs"]["commands"]) == 4, (
        "a starter and a daemon for each size"
    )


@pytest.mark.slow
def test_hpcc_measures_two_sizes_and_tells_its_rings(tmp_path: Path) -> None:
    found = machine.finished_run(SCENARIO.with_name("mpi-hpcc.yaml"), tmp_path / "run", RUN_LIMIT_S)
    [own] = found["workloads"]
    require_times(own, [8, 2_000_000], 1e9)
    assert "RandomlyOrderedRingLatency" in found["live"]["programs"]["reports"]["pair"]


def require_times(own: dict[str, Any], sizes: list[int], rate_bps: float) -> None:
    """A round trip takes longer than its bytes; these programs tell no single iteration."""
    found = own["mpi_times"]["sizes"]
    assert [one["bytes"] for one in found] == sizes
    for one in found:
        assert one["mean_of_ranks_ps"][0] > 2 * one["bytes"] * 8 / rate_bps * 1e12
    assert own["latency"] is None


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run of the example, in which streams meet the pingpong at its second
    host."""
    out = tmp_path_factory.mktemp("loaded") / "run"
    machine.run_live(LOADED, out)
    return out


def of_job(run: Path, arm: str) -> dict[str, Any]:
    """The job of an arm that has streams as well."""
    [own] = [each for each in outcome(run, arm)["workloads"] if each["name"] == "job"]
    return dict(own)


def drops(run: Path, arm: str) -> int:
    """Frames that the switch dropped."""
    queues = [queue for port in outcome(run, arm)["ports"] for queue in port["queues"]]
    return sum(cause["frames"] for queue in queues for cause in queue["drops"].values())


@pytest.mark.slow
def test_streams_in_the_priority_of_a_job_delay_it_and_drop_its_frames_without_pauses(
    loaded: Path,
) -> None:
    alone, beside, paused = (
        of_job(loaded, arm)["latency"]["p50_ps"] for arm in ("alone", "beside", "beside-pfc")
    )
    # 50 kB, where pauses begin, are 8 ms at 50 Mbit/s; most of the time more than half of them
    # wait.
    assert min(beside, paused) > alone + 4 * 10**9
    assert drops(loaded, "alone") == 0 < drops(loaded, "beside")


@pytest.mark.slow
def test_with_pauses_no_frame_of_a_job_is_dropped(loaded: Path) -> None:
    assert drops(loaded, "beside-pfc") == 0
    assert of_job(loaded, "beside-pfc")["transactions"] == 200
    groups = [group for port in outcome(loaded, "beside-pfc")["ports"] for group in port["groups"]]
    assert sum(group["xoff_sent"] for group in groups) > 0


@pytest.mark.slow
def test_the_connections_of_jobs_are_in_their_vlans(tmp_path: Path) -> None:
    found = machine.finished_run(
        SCENARIO.with_name("mpi-vlans.yaml"), tmp_path / "run", RUN_LIMIT_S
    )
    assert [each["transactions"] for each in found["workloads"]] == [2 * 20, 2 * 20, 20]
    sent = {port["towards"]: port["tx_bytes"] for port in found["ports"] if port["node"] == "leaf1"}
    # VLAN 20 has a spine of its own. Messages: 20 + 4 of each size.
    assert 24 * (101_000 + 1000) < sent["spine1"] < 1.2 * 24 * (101_000 + 1000)
    assert 24 * 1000 < sent["spine2"] < 24 * 1000 + 40_000


@pytest.mark.slow
def test_a_rank_that_is_killed_fails_the_trial_and_leaves_nothing(tmp_path: Path) -> None:
    out, before = tmp_path / "run", machine.picture()
    scenario = tmp_path / "long.yaml"
    text = SCENARIO.read_text(encoding="utf-8")
    text = text[: text.index("arms:")] + text[text.index("experiment:") :]
    scenario.write_text(
        text.replace("iterations: 40", "iterations: 100000, volume: 10GiB"), encoding="utf-8"
    )
    words = [*machine.TAILRACE, "run", "--live", str(scenario), "--out", str(out)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        os.kill(rank_of(out), signal.SIGKILL)
        said, _ = running.communicate(timeout=RUN_LIMIT_S)
    assert running.returncode != 0
    assert "mpi-pair: rank 1 on host 'b' was ended by signal 9" in " ".join(said.split())
    assert machine.wait_until_gone(str(out)) == []
    assert machine.picture() == before


def rank_of(out: Path) -> int:
    """The process of rank 1, once the ranks measure."""
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if list(out.glob("live/*/logs/mpi-files-pair/go")):
            for folder in Path("/proc").iterdir():
                if folder.name.isdecimal() and is_rank_1(folder, out):
                    return int(folder.name)
        time.sleep(0.2)
    pytest.fail("no rank was seen")


def is_rank_1(folder: Path, out: Path) -> bool:
    """Whether a process below /proc is rank 1 of this run."""
    try:
        line = (folder / "cmdline").read_bytes()
        variables = (folder / "environ").read_bytes()
    except OSError:  # it ended meanwhile
        return False
    return (
        str(out).encode() in line
        and b"mpi_rank.py\0" in line
        and b"OMPI_COMM_WORLD_RANK=1\0" in variables
    )
