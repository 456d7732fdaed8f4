"""Storage of real programs: the tasks of a workload's jobs, features that real programs do not
have, and measurements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from tailrace.errors import KeyPath
from tailrace.outcome.types import (
    StorageInitiator,
    StorageOp,
    StorageRequests,
    StorageWaits,
    Workload,
)
from tailrace.programs.envelope import Envelope
from tailrace.programs.latency import cut_off_outcome, latency_outcome
from tailrace.programs.measured import PS_PER_US, Measured, MeasuredInterval
from tailrace.programs.series import Moved, Row
from tailrace.scenario.text.tails import mean_of

Found = Iterator[tuple[KeyPath, str, str]]
"""Key, problem and hint."""
KIND = "storage"
OPS = {0: "read", 1: "write"}
"""Directions in the logs of fio."""
PS_PER_NS = 1000
NS_PER_US = 1000
ONE_PPB = 10**9
MILLI = 1000
US_PER_MS = 1000
RANDOM = "random"


class Done(NamedTuple):
    """One completed request, as fio logs it."""

    initiator: int
    """Number of its host."""
    job: int
    ended_us: int
    """Wall clock, of whole milliseconds."""
    latency_ns: int
    """From its submission."""
    op: int
    size_bytes: int

    @property
    def begun_us(self) -> int:
        """Wall clock of its submission, to a millisecond."""
        return self.ended_us - self.latency_ns // NS_PER_US


@dataclass(frozen=True)
class StorageWork:
    """The tasks of one workload's jobs."""

    raw: Mapping[str, Any]
    """The workload as it stands in the plan."""
    seed: int

    @property
    def name(self) -> str:
        """Name of the workload."""
        return str(self.raw["name"])

    @property
    def initiators(self) -> list[str]:
        """Hosts with jobs."""
        return [str(host) for host in self.raw["initiators"]]

    @property
    def target(self) -> str | None:
        """Host of the device; None where each initiator has its own."""
        found = self.raw.get("target")
        return None if found is None else str(found)

    @property
    def vlan(self) -> int:
        """The VLAN of its connections; 0 for none."""
        return int(self.raw.get("vlan") or 0)

    @property
    def port(self) -> int:
        """The port of its target."""
        return int(self.raw["port"])

    @property
    def priority(self) -> int | None:
        """Of the frames of its programs."""
        return int(self.raw.get("priority") or 0) or None

    @property
    def protocol(self) -> str:
        """Between initiator and device."""
        return protocol_of(self.raw)

    @property
    def read_share(self) -> float:
        """Of requests."""
        return int(self.raw["read_ppb"]) / ONE_PPB

    @property
    def access(self) -> tuple[str, float]:
        """Pattern of addresses: `random` with the share of requests that begin anywhere, or `zipf`
        with its theta."""
        found = self.raw["access"]
        if isinstance(found, str):
            return RANDOM, 0.0
        [(kind, value)] = found.items()
        return str(kind), value / (ONE_PPB if kind == RANDOM else MILLI)

    @property
    def block_bytes(self) -> int:
        """Size of each request."""
        return int(self.raw["block"]["constant"])

    @property
    def depth(self) -> int:
        """Requests of a job under way."""
        return int(self.raw["depth"])

    @property
    def jobs(self) -> int:
        """Of each initiator."""
        return int(self.raw["jobs"])

    @property
    def size_bytes(self) -> int:
        """Area of the device that is used; each job has its own part."""
        return int(self.raw["size_bytes"])

    @property
    def device(self) -> str:
        """Name of the device; workloads that name the same one of the same host share it."""
        return str(self.raw["device"])

    @property
    def envelope(self) -> Envelope | None:
        """The limits of the device for its users; None for memory."""
        return Envelope.of(self.raw.get("device_values"))

    @property
    def offset_bytes(self) -> int:
        """Where the area begins on the device."""
        return int(self.raw.get("offset_bytes") or 0)

    @property
    def part_bytes(self) -> int:
        """The part of a job: whole blocks."""
        return self.size_bytes // self.jobs // self.block_bytes * self.block_bytes

    @property
    def gap_ps(self) -> int | None:
        """Mean time between two requests of an initiator that come by themselves; None for jobs
        that wait."""
        found = self.raw.get("arrivals")
        return None if not found else round(mean_of(found))

    @property
    def is_poisson(self) -> bool:
        """Whether gaps between requests are exponential."""
        return "exponential" in (self.raw.get("arrivals") or {})

    @property
    def think_ps(self) -> int:
        """Pause of a job after each request."""
        return int(self.raw["think"]["constant"])

    @property
    def flush_every(self) -> int:
        """Writes of a job after which it flushes; 0 for never."""
        return int(self.raw["flush_every"])

    @property
    def requests(self) -> int:
        """Of each job; 0 for as many as there is time for."""
        return int(self.raw["requests"]) or -(-int(self.raw["bytes"]) // self.block_bytes)

    @property
    def is_finite(self) -> bool:
        """Whether its jobs have an end."""
        return self.requests > 0


def protocol_of(raw: Any) -> str:
    """Of a workload, in the plan or in the scenario."""
    found = raw["protocol"] if isinstance(raw, Mapping) else raw.protocol
    return str(next(iter(found)) if isinstance(found, Mapping) else found)


def measured(work: StorageWork, whole: Sequence[Done], interval: MeasuredInterval) -> Measured:
    """The measurements of an interval, from all requests that fio logged.

    fio takes a second to start its jobs. A workload without an end counts from its first request,
    or from the end of the warm-up; one with an end is timed from its first request, as a simulated
    trial is.
    """
    firsts_us = _first_us(work, whole)
    known_us = [at for at in firsts_us if at is not None]
    begun_us = min(known_us, default=interval.begun_wall_us)
    begun_ps = max(0, begun_us - interval.begun_wall_us) * PS_PER_US
    counted_from_ps = begun_ps if work.is_finite else max(begun_ps, interval.counted_from_ps)
    zero_us = begun_us if work.is_finite else interval.begun_wall_us
    counted_us = interval.begun_wall_us + counted_from_ps // PS_PER_US
    counted = [one for one in whole if counted_us <= one.ended_us <= interval.ended_wall_us]
    running = [one for one in whole if one.begun_us <= interval.ended_wall_us < one.ended_us]
    cut_off = [
        _row(work, one, zero_us, (interval.ended_wall_us - one.begun_us) * PS_PER_US)
        for one in running
    ]
    rows = sorted((_row(work, one, zero_us) for one in counted), key=attrgetter("start_ps"))
    ends_ps = _ends_ps(work, counted, zero_us)
    whole_ps = [end for end in ends_ps if end is not None]
    outcome = Workload(
        name=work.name,
        kind=KIND,
        completion_ps=max(whole_ps) if len(whole_ps) == len(ends_ps) else None,
        counted_from_ps=0 if work.is_finite else counted_from_ps,
        transactions=len(counted),
        goodput_bytes=sum(one.size_bytes for one in counted),
        latency=latency_outcome(one.latency_ns * PS_PER_NS for one in counted),
        cut_off=cut_off_outcome([row.latency_ps for row in cut_off]),
        user_completion_ps=ends_ps,
        storage_requests=by_op(counted),
        initiators=[
            StorageInitiator(
                name=name, requests=by_op([one for one in counted if one.initiator == number])
            )
            for number, name in enumerate(work.initiators)
        ],
    )
    moved = [Moved(row.start_ps, row.start_ps + row.latency_ps, work.block_bytes) for row in rows]
    skew_ms = (max(known_us) - begun_us) / US_PER_MS if len(known_us) > 1 else None
    offset_ps = begun_ps if work.is_finite else 0
    return Measured(
        outcome, rows, moved, begun_ps, cut_off=cut_off, offset_ps=offset_ps, start_skew_ms=skew_ms
    )


def by_op(counted: Sequence[Done]) -> StorageRequests:
    """Requests, bytes and latencies of reads and of writes. fio does not report their waits."""
    made = {name: _requests([one for one in counted if one.op == op]) for op, name in OPS.items()}
    return StorageRequests(devices=None, flush=_requests([]), **made)


def _requests(of: Sequence[Done]) -> StorageOp:
    return StorageOp(
        count=len(of),
        bytes=sum(one.size_bytes for one in of),
        latency=latency_outcome(one.latency_ns * PS_PER_NS for one in of),
        waits_s=StorageWaits(),
    )


def _first_us(work: StorageWork, whole: Sequence[Done]) -> list[int | None]:
    """Submission of the first request of each initiator."""
    found: list[int | None] = [None] * len(work.initiators)
    for one in whole:
        first_us = found[one.initiator]
        found[one.initiator] = one.begun_us if first_us is None else min(first_us, one.begun_us)
    return found


def _ends_ps(work: StorageWork, done: Sequence[Done], zero_us: int) -> list[int | None]:
    """When each job ended its last request; None unless it did all of them."""
    users = len(work.initiators) * work.jobs
    counts, last_us = [0] * users, [0] * users
    for one in done:
        user = one.initiator * work.jobs + one.job
        counts[user] += 1
        last_us[user] = max(last_us[user], one.ended_us)
    is_whole = [work.is_finite and count >= work.requests for count in counts]
    return [
        (last - zero_us) * PS_PER_US if whole else None
        for last, whole in zip(last_us, is_whole, strict=True)
    ]


def _row(work: StorageWork, one: Done, zero_us: int, latency_ps: int | None = None) -> Row:
    start_ps = max(0, one.begun_us - zero_us) * PS_PER_US
    return Row(
        one.initiator * work.jobs + one.job,
        start_ps,
        one.latency_ns * PS_PER_NS if latency_ps is None else latency_ps,
    )
