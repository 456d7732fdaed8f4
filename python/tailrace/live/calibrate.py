"""Host parameters of this machine for the simulator, from measurements of their own and never from a compared run.

Measured are: the round trip of a ping over the fabric; the time of the kernel for a received frame at two MTUs, which
gives the cost of a frame and of a byte; and the time of a database for answers of several sizes over its loopback,
where there is no network, which gives the time to the first byte and the rate at which an answer is made.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.live.databases import Databases
from tailrace.live.doctor import require
from tailrace.live.fabric import FabricError
from tailrace.live.lab import Lab
from tailrace.live.programs import iperf3, pgbench, probe
from tailrace.live.programs.pgbench import Load
from tailrace.live.template import Templates
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lower import canonical_json, lower
from tailrace.scenario.units import RATE, SIZE, parse

SMALL_MTU = "1500B"
STREAM_S = 3.0
"""A stream this long has tens of thousands of frames, and its CPU time hundreds of ticks."""
STREAM_LIMIT_S = 30.0
ANSWERS = {1_000: 2000, 18_000: 2000, 64_000: 1000, 1_000_000: 200, 32_000_000: 10}
"""Sizes of answers and how often each is asked for."""
ANSWER_LIMIT_S = 60.0
QUIET_LOOK_S = 1.0
QUIET_IDLE_SHARE = 0.8
"""Below this the kernel's time for a frame was seen to double."""
WIRE_OVERHEAD_BYTES = 38
"""Header, check sequence, preamble and gap of a frame."""
PING_BYTES = 84
"""IPv4, ICMP and the usual 56 bytes."""


@dataclass(frozen=True)
class Calibration:
    """What was measured."""

    mtu: str
    rate: str
    round_trip_mean_us: float
    round_trip_least_us: float
    wire_us: float
    """Part of the round trip that is the wire's: four frames of a ping on links of this rate."""
    frame_us: dict[int, float]
    """CPU time of the receiving program's kernel for a frame, by MTU."""
    answer_ms: dict[int, float]
    """Mean time of a statement over loopback, by size of the answer."""

    @property
    def receive_us(self) -> float:
        """What each end adds to a round trip: waking the fabric and the program."""
        return max(0.0, (self.round_trip_least_us - self.wire_us) / 2)

    @property
    def jitter_us(self) -> float:
        """Mean of what comes on top of the least."""
        return max(0.0, (self.round_trip_mean_us - self.round_trip_least_us) / 2)

    @property
    def per_byte_ns(self) -> float:
        """Slope of the cost of a frame."""
        (small, small_us), (large, large_us) = sorted(self.frame_us.items())
        return max(0.0, (large_us - small_us) / (large - small) * 1000)

    @property
    def per_packet_us(self) -> float:
        """What a frame costs whatever its size."""
        small, small_us = min(self.frame_us.items())
        return max(0.0, small_us - self.per_byte_ns * small / 1000)

    @property
    def produce_bps(self) -> float:
        """Rate at which a large answer is made and taken in: slope of time over size, by least squares."""
        return 8e3 / self._line()[1]

    @property
    def server_us(self) -> float:
        """Time of a statement whose answer has no size."""
        return max(0.0, min(self.answer_ms.values()) - min(self.answer_ms) * self._line()[1]) * 1000

    def _line(self) -> tuple[float, float]:
        """Intercept in ms and slope in ms per byte."""
        return least_squares(list(self.answer_ms.items()))


