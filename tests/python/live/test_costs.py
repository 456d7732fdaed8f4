"""What programs of a live trial cost, from stand-ins for the kernel's files."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import whole
from tailrace.live.lab.program import Program
from tailrace.live.measure import probe
from tailrace.live.measure.costs import Counted, Share, by_host
from tailrace.live.measure.threads import Figures, Spent, figures_of
from tailrace.live.measure.waits import LAB, Watch
from tailrace.outcome.types import SwitchTimes
from tailrace.programs.command import Ended
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics import processors
from tailrace.results.metrics.costs import cost_rows, summarise_costs
from tailrace.results.summary.hosts import InterfaceLosses

STAT = "77 (odd) name) S 1 77 77 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0"
STATUS = "Name:\todd\nvoluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{involuntary}\n"  # noqa: E501
DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
switch-0:  9000      10    0    3    7     0          0         0    99999   12345    0    4    5     0       0          0
"""  # noqa: E501  lines of /proc/net/dev


def put(folder: Path, pid: int, children: str = "", **figures: int) -> None:
    """A process with one thread."""
    task = folder / str(pid) / "task" / str(pid)
    task.mkdir(parents=True, exist_ok=True)
    (task / "children").write_text(children, encoding="ascii")
    (task / "schedstat").write_text(f"{figures['run_ns']} 0 7\n", encoding="ascii")
    (task / "stat").write_text(STAT.format(**figures), encoding="ascii")
    (task / "status").write_text(STATUS.format(**figures), encoding="ascii")
    (folder / str(pid) / "status").write_text(f"NSpid:\t{pid}\t{pid - 48}\n", encoding="ascii")
    (folder / str(pid) / "comm").write_text(
        "ovs-vswitchd-dp\n" if pid == 51 else "nginx\n", encoding="ascii"
    )


def test_a_threads_time_is_split_by_its_ticks(tmp_path: Path) -> None:
    put(tmp_path, 50, run_ns=8 * 10**9, user=100, system=300, voluntary=5, involuntary=6)
    figures = figures_of(tmp_path / "50" / "task" / "50")
    assert figures == Figures(8 * 10**9, 0, 100, 300, 5, 6)
    assert figures.spent == Spent(2.0, 6.0, 5, 6)
    assert figures_of(tmp_path / "51") is None


def test_what_was_spent_before_the_interval_does_not_count(tmp_path: Path) -> None:
    put(tmp_path, 49, "50 51", run_ns=10**9, user=1, system=0, voluntary=1, involuntary=0)
    put(tmp_path, 50, run_ns=10**9, user=50, system=50, voluntary=100, involuntary=10)
    put(tmp_path, 51, run_ns=10**9, user=100, system=0, voluntary=1, involuntary=1)
    watch = Watch(49, tmp_path)
    watch.begin()
    put(tmp_path, 50, run_ns=3 * 10**9, user=150, system=150, voluntary=130, involuntary=14)
    put(tmp_path, 51, run_ns=2 * 10**9, user=200, system=0, voluntary=1, involuntary=9)
    watch.sample()
    assert watch.spent()[2] == Spent(1.0, 1.0, 30, 4)
    assert watch.before()[2] == Spent(0.5, 0.5, 100, 10)
    assert watch.daemons() == {3: "ovs-vswitchd-dp"}
    assert LAB not in watch.waited()
    counted = Counted.at_end(watch, [])
    assert counted.switch("ovs-dpdk") == SwitchTimes(
        program="ovs-vswitchd-dp",
        user_ps=10**12,
        system_ps=0,
        voluntary_switches=0,
        involuntary_switches=8,
    )


def test_a_program_that_has_ended_is_counted_to_its_end() -> None:
    ended = {7: Ended(0, None, 3.0, 2.0, 0, 9.0, voluntary_switches=50, involuntary_switches=20)}
    counted = Counted({7: Spent(1.0, 1.0, 10, 10)}, {7: Spent(0.5, 0.5, 5, 5)}, ended, {})
    assert counted.of(7) == Spent(2.5, 1.5, 45, 15)
    assert counted.of(8) == Spent()
    assert counted.switch("bridge") is None, "the kernel's bridge is no program"


def program(pid: int, host: str) -> Program:
    return cast("Program", SimpleNamespace(pid=pid, command=SimpleNamespace(host=host)))


