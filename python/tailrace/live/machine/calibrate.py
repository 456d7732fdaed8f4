"""Measures host parameters of this machine for the simulator, independently of any compared run.

Measured are: the round trip of a ping over the fabric; the kernel's time for a received frame at
two MTUs, which gives the cost of a frame and of a byte; and the time of a database and its user for
responses of several sizes, over loopback, where there is no network, and over a link, whose log
gives the times before the first byte and after the last.
"""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.live import registry
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Task
from tailrace.live.machine import answers
from tailrace.live.machine.answers import AnswerTimes
from tailrace.live.machine.doctor import require
from tailrace.live.measure import probe
from tailrace.outcome.types import RoundTrip
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.text.units import RATE, SIZE, parse
from tailrace.scenario.workloads.planned import planned_workloads

SMALL_MTU = "1500B"
STREAM_S = 3.0
"""Length of a stream: tens of thousands of frames, and hundreds of ticks of CPU time."""
STREAM_LIMIT_S = 30.0
QUIET_SAMPLE_S = 1.0
QUIET_IDLE_SHARE = 0.8
"""Idle share below which the kernel's time for a frame was seen to double."""
WIRE_OVERHEAD_BYTES = 38
"""Header, check sequence, preamble and gap of a frame."""
PING_BYTES = 84
"""IPv4, ICMP and the usual 56 bytes."""
TAP_QUEUE_FRAMES = 100_000
"""Limit of the transmit queue of a host's interface, as set by the fabric (`crates/fabric`,
docs/models/fabric.md)."""
RATE_BPS_MAX = 1e12
"""8 ps per byte: a smaller or negative difference of times is noise."""


@dataclass(frozen=True)
class Calibration:
    """The measured parameters."""

    mtu: str
    rate: str
    round_trip_mean_us: float
    round_trip_least_us: float
    wire_us: float
    """Part of the round trip on the wire: four frames of a ping on links of this rate."""
    frame_us: dict[int, float]
    """CPU time of the kernel for a received frame, by MTU."""
    answers: AnswerTimes

    @property
    def receive_us(self) -> float:
        """Time that each end adds to a round trip: wake-ups of the fabric and the program."""
        return max(0.0, (self.round_trip_least_us - self.wire_us) / 2)

    @property
    def jitter_us(self) -> float:
        """Mean time above the least."""
        return max(0.0, (self.round_trip_mean_us - self.round_trip_least_us) / 2)

    @property
    def per_byte_ns(self) -> float:
        """Slope of the cost of a frame over its size."""
        (small, small_us), (large, large_us) = sorted(self.frame_us.items())
        return max(0.0, (large_us - small_us) / (large - small) * 1000)

    @property
    def per_packet_us(self) -> float:
        """Cost of a frame regardless of its size."""
        small, small_us = min(self.frame_us.items())
        return max(0.0, small_us - self.per_byte_ns * small / 1000)

    @property
    def server_us(self) -> float:
        """Time of a statement with an empty response."""
        (size, time_ms), (larger, longer_ms) = sorted(self.answers.loopback_ms.items())[:2]
        return max(0.0, time_ms - size * (longer_ms - time_ms) / (larger - size)) * 1000

    def build_bps(self, size: int) -> float | None:
        """Rate at which a response is built before its first byte leaves; None where that takes no
        time."""
        return _rate_bps(_ms_per_byte(self.answers.before_ms, size))

    def unpack_bps(self, size: int) -> float | None:
        """Rate at which a user processes a whole response after its last byte; None where that
        takes no time."""
        return _rate_bps(_ms_per_byte(self.answers.after_ms, size))

    def produce_bps(self, size: int) -> float | None:
        """Rate at which a built response is sent and read, from the rest of its time over
        loopback."""
        before, after = (
            _ms_per_byte(times, size) for times in (self.answers.before_ms, self.answers.after_ms)
        )
        return _rate_bps(
            _ms_per_byte(self.answers.loopback_ms, size) - max(0.0, before) - max(0.0, after)
        )


def _ms_per_byte(times_ms: Mapping[int, float], size: int) -> float:
    """Additional time of a response of this size, compared with a small one."""
    small = min(times_ms)
    return (times_ms[size] - times_ms[small]) / (size - small)


def _rate_bps(ms_per_byte: float) -> float | None:
    return 8e3 / ms_per_byte if ms_per_byte > 8e3 / RATE_BPS_MAX else None