def least_squares(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Intercept and slope of the line that is nearest to the points."""
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope


def calibrate(mtu: str, rate: str, say: Callable[[str], None]) -> Calibration:
    """Measures for a minute at most; `say` is told what is being done."""
    parse(mtu, SIZE), parse(rate, RATE)
    require(needs_database=True)
    _warn_of_neighbours(say)
    with tempfile.TemporaryDirectory(prefix="tailrace-calibrate-") as name:
        folder = Path(name)
        say(f"a stream at MTU {SMALL_MTU}")
        small = _stream(folder / "small", SMALL_MTU, rate)
        say(f"a stream at MTU {mtu}")
        large = _stream(folder / "large", mtu, rate)
        say("answers of a database over loopback")
        answers = _answers(folder, mtu, rate)
    frame_us = {parse(SMALL_MTU, SIZE): small["frame_us"], parse(mtu, SIZE): large["frame_us"]}
    if len(frame_us) < 2:
        raise FabricError(f"an MTU of {mtu} is the one that is measured anyway (hint: --mtu 9000B)")
    wire_us = 4 * 8e6 * (PING_BYTES + WIRE_OVERHEAD_BYTES) / parse(rate, RATE)
    return Calibration(mtu, rate, large["mean"], large["min"], wire_us, frame_us, answers)


def _warn_of_neighbours(say: Callable[[str], None]) -> None:
    """Says so when the machine is not quiet: costs are then too high."""
    before = probe.cpu()
    time.sleep(QUIET_LOOK_S)
    idle = probe.cpu().shares_since(before)["idle_share"]
    if idle is not None and idle < QUIET_IDLE_SHARE:
        say(f"warning: other programs compute (idle {idle:.0%}): measure again when the machine is quiet")


def _plan(mtu: str, rate: str, workloads: dict[str, Any]) -> dict[str, Any]:
    data = {
        "tailrace": 1,
        "name": "calibrate",
        "network": {"topology": {"kind": "star", "hosts": ["client", "server"]}, "link": {"rate": rate}},
        "hosts": {"defaults": {"mtu": mtu}},
        "workloads": workloads,
        "experiment": {"duration": "60s"},
    }
    return lower(load_scenario(data).scenario, "base", 1)


def _stream(folder: Path, mtu: str, rate: str) -> dict[str, float]:
    """Cost of a received frame, and the round trip of a ping before it."""
    plan = _plan(mtu, rate, {"bulk": {"kind": "stream", "source": "server", "destination": "client"}})
    raw = plan["workloads"][0]["stream"]
    with Lab(canonical_json(plan), folder) as lab:
        trip = probe.round_trip_us(lab, "client", "server", lab.addresses["server"])
        [pair] = iperf3.stream_pairs(raw, iperf3.FIRST_PORT, STREAM_S)
        server = lab.start(pair.server(lab.addresses[pair.destination]))
        iperf3.wait_for_listener(lab, pair, server)
        before = probe.counters(lab, "client", "before")
        lab.start(pair.client(lab.addresses[pair.source], lab.addresses[pair.destination])).require(STREAM_LIMIT_S)
        ended = server.require(STREAM_LIMIT_S)
        frames = probe.difference(before, probe.counters(lab, "client", "after"))["rx_frames"]
    return {**trip, "frame_us": (ended.system_s + ended.user_s) / max(1, frames) * 1e6}


def _answers(folder: Path, mtu: str, rate: str) -> dict[int, float]:
    """Mean time of a statement for each size of answer, over loopback."""
    workloads = {f"answer-{size}": _oltp(size, count) for size, count in ANSWERS.items()}
    plan = _plan(mtu, rate, workloads)
    oltps = [workload["oltp"] for workload in plan["workloads"]]
    templates = Templates(folder / "templates")
    databases = Databases(oltps, templates)
    databases.make_templates()
    program = templates.installed.program("pgbench")
    with Lab(canonical_json(plan), folder / "answers") as lab:
        databases.start(lab, {})
        rows = databases.template("server").rows
        loads = [Load(raw | {"client": "server"}, 1, rows) for raw in oltps]
        return {load.responses[0]: _ask(lab, load, program) for load in loads}


def _oltp(size: int, count: int) -> dict[str, Any]:
    trip = {"response": f"{size}B"}
    ends = {"client": "client", "server": "server"}
    return {"kind": "oltp", **ends, "users": 1, "transactions": count, "start": "0s", "round_trips": [trip]}


def _ask(lab: Lab, load: Load, program: Path) -> float:
    """One user asks one size from the server's own host."""
    script = lab.folder / "logs" / f"{load.name}.pgbench"
    script.write_text(load.script(), encoding="utf-8")
    prefix = lab.folder / "logs" / f"transactions-{load.name}"
    asked = lab.start(load.command(program, script, prefix, lab.addresses["server"], 0))
    pgbench.finish(asked, load, ANSWER_LIMIT_S)
    mean_ms = pgbench.statement_ms(asked.out_path.read_text(encoding="utf-8"))
    if mean_ms is None:
        raise FabricError(f"{load.name}: pgbench did not say how long a statement took")
    return mean_ms


def fragment(found: Calibration) -> str:
    """The parameters as YAML, each with how it was measured; `tailrace run --calibrated FILE` takes them up."""
    sizes = ", ".join(f"{size} B {time_ms:.3f} ms" for size, time_ms in found.answer_ms.items())
    frames = ", ".join(f"{mtu} B {cost_us:.2f} us" for mtu, cost_us in found.frame_us.items())
    trip = (
        f"least {found.round_trip_least_us:.0f} us, mean {found.round_trip_mean_us:.0f} us,"
        f" of which the wire {found.wire_us:.1f} us"
    )
    return f"""# Hosts of this machine, measured by `tailrace calibrate --mtu {found.mtu} --rate {found.rate}`.
hosts:
  defaults:
    nic:
      # Round trip of a ping: {trip}.
      rx_coalesce: {round(found.receive_us * 1000)}ns
      rx_jitter: exponential({max(1, round(found.jitter_us * 1000))}ns)
      # A TAP hands up what it was given, frame by frame.
      gro: 0B
    cpu:
      # CPU time of a received frame by MTU: {frames}.
      per_packet: {round(found.per_packet_us * 1000)}ns
      per_byte: {round(found.per_byte_ns * 1000)}ps
# Statements over loopback: {sizes}.
round_trips:
  server_time: {round(found.server_us * 1000)}ns
  produce_rate: {round(found.produce_bps / 1e6)}Mbit/s
"""
