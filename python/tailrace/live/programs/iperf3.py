"""iperf3: bulk streams and datagrams.

A stream with an end has a process for each connection, one without an end has one process for all.
Both ends bind to their host's address; the server serves one test and ends.
"""

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Command, Program

PROGRAM = "iperf3"
FIRST_PORT = 5201
INTERVAL_S = 0.5
"""Length of the intervals that iperf3 reports; they make the series of goodput."""
PS_PER_S = 10**12
BLOCK_BYTES = 131_072
"""iperf3 writes this much at a time, and its count of bytes ends with a whole write."""
LISTEN_LIMIT_S = 10.0
POLL_S = 0.02
TIME_S_MAX = 86_400
"""Longest test of iperf3."""


@dataclass(frozen=True)
class Pair:
    """One client and its server."""

    name: str
    source: str
    destination: str
    port: int
    arguments: tuple[str, ...]
    """Of the client, besides addresses and format."""
    delay_s: float
    """From the beginning of the trial."""
    is_finite: bool
    priority: int | None
    vlan: int
    """0 for none."""
    dscp: int | None = None
    """Of its connections; datagrams are marked by iperf3 itself."""
    connections: int = 1
    """That carry data."""

    def server(self, address: str) -> Command:
        """The receiving end."""
        argv = [PROGRAM, "--server", "--one-off", "--bind", address, "--port", str(self.port), "--json"]
        return Command(
            f"{self.name}-server", [*argv, "--interval", str(INTERVAL_S)], host=self.destination, priority=self.priority
        )

    def client(self, source: str, destination: str) -> Command:
        """The sending end."""
        argv = [PROGRAM, "--client", destination, "--bind", source, "--port", str(self.port), "--json"]
        argv += ["--interval", str(INTERVAL_S), *self.arguments]
        return Command(f"{self.name}-client", argv, host=self.source, priority=self.priority, dscp=self.dscp)


def stream_pairs(raw: Mapping[str, Any], first_port: int, limit_s: float) -> list[Pair]:
    """The pairs of a workload of kind `stream`."""
    count, size = raw["connections"], raw["bytes"]
    pace = _pace(raw)
    is_together = not size and not raw["stagger_ps"]
    if is_together:
        arguments = ("--parallel", str(count), "--time", _time(limit_s), *pace)
        together = _pair(raw, 0, first_port, arguments, is_finite=False)
        return [replace(together, connections=count, dscp=raw.get("dscp") or None)]
    pairs = []
    for index in range(count):
        end = _length(size, raw.get("write_bytes") or BLOCK_BYTES) if size else ("--time", _time(limit_s))
        pair = _pair(raw, index, first_port + index, (*end, *pace), is_finite=bool(size))
        pairs.append(replace(pair, dscp=raw.get("dscp") or None))
    return pairs


def datagram_pairs(raw: Mapping[str, Any], first_port: int, limit_s: float) -> list[Pair]:
    """The pair of a workload of kind `datagrams`, which has even gaps and one size."""
    size, gap_ps = raw["sizes"]["constant"], raw["interarrival"]["constant"]
    rate_bps = math.ceil(size * 8 * PS_PER_S / gap_ps)
    end = ("--blockcount", str(raw["count"])) if raw["count"] else ("--time", _time(limit_s))
    marked = ("--dscp", str(raw["dscp"])) if raw.get("dscp") else ()
    arguments = ("--udp", "--bitrate", str(rate_bps), "--length", str(size), *end, *marked)
    return [_pair(raw, 0, first_port, arguments, is_finite=bool(raw["count"]))]


def _pace(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The rate of each connection: iperf3 limits its streams one by one. It looks at it after each write."""
    if not raw.get("rate_bps"):
        return ()
    length = () if raw["bytes"] else ("--length", str(raw["write_bytes"]))
    return ("--bitrate", str(raw["rate_bps"] // raw["connections"]), *length)


def _length(size: int, write_bytes: int) -> tuple[str, ...]:
    return ("--bytes", str(size), "--length", str(min(write_bytes, size)))


def _time(limit_s: float) -> str:
    return str(min(TIME_S_MAX, math.ceil(limit_s)))


def _pair(raw: Mapping[str, Any], index: int, port: int, arguments: tuple[str, ...], *, is_finite: bool) -> Pair:
    delay_s = (raw["start_ps"] + index * raw.get("stagger_ps", 0)) / PS_PER_S
    name = f"iperf3-{raw['name']}-{index + 1}"
    ends = (raw["source"], raw["destination"])
    return Pair(name, *ends, port, arguments, delay_s, is_finite, raw["priority"] or None, raw.get("vlan") or 0)


@dataclass(frozen=True)
class Received:
    """What the receiving end of a pair saw."""

    size_bytes: int
    seconds: float
    intervals: tuple[tuple[float, float, int], ...]
    """Start and end in seconds from the pair's start, and bytes."""
    lost: int
    """Datagrams that did not come."""
    unreported_bytes: int = 0
    """Came after the last whole interval of a test that was interrupted."""

    def tail(self, end_s: float) -> tuple[float, float, int]:
        """The interval that was interrupted, up to `end_s` from the pair's start: filled at the pace of the one before,
        with no more than came."""
        start_s, last_end_s, size_bytes = self.intervals[-1]
        pace_bytes_per_s = size_bytes / max(last_end_s - start_s, INTERVAL_S / 2)
        filled_bytes = round(pace_bytes_per_s * max(0.0, end_s - last_end_s))
        return last_end_s, max(last_end_s, end_s), min(self.unreported_bytes, filled_bytes)


def read_server(path: Path) -> Received:
    """What a server wrote, also when its client was interrupted."""
    text = path.read_text(encoding="utf-8")
    try:
        # It writes warnings to the same place, before the report.
        report = json.loads(text[max(0, text.find("{\n")) :])
    except ValueError:
        raise FabricError(f"{path.name}: iperf3 left no report") from None
    sums = _whole_intervals(report)
    if not sums:
        raise FabricError(f"{path.name}: iperf3 moved nothing: {report.get('error', 'it does not say why')}")
    intervals = tuple((float(each["start"]), float(each["end"]), int(each["bytes"])) for each in sums)
    lost = sum(int(each.get("lost_packets", 0)) for each in sums)
    total = sum(size for _, _, size in intervals)
    whole = int(report.get("end", {}).get("sum_received", {}).get("bytes", total))
    return Received(total, intervals[-1][1], intervals, lost, max(0, whole - total))


def _whole_intervals(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The sums of all intervals. The server of an interrupted client writes its last interval twice and leaves out the
    time after it."""
    sums: list[Mapping[str, Any]] = []
    for each in report.get("intervals", []):
        if not sums or each["sum"]["start"] >= sums[-1]["end"]:
            sums.append(each["sum"])
    return sums


def wait_for_listener(lab: Lab, pair: Pair, server: Program) -> None:
    """Returns once the server of a pair has its socket."""
    deadline = time.monotonic() + LISTEN_LIMIT_S
    attempt = 0
    while time.monotonic() < deadline:
        if server.ended is not None:
            raise FabricError(server.complaint())
        attempt += 1
        argv = ["ss", "--no-header", "--tcp", "--listening", "--numeric", f"sport = :{pair.port}"]
        if lab.run(Command(f"{pair.name}-listens-{attempt}", argv, host=pair.destination), LISTEN_LIMIT_S).strip():
            return
        time.sleep(POLL_S)
    raise FabricError(f"{server.command.name}: it did not listen within {LISTEN_LIMIT_S:g} s")
