"""The program that draws the simulator's numbers, over the sockets of a lab: the same things happen
as simulated."""

import itertools
import json
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tailrace._native import Trial
from tailrace.live.lab.fabric import program
from tailrace.live.lab.lab import Lab
from tailrace.programs.command import Command
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

SCENARIO = Path(__file__).with_name("traffic.yaml")
TRAFFIC = program().with_name("tailrace-traffic")
LEAD_NS = 2 * 10**9
"""From the start of the programs to time zero."""
LIMIT_S = 100.0
ORDERS, URGENT, WEB, COPY, PINGS = range(5)
Row = tuple[int, int, int, int, int]
"""Workload, user, start, latency, and size of a flow."""
COLUMNS = ("workload", "user", "start_ps", "latency_ps", "size_bytes")


@dataclass(frozen=True)
class Done:
    """What a trial told: its summary, its transactions, and the ports of the lab's switch."""

    summary: dict[str, Any]
    rows: list[Row]
    ports: list[dict[str, Any]]

    def of(self, workload: int) -> list[Row]:
        """Its transactions."""
        return [row for row in self.rows if row[0] == workload]


@pytest.fixture(scope="module")
def plan() -> str:
    """The plan of the only arm."""
    return canonical_json(lower(load_scenario(SCENARIO).arms["fifo"], "fifo", 1))


@pytest.fixture(scope="module")
def live(plan: str, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """One trial in a lab."""
    folder = tmp_path_factory.mktemp("traffic")
    names = [host["name"] for host in json.loads(plan)["hosts"]]
    with Lab(plan, folder / "lab") as lab:
        begin_ns = time.time_ns() + LEAD_NS
        words = [
            str(TRAFFIC),
            "guest",
            "--plan",
            str(folder / "lab" / "plan.json"),
            "--out",
            str(folder),
        ]
        started = [
            lab.start(
                Command(name, [*words, "--host", name, "--begin-ns", str(begin_ns)], host=name)
            )
            for name in names
        ]
        deadline = time.monotonic() + LIMIT_S
        while not all((folder / f"{name}.finished").is_file() for name in names):
            ended = [each.complaint() for each in started if each.ended is not None]
            assert not ended
            assert time.monotonic() < deadline
            time.sleep(0.05)
        for each in started:
            each.signal("TERM")
        for each in started:
            each.require(LIMIT_S)
        ports = lab.call("counters")["outcome"]["ports"]
    records = [str(folder / f"{name}.traffic") for name in names]
    merged = subprocess.run(
        [str(TRAFFIC), "merge", "--plan", str(folder / "lab" / "plan.json"), *records],
        check=True,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    summary = json.loads(merged.stdout)
    table = summary["tables"]["transactions"]
    return Done(summary, list(zip(*(table[name] for name in COLUMNS), strict=True)), ports)


@pytest.fixture(scope="module")
def simulated(plan: str) -> Done:
    """The same trial, simulated."""
    pieces, _, tables = Trial(plan).run()
    columns = (list(numbers(*tables["transactions"][name])) for name in COLUMNS)
    summary = json.loads("".join(pieces))
    return Done(summary, list(zip(*columns, strict=True)), summary["ports"])


def numbers(kind: str, values: bytes) -> Iterator[int]:
    """A column of whole numbers."""
    return (number for (number,) in struct.iter_unpack({"u32": "<I", "u64": "<Q"}[kind], values))


def pauses(rows: list[Row]) -> dict[int, list[int]]:
    """By user, from the end of each transaction to the start of the next."""
    by_user: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row[2]):
        by_user.setdefault(row[1], []).append(row)
    pairs = {user: itertools.pairwise(own) for user, own in by_user.items()}
    return {
        user: [after[2] - before[2] - before[3] for before, after in each]
        for user, each in pairs.items()
    }


def test_the_trial_is_complete_and_nothing_failed(live: Done) -> None:
    assert live.summary["finished"]
    assert [host["failures"] for host in live.summary["hosts"]] == [[], [], []]
    assert [workload["cut_off"]["count"] for workload in live.summary["workloads"][:WEB]] == [0, 0]


@pytest.mark.parametrize("workload", [ORDERS, URGENT])
def test_users_pause_as_long_as_simulated(live: Done, simulated: Done, workload: int) -> None:
    assert pauses(live.of(workload)) == pauses(simulated.of(workload))
    told = [done.summary["workloads"][workload] for done in (live, simulated)]
    for key in ("transactions", "goodput_bytes"):
        assert told[0][key] == told[1][key] > 0


def test_flows_and_datagrams_come_as_simulated(live: Done, simulated: Done) -> None:
    flows = [sorted((row[2], row[4]) for row in done.of(WEB)) for done in (live, simulated)]
    assert flows[0] == flows[1]
    assert len(flows[0]) == 60
    sent = [sorted(row[2] for row in done.of(PINGS)) for done in (live, simulated)]
    # The last may be on its way when the trial ends, and the system may have been late with others.
    assert set(sent[0][:-10]) <= set(sent[1])
    assert len(sent[0]) > 50


def test_nothing_is_quicker_than_its_line(live: Done) -> None:
    table = live.summary["tables"]["transactions"]
    ideal = table["ideal_ps"]
    assert all(latency >= least for latency, least in zip(table["latency_ps"], ideal, strict=True))
    assert sum(ideal) > 0
    first = live.summary["tables"]["first_bytes"]
    assert all(wait > 0 for wait in first["first_byte_ps"])


def test_a_stream_keeps_to_its_rate(live: Done) -> None:
    copy = live.summary["workloads"][COPY]
    # Each connection may be a write behind or ahead: 131072 bytes where the scenario says nothing.
    offered = 10e6 / 8 * live.summary["end_ps"] / 1e12
    assert abs(copy["goodput_bytes"] - offered) < 4 * 131_072
    assert len(copy["connection_bytes"]) == 2


def test_tcp_tells_what_it_did(live: Done) -> None:
    orders = live.summary["workloads"][ORDERS]["tcp"]
    # Two requests and 3 + 6 segments of answers in each of 120 transactions; segments of 1448
    # bytes.
    assert orders["segments_sent"] - orders["retransmits"] == 120 * (2 + 3 + 6)
    table = live.summary["tables"]["tcp_samples"]
    sides = zip(table["side"], table["workload"], strict=True)
    assert {side for side, workload in sides if workload == ORDERS} == {0, 1}


def test_packets_carry_the_marks_of_their_workload(live: Done) -> None:
    queues = {
        (port["towards"], queue["name"]): queue["tx_bytes"]
        for port in live.ports
        for queue in port["queues"]
    }
    answers = 2 * 20 * 10_000
    assert answers < queues["app", "urgent"] < answers * 1.2
    assert queues["db", "low"] >= live.summary["workloads"][COPY]["goodput_bytes"]