def test_a_server_is_charged_by_its_users() -> None:
    counted = Counted({1: Spent(4.0, 0.0, 40, 4), 2: Spent(1.0, 0.0, 3, 0)}, {}, {}, {})
    shares = [Share(program(2, "client"), "pages"), Share(program(1, "web"), "pages", 0.75)]
    found = by_host(counted, [*shares, Share(program(1, "web"), "files", 0.25)])
    assert [(row.name, row.voluntary_switches) for row in found["web"]] == [
        ("pages", 30),
        ("files", 10),
    ]
    assert found["client"][0].user_ps == 10**12


def test_overruns_and_queues_of_the_cores_are_read() -> None:
    found = probe.parse_interfaces(DEV)
    assert found == {
        "switch-0": {
            "rx_frames": 10,
            "rx_dropped": 3,
            "rx_overruns": 7,
            "tx_frames": 12345,
            "tx_dropped": 4,
            "tx_overruns": 5,
        }
    }
    assert probe.parse_backlog("0000000a 00000002 00000001 0\n00000010 00000000 00000000 0\n") == {
        "received": 26,
        "dropped": 2,
        "squeezed": 1,
    }


def test_the_machines_time_is_told_by_kind() -> None:
    before = probe.parse_cpu(
        "cpu  100 10 20 300 5 1 4 2 0 0\ncpu0 100 10 20 300 5 1 4 2 0 0\nctxt 1000\n"
    )
    after = probe.parse_cpu(
        "cpu  160 20 40 400 10 2 9 7 0 0\ncpu0 160 20 40 400 10 2 9 7 0 0\nctxt 4500\n"
    )
    found = after.used_since(before).machine
    assert found == {
        "context_switches": 3500,
        "user_ps": 70 * 10**10,
        "system_ps": 20 * 10**10,
        "idle_ps": 105 * 10**10,
        "softirq_ps": 6 * 10**10,
        "steal_ps": 5 * 10**10,
    }


def trial() -> Trial:
    row = {
        "user_ps": 10**12,
        "system_ps": 10**12,
        "voluntary_switches": 300,
        "involuntary_switches": 100,
    }
    none = dict.fromkeys(("rx_dropped", "rx_overruns", "tx_dropped", "tx_overruns"), 0)
    machine = {f"{kind}_ps": 10**12 for kind in ("user", "system", "softirq", "steal", "idle")}
    live = {
        "span_s": 2.0,
        "machine": machine | {"context_switches": 1000, "backlog": {"dropped": 4, "squeezed": 0}},
        "switch": row | {"program": "ovs-vswitchd"},
        "neighbours": {"neighbour-web-noise": row},
        "interfaces": {"hosts": {"web": none}, "switch": {"switch-0": none | {"rx_overruns": 9}}},
    }
    hosts = [{"name": "web", "programs": [row | {"name": "pages"}]}]
    workloads = [{"name": "pages", "transactions": 200}]
    return whole.trial(live=live, end_ps=2 * 10**12, hosts=hosts, workloads=workloads)


def test_costs_are_told_in_total_and_for_each_request() -> None:
    costs = summarise_costs([trial(), trial()])
    assert costs is not None
    pages = costs.programs["pages/web"]
    assert (pages.switches_per_request, pages.cpu_us_per_request) == (2.0, 10_000.0)
    assert (pages.voluntary_per_s, pages.user_cores) == (150.0, 0.5)
    assert costs.switch is not None
    assert costs.switch.switches_per_request == 2.0
    assert (costs.machine.switches_per_s, costs.machine.switches_per_request) == (500.0, 5.0)
    lost = InterfaceLosses(rx_dropped=0, rx_overruns=9, tx_dropped=0, tx_overruns=0)
    assert costs.losses == {"switch-0": lost}
    assert costs.neighbours["neighbour-web-noise"].switches_per_request is None
    rows = cost_rows([("base", costs), ("none", None)], str)
    assert [row[:2] for row in rows[1:]] == [
        ["base", "pages/web"],
        ["base", "switch"],
        ["base", "neighbour-web-noise"],
        ["base", "machine"],
    ]


@pytest.mark.parametrize(
    ("metric", "expected"), [("switches_per_transaction", 2.0), ("cpu_us_per_transaction", 1e4)]
)
def test_metrics_of_programs_are_those_of_modelled_processors(metric: str, expected: float) -> None:
    assert processors.workload_figure(trial(), "pages", metric) == expected
