"""Recorded requests over sockets of the real kernel: their sizes and boundaries, pauses as the
fabric saw them, and an explanation that adds up.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import machine
from tailrace.results import Run
from tailrace.scenario.workloads.recording import Recorded, read_recording
from tailrace.timeline.crossings import CLIENT, SERVER, Connection, Crossing
from tailrace.timeline.explained import explain_live, seen_connections
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("replay.yaml")
RECORDED = read_recording(SCENARIO.with_name("replay.csv")).connections
HEADERS = 66
"""Bytes of Ethernet, IPv4 and TCP with timestamps."""
SYN_BYTES = 8
"""By which a frame with SYN is longer than one with timestamps alone."""
WORKLOADS = ("shop", "timed")
WIRE_BYTES = len(WORKLOADS) * sum(
    2 * SYN_BYTES + sum(one.request_bytes + one.response_bytes for one in requests)
    for requests in RECORDED
)
RUNS_MAX = 3
"""TCP sends again what a program without a core does not acknowledge in time. Bytes do not tell
such segments apart."""
NOISE_PS = 20 * 10**9
"""Median lateness of a shared machine at most; an idle one has tens of microseconds."""
PS_PER_NS = 1000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with an ingress log, in which TCP sent nothing twice: by its own count, and by the
    bytes on the wire, since handshakes and probes that a busy machine lets it repeat are not
    counted.
    """
    seen = []
    for _ in range(RUNS_MAX):
        out = tmp_path_factory.mktemp("replay") / "run"
        machine.run_live(SCENARIO, out, "--log-ingress")
        assert machine.wait_until_gone(str(out)) == []
        run = Run.read(out)
        counted = sum(workload["tcp"]["retransmits"] for workload in outcome(run)["workloads"])
        more_bytes = wire_bytes(run) - WIRE_BYTES
        if not counted and not more_bytes:
            return run
        seen.append(f"{counted} segments, {more_bytes:+} bytes")
    pytest.fail(f"TCP sent again, in each of {RUNS_MAX} runs: {'; '.join(seen)}")


def outcome(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = read_trial(run.path / "trials" / "base" / "1.json")
    return found


def wire_bytes(run: Run) -> int:
    """Bytes beyond the headers of all frames of both workloads."""
    total = 0
    for name in WORKLOADS:
        ports = outcome(run)["live"]["client_ports"][name]
        own = [
            one
            for one in seen_connections(run, run.with_outcome("base")[0], name)
            if one.client[1] in ports
        ]
        crossings = [
            crossing for one in own for side in (SERVER, CLIENT) for crossing in one.to[side]
        ]
        total += sum(max(0, crossing.bytes - HEADERS) for crossing in crossings)
    return total


def exchanges(
    one: Connection, requests: tuple[Recorded, ...]
) -> Iterator[tuple[Crossing, Crossing]]:
    """For each recorded request its first frame, and the last frame of its response, by counting
    bytes."""
    up, down = (
        [crossing for crossing in one.to[side] if crossing.bytes > HEADERS]
        for side in (SERVER, CLIENT)
    )
    up, down = (
        sorted(of, key=lambda crossing: crossing.begun_ps)[1:] for of in (up, down)
    )  # without the SYN
    for request in requests:
        yield up[0], take(down, request.response_bytes)[-1]
        take(up, request.request_bytes)
    assert (up, down) == ([], []), "nothing more was sent"


def take(of: list[Crossing], size: int) -> list[Crossing]:
    """The frames that have so many bytes, no more and no less."""
    taken = []
    while size:
        taken.append(of.pop(0))
        size -= taken[-1].bytes - HEADERS
    return taken


def test_every_request_is_answered(run: Run) -> None:
    count, size = (
        sum(map(len, RECORDED)),
        sum(one.response_bytes for requests in RECORDED for one in requests),
    )
    for workload in outcome(run)["workloads"]:
        assert (workload["transactions"], workload["goodput_bytes"]) == (count, size)
        assert workload["cut_off"]["count"] == 0
    assert all(
        "late on average" in text for text in outcome(run)["live"]["programs"]["reports"].values()
    )


def test_frames_on_the_wire_have_the_recorded_boundaries_and_pauses(run: Run) -> None:
    late_ps = []
    begun_ps = outcome(run)["live"]["offsets_ps"]
    ports = outcome(run)["live"]["client_ports"]
    for name in WORKLOADS:
        by_port = {
            one.client[1]: one for one in seen_connections(run, run.with_outcome("base")[0], name)
        }
        for port, requests in zip(ports[name], RECORDED, strict=True):
            found = list(exchanges(by_port[port], requests))
            for place, (request, (first, _)) in enumerate(zip(requests, found, strict=True)):
                at_ps = begun_ps[name] + request.start_ns * PS_PER_NS
                if name == "shop" and place:
                    at_ps = found[place - 1][1].delivered_ps + request.think_ns * PS_PER_NS
                if name == "timed" and place:
                    at_ps = max(at_ps, found[place - 1][1].delivered_ps)
                late_ps.append(first.begun_ps - at_ps)
    assert min(late_ps) > -100 * 10**6, "none begins before its time"
    assert median(late_ps) < NOISE_PS


def test_the_explanation_adds_up_to_the_logged_latency(run: Run) -> None:
    found = explain_live(run, run.with_outcome("base")[0], [], 3)
    assert found.is_same
    for of in found.workloads.values():
        assert (of.unknown, of.unseen) == (0, 0)
        assert len(of.transactions) == sum(map(len, RECORDED))
        for one in of.transactions:
            assert sum(one.parts.values()) == one.latency_ps
            assert one.parts["serialisation"] > 0, "its request and its response crossed the fabric"
    told = json.loads(machine.tailrace("explain", str(run.path), "--json").stdout)
    assert told["measured_by"] == "fabric"
    summary = json.loads((run.path / "result.json").read_text())
    causes = summary["arms"]["base"]["workloads"]["shop"]["causes"]
    assert causes["is_live"], "the run has explained itself"
    assert causes["transactions"] == sum(map(len, RECORDED))
