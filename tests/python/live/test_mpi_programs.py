"""Programs of MPI jobs: how Open MPI starts ranks, what ranks write, what NetPIPE and hpcc tell,
what is refused."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from mpi_of import launch, planned, refusals, write_rank
from tailrace.live.load import Task
from tailrace.live.programs.netpipe import NetPipe
from tailrace.programs import command, hpcc, mpi, netpipe, open_mpi
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import MeasuredInterval
from tailrace.results.kinds.mpi import _row
from tailrace.scenario.workloads.mpi_checks import ALGORITHMS

BEGUN_NS = 1_000_000_000_000
INTERVAL = MeasuredInterval(BEGUN_NS // 1000, 1.0)
US_NS = 1000
PS_PER_US = 10**6


# --- how ranks are started ------------------------------------------------------------------------


def options(**keys: Any) -> dict[str, str]:
    return launch(planned(**keys), Path("/x")).parameters()


def test_every_rank_has_a_line_with_its_host() -> None:
    work = planned(hosts=["a", "b", "c"], ranks=5, pattern="barrier")
    assert launch(work, Path("/x")).hostfile().split() == ["a", "b", "c", "a", "b"]
    assert launch(
        planned(hosts=["a", "b"], ranks=2, map_by="slot"), Path("/x")
    ).hostfile().split() == ["a", "b"]
    assert planned(hosts=["a", "b", "c"]).ranks == ["a", "b"], "a pingpong has two ranks"


def test_the_interface_ports_and_limit_of_the_plan_are_those_of_open_mpi() -> None:
    found = options(eager_limit="1000B")
    assert (found["btl_tcp_if_include"], found["oob_tcp_if_include"]) == ("eth0", "eth0")
    assert (found["btl_tcp_port_min_v4"], found["btl_tcp_port_range_v4"]) == ("5201", "2")
    assert found["btl_tcp_eager_limit"] == "1056"
    assert options()["btl_tcp_eager_limit"] == "65536"
    assert "coll_tuned_use_dynamic_rules" not in found


def test_in_a_lab_with_vlans_each_network_has_an_interface() -> None:
    for vlan, device in ((None, "vlan0"), (10, "vlan10")):
        own = replace(
            launch(planned(**({"vlan": vlan} if vlan else {})), Path("/x")), has_vlans=True
        ).parameters()
        assert (own["btl_tcp_if_include"], own["oob_tcp_if_include"]) == (device, device)


@pytest.mark.parametrize(
    ("pattern", "algorithm", "number"),
    [
        ("allreduce", "rabenseifner", "6"),
        ("alltoall", "bruck", "3"),
        ("bcast", "chain", "3"),
        ("barrier", "bruck", "4"),
    ],
)
def test_an_algorithm_has_the_number_of_open_mpi(pattern: str, algorithm: str, number: str) -> None:
    found = options(pattern=pattern, algorithm=algorithm)
    assert found["coll_tuned_use_dynamic_rules"] == "1"
    assert found[f"coll_tuned_{pattern}_algorithm"] == number


def test_every_algorithm_of_scenarios_has_a_number() -> None:
    assert {name: set(known) for name, known in open_mpi.ALGORITHMS.items()} == {
        name: set(known) for name, known in ALGORITHMS.items() if known
    }


def test_the_agent_hands_the_command_of_a_daemon_over(tmp_path: Path) -> None:
    own = launch(planned(priority=3), tmp_path)
    own.agent.write_text(open_mpi.AGENT_TEXT, encoding="utf-8")
    words = [
        "b",
        "orted",
        "--daemonize",
        "-mca",
        "ess",
        '"env"',
        "-mca",
        "orte_node_regex",
        '"a,b@0(2)"',
    ]
    subprocess.run(["/bin/sh", str(own.agent), *words], check=True)
    [(host, told)] = own.asked()
    command = own.daemon(host, told)
    assert list(command.argv) == [
        "orted",
        "-mca",
        "ess",
        "env",
        "-mca",
        "orte_node_regex",
        "a,b@0(2)",
    ]
    assert (command.host, command.priority, command.name) == ("b", 3, "mpi-job-b")
    assert own.asked() == [], "each is started once"


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (
            "mpirun noticed that process rank 1 with PID 0 on node b exited on signal 9 (Killed).",
            "mpi-job: rank 1 on host 'b' was ended by signal 9 (Killed)",
        ),
        (
            "----\nORTE was unable to reliably start one or more daemons.\n",
            "mpi-job: Open MPI failed: ORTE was unable",
        ),
        ("", "mpi-job: Open MPI failed: it wrote no reason"),
    ],
)
def test_a_failed_job_tells_its_reason(errors: str, expected: str) -> None:
    assert open_mpi.complaint(planned(), errors).startswith(expected)


# --- what ranks write -----------------------------------------------------------------------------


def two_ranks(folder: Path, **keys: Any) -> mpi.MpiWork:
    """Two iterations of 8 and one of 16 bytes, of 100, 300 and 500 us at rank 0, and 10 us longer
    at rank 1."""
    work = planned(sizes=["8B", "16B"], iterations=2, volume="16B", **keys)
    assert work.iterations == [2, 1]
    for rank in (0, 1):
        own = [100 + 10 * rank, 300 + 10 * rank, 500 + 10 * rank]
        times = [(BEGUN_NS + at * 1_000_000, took * US_NS) for at, took in enumerate(own)]
        ends = [(2, 1000, 1), (3, 5000, 1)]
        sizes = [
            {
                "bytes": 8 * (at + 1),
                "begun_ns": BEGUN_NS,
                "ended_ns": BEGUN_NS + end * 10**6,
                "received": got,
                "opened": opened,
            }
            for at, (end, got, opened) in enumerate(ends)
        ]
        write_rank(folder, rank, times, sizes)
    return work


def test_times_of_ranks_are_those_of_the_table(tmp_path: Path) -> None:
    work = two_ranks(tmp_path, pattern="ring")
    found = mpi.measured(work, mpi.read(work, tmp_path), INTERVAL, BEGUN_NS)
    assert found.outcome.transactions == 6
    counts, times = found.outcome.request_counts, found.outcome.mpi_times
    assert counts is not None
    assert counts.connections == 2
    assert found.outcome.goodput_bytes == 10_000
    assert found.outcome.completion_ps == (2000 + 510) * PS_PER_US
    assert times is not None
    first, second = times.sizes
    assert (first.repetitions, first.mean_of_ranks_ps) == (
        2,
        [200.0 * PS_PER_US, 210.0 * PS_PER_US],
    )
    assert (second.min_ps, second.max_ps) == (500 * PS_PER_US, 510 * PS_PER_US)
    row = _row("ring", [first])
    assert row is not None
    assert (row.t_min_us, row.t_max_us, row.t_avg_us, row.longest_us) == (200, 210, 205, 310)
    assert row.mb_per_s == pytest.approx(2 * 8 / 210)


def test_only_rank_0_of_a_pingpong_is_timed(tmp_path: Path) -> None:
    work = two_ranks(tmp_path)
    found = mpi.measured(work, mpi.read(work, tmp_path), INTERVAL, BEGUN_NS)
    assert found.outcome.transactions == 3
    assert [row.user for row in found.rows] == [0, 0, 0]
    assert found.outcome.mpi_times is not None
    assert found.outcome.mpi_times.sizes[0].mean_of_ranks_ps == [200.0 * PS_PER_US]


def test_a_job_that_the_trial_cut_off_has_what_it_did(tmp_path: Path) -> None:
    work = two_ranks(tmp_path, pattern="ring")
    told = mpi.read(work, tmp_path)
    found = mpi.measured(work, told, MeasuredInterval(BEGUN_NS // 1000, 0.002), BEGUN_NS)
    assert found.outcome.completion_ps is None
    assert found.outcome.transactions == 4, "the last iteration of both ranks ended later"
    write_rank(tmp_path, 1, [(BEGUN_NS, 5), (0, 0), (0, 0)], [])
    assert [len(size) for size in mpi.read(work, tmp_path)[1].iterations] == [1, 0]


def test_missing_or_short_files_fail_the_trial(tmp_path: Path) -> None:
    work = two_ranks(tmp_path)
    write_rank(tmp_path, 1, [(1, 2)], [])
    with pytest.raises(ProgramError, match="the times of rank 1 have 16 bytes"):
        mpi.read(work, tmp_path)
    with pytest.raises(ProgramError, match="mpi-job: rank 0 has not written its times"):
        mpi.read(work, tmp_path / "elsewhere")


def test_computing_times_are_drawn_by_rank() -> None:
    work = planned(
        compute="uniform(10us, 20us)", sizes=["8B"], iterations=100, warm_up_iterations=1
    )
    first, second = work.job((1, 1), None)["compute_ns"]
    assert len(first) == 101
    assert first != second
    assert all(10_000 <= each <= 20_000 for each in first)
    assert planned().job((1, 1), None)["compute_ns"] is None
    assert planned(compute="500ns").job((1, 1), None)["compute_ns"][0][0] == 500


# --- NetPIPE and hpcc -----------------------------------------------------------------------------


def test_netpipe_tells_a_time_for_the_size_that_it_was_asked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("    1024 598.611619   0.00001305\n", encoding="ascii")
    assert netpipe.one_way_ps("job", out, 1024) == 13_050_000
    with pytest.raises(ProgramError, match="no result of 512 bytes, but 1024"):
        netpipe.one_way_ps("job", out, 512)
    with pytest.raises(ProgramError, match="ended without its results"):
        netpipe.one_way_ps("job", tmp_path / "none", 512)
    assert netpipe.argv(8, 50, out)[1:9] == ["-l", "8", "-u", "8", "-p", "0", "-n", "50"]


def test_netpipe_tells_the_time_one_way(tmp_path: Path) -> None:
    work = planned(sizes=["8B"], iterations=50, load_generator="netpipe")
    load = NetPipe(Task(work.raw, 7, 1.0))
    load.folder = tmp_path
    load.starters = [cast("Any", Ended())]
    (tmp_path / "netpipe-8.out").write_text("8 1.0 0.00005\n", encoding="ascii")
    assert load.found() == [(50, 100 * PS_PER_US, 100 * PS_PER_US, 100 * PS_PER_US)]
    times = load.measured(INTERVAL).outcome.mpi_times
    assert times is not None
    [size] = times.sizes
    assert (size.repetitions, size.mean_of_ranks_ps) == (50, [100 * PS_PER_US])


class Ended:
    """A program that has ended well."""

    ended = command.Ended(0, None, 0.0, 0.0, 0, 1.0)


SUMMARY = """MaxPingPongLatency_usec=3
Begin of Summary section.
Success=1
MinPingPongLatency_usec=28.5
AvgPingPongLatency_usec=30
MaxPingPongLatency_usec=32
MinPingPongBandwidth_GBytes=0.4
AvgPingPongBandwidth_GBytes=0.5
MaxPingPongBandwidth_GBytes=1
HPL_Tflops=0.1
End of Summary section.
"""


def test_hpcc_tells_two_sizes(tmp_path: Path) -> None:
    (tmp_path / hpcc.OUTPUT).write_text(SUMMARY, encoding="ascii")
    found = hpcc.figures("job", tmp_path)
    assert hpcc.one_way_ps(found, 8) == (28_500_000, 30_000_000, 32_000_000)
    assert hpcc.one_way_ps(found, 2_000_000) == (
        2000 * PS_PER_US,
        4000 * PS_PER_US,
        5000 * PS_PER_US,
    )
    assert "HPL" not in hpcc.summary(found)
    (tmp_path / hpcc.OUTPUT).write_text(SUMMARY.replace("Success=1", "Success=0"), encoding="ascii")
    with pytest.raises(ProgramError, match="reports no success"):
        hpcc.figures("job", tmp_path)
    assert hpcc.input_text(2).splitlines()[11].split()[0] == "2", "the grid has all ranks"


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "key", "what"),
    [
        ({"pattern": "ring", "load_generator": "netpipe"}, ".pattern", "NetPIPE has no ring"),
        ({"sizes": ["0B", "8B"], "load_generator": "netpipe"}, ".sizes.0", "no message of 0 bytes"),
        (
            {"sizes": ["8B", "1kB"], "load_generator": "hpcc"},
            ".sizes.1",
            "hpcc measures 8B and 2000000B, and not 1000B",
        ),
        (
            {"compute": "1us", "sizes": ["8B"], "load_generator": "hpcc"},
            ".compute",
            "do not compute",
        ),
        ({"pattern": "ring", "ranks": 33}, ".ranks", "33 ranks of a live run are processes"),
        ({"pattern": "ring", "sizes": ["1GiB"]}, ".sizes", "more than the 1 GiB"),
        (
            {"iterations": 1_000_000, "sizes": ["1B", "2B", "4B"]},
            ".iterations",
            "each of its 3000000 iterations",
        ),
    ],
)
def test_what_real_ranks_cannot_do_is_refused_with_its_key(
    keys: dict[str, Any], key: str, what: str
) -> None:
    found = refusals(**keys)
    assert any(each.startswith(f"{key}: ") and what in each for each in found), found


def test_every_pattern_runs_live() -> None:
    for pattern in ("pingpong", "ring", "exchange", "allreduce", "alltoall", "bcast", "barrier"):
        assert refusals(pattern=pattern) == []