def calibrate(mtu: str, rate: str, say: Callable[[str], None]) -> Calibration:
    """Measures for at most a minute; `say` receives the progress."""
    parse(mtu, SIZE)  # errors are reported before the measurement
    parse(rate, RATE)
    require(registry.needs_of(registry.choice(kind, {}) for kind in ("stream", "oltp")))
    _warn_of_neighbours(say)
    with tempfile.TemporaryDirectory(prefix="tailrace-calibrate-") as name:
        folder = Path(name)
        say(f"a stream at MTU {SMALL_MTU}")
        small_us, _ = _stream(folder / "small", SMALL_MTU, rate)
        say(f"a stream at MTU {mtu}")
        large_us, trip = _stream(folder / "large", mtu, rate)
        say("responses of a database, over loopback and over a link")
        times = answers.measure(folder, mtu)
    frame_us = {parse(SMALL_MTU, SIZE): small_us, parse(mtu, SIZE): large_us}
    if len(frame_us) < 2:
        raise FabricError(
            f"an MTU of {mtu} is always measured; --mtu needs another value (hint: --mtu 9000B)"
        )
    wire_us = 4 * 8e6 * (PING_BYTES + WIRE_OVERHEAD_BYTES) / parse(rate, RATE)
    if trip.mean is None or trip.min is None:
        raise FabricError("no ping was answered")
    return Calibration(mtu, rate, trip.mean, trip.min, wire_us, frame_us, times)


def _warn_of_neighbours(say: Callable[[str], None]) -> None:
    """Warns when the machine is not idle: the costs are then too high."""
    before = probe.cpu()
    time.sleep(QUIET_SAMPLE_S)
    idle = probe.cpu().shares_since(before)["idle_share"]
    if idle is not None and idle < QUIET_IDLE_SHARE:
        say(
            f"warning: other programs use the CPU (idle {idle:.0%}): measure again when the "
            "machine is idle"
        )


def _plan(mtu: str, rate: str, workloads: dict[str, Any]) -> dict[str, Any]:
    data = {
        "tailrace": 1,
        "name": "calibrate",
        "network": {
            "topology": {"kind": "star", "hosts": ["client", "server"]},
            "link": {"rate": rate},
        },
        "hosts": {"defaults": {"mtu": mtu}},
        "workloads": workloads,
        "experiment": {"duration": "60s"},
    }
    return lower(load_scenario(data).scenario, "base", 1)


def _stream(folder: Path, mtu: str, rate: str) -> tuple[float, RoundTrip]:
    """Cost of a received frame in microseconds, and the round trip of a ping before it."""
    plan = _plan(
        mtu, rate, {"bulk": {"kind": "stream", "source": "server", "destination": "client"}}
    )
    [raw] = [own.flat for own in planned_workloads(plan)]
    with Lab(canonical_json(plan), folder) as lab:
        trip = probe.round_trip_us(lab, "client", "server", lab.addresses["server"])
        load = registry.make_load("stream", Task(raw, 1, STREAM_S))
        load.prepare(lab)
        before = probe.counters(lab, "client", "before")
        load.tick(lab, 0.0)
        used = [
            (program.command.host, program.require(STREAM_LIMIT_S)) for program in load.programs
        ]
        [ended] = [one for host, one in used if host == "client"]
        frames = probe.difference(before, probe.counters(lab, "client", "after"))["rx_frames"]
    return (ended.system_s + ended.user_s) / max(1, frames) * 1e6, trip


def fragment(found: Calibration) -> str:
    """The parameters as YAML, each with its measurement, for `tailrace run --calibrated FILE`."""
    frames = ", ".join(f"{mtu} B {cost_us:.2f} us" for mtu, cost_us in found.frame_us.items())
    trip = (
        f"least {found.round_trip_least_us:.0f} us, mean {found.round_trip_mean_us:.0f} us,"
        f" of which the wire {found.wire_us:.1f} us"
    )
    return f"""# Hosts of this machine, measured by `tailrace lab calibrate --mtu {found.mtu} --rate {found.rate}`.
hosts:
  defaults:
    nic:
      # Round trip of a ping: {trip}.
      rx_coalesce: {round(found.receive_us * 1000)}ns
      rx_jitter: exponential({max(1, round(found.jitter_us * 1000))}ns)
      # A TAP device passes up single frames.
      gro: 0B
      # The transmit queue drops nothing; TCP small queues keep it short.
      queue: {TAP_QUEUE_FRAMES * parse(found.mtu, SIZE)}B
    cpu:
      # CPU time of a received frame by MTU: {frames}.
      per_packet: {round(found.per_packet_us * 1000)}ns
      per_byte: {round(found.per_byte_ns * 1000)}ps
round_trips:
{_round_trips(found)}"""  # noqa: E501


def _round_trips(found: Calibration) -> str:
    """The times of a statement, each with its medians; the rates by size of the response."""
    parts = [
        (
            "build_rate",
            found.build_bps,
            "From a request to the first frame",
            found.answers.before_ms,
        ),
        ("produce_rate", found.produce_bps, "Statements over loopback", found.answers.loopback_ms),
        (
            "unpack_rate",
            found.unpack_bps,
            "From the last frame to the next request",
            found.answers.after_ms,
        ),
    ]
    lines = [f"  server_time: {round(found.server_us * 1000)}ns"]
    for key, rate_bps, what, times_ms in parts:
        lines.append(
            f"  # {what}: "
            f"{', '.join(f'{size} B {time_ms:.3f} ms' for size, time_ms in times_ms.items())}."
        )
        lines.append(f"  {key}:")
        for size in answers.LARGE:
            rate = rate_bps(size)
            lines.append(f"    {size}B: {'none' if rate is None else f'{round(rate / 1e6)}Mbit/s'}")
    return "\n".join(lines) + "\n"
