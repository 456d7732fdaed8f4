"""dnsperf: queries of one name, as many outstanding as there are users, and what it prints of each.

With `-v` it prints the latency of every query when its answer has come, and with `-S` the clock at
intervals: a query is known to have ended within one of them. A query without an answer in its time
is lost; dnsperf does not ask again.

With arrivals it sends at a rate, with the same time between all queries (`-Q`), whatever the server
does. It is late where its machine is, and then makes up for it; a latency counts from the sending,
so that a trial fails whose rate was not kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from msgspec import structs

from tailrace.programs import knot
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.latency import latency_outcome
from tailrace.programs.measured import PS_PER_US, US_PER_S, Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.requests import (
    Found,
    RequestWork,
    constant_sizes,
    no_pauses,
    refusals,
    users_refusals,
)
from tailrace.programs.series import Moved
from tailrace.programs.summary import Summary, measured
from tailrace.scenario.workloads.requests import Requests

PROGRAM = "dnsperf"
TICK_S = 0.1
"""Interval of its clock."""
USERS_MIN = 4
"""With fewer outstanding queries dnsperf 2.10 pauses for up to 100 ms between them: it polls for
answers at that interval."""
USERS_MAX = 1000
TCP_ANSWER_BYTES_MAX = 16_380
"""dnsperf 2.10 has a buffer of 16 KiB for each connection: longer answers count as lost."""
OUTSTANDING_MAX = 60_000
"""Queries that wait for their answers with arrivals: dnsperf numbers those of a thread with 16
bits."""
RATE_MAX = 50_000
"""Queries per second. dnsperf sleeps between two of them, for which Linux takes up to 50 us more
(timer slack)."""
KEPT_MIN = 0.98
"""Share of the rate that dnsperf has to send."""
TIMEOUT_TCP_S = 5.0
"""dnsperf's default; a query over tcp has no timeout in a scenario."""
TICK = re.compile(r"^(\d+\.\d+): [\d.]+$")
QUERY = re.compile(r"^> (\S+) \S+ TXT(?: (\d+\.\d+))?$")
SIZES = re.compile(r"Average packet size:\s+request (\d+), response (\d+)")
TOTALS = re.compile(
    r"Queries sent:\s+(\d+)\s+Queries completed:\s+(\d+) .*\s+Queries lost:\s+(\d+)"
)
RUN_TIME = re.compile(r"Run time \(s\):\s+([\d.]+)")
GOOD, TIMED_OUT, INTERRUPTED = "NOERROR", "T", "I"
PS_PER_S = 10**12

DNSPERF = Needed(PROGRAM, "dnsperf", "-h", "workloads of kind requests with dnsperf")


def dnsperf_refusals(workload: Requests) -> Found:
    """Features that dnsperf, or Knot DNS for it, does not have."""
    yield from refusals(PROGRAM, workload, paces=True)
    if workload.arrivals is not None:
        yield from _arrival_refusals(workload)
    yield from no_pauses(PROGRAM, workload)
    yield from users_refusals(workload, USERS_MAX, f"{PROGRAM} has a socket for each user")
    if workload.users is not None and workload.users < USERS_MIN:
        what = f"{PROGRAM} pauses between queries when fewer than {USERS_MIN} are outstanding"
        yield ("users",), what, f"write at least {USERS_MIN} users"
    if workload.is_udp and workload.effective("retries", 0) > 0:
        yield ("retries",), f"{PROGRAM} does not ask again", "write retries: 0"
    sizes = constant_sizes(workload)
    if sizes is None:
        return
    (request, response), prefix = sizes, 0 if workload.is_udp else knot.TCP_PREFIX_BYTES
    query, answer = request - prefix, response - prefix
    if knot.name(query, answer) is None:
        least = knot.FIXED_BYTES + 12 + prefix
        yield (
            ("request",),
            f"no query of DNS has {request} bytes",
            f"write {least}B to {282 + prefix}B",
        )
    most = knot.UDP_BYTES_MAX if workload.is_udp else TCP_ANSWER_BYTES_MAX
    if not 1 <= knot.text_bytes(query, answer) <= most - query - knot.RECORD_BYTES:
        least = request + knot.RECORD_BYTES + 1
        what = f"{PROGRAM} takes no answer of {response} bytes to a query of {request}"
        yield ("response",), what, f"write {least}B to {most + prefix}B"


def _arrival_refusals(workload: Requests) -> Found:
    """Arrivals that are no whole number of queries per second with the same time between all."""
    assert workload.arrivals is not None, "the caller looks"
    gap_ps = workload.arrivals.raw.get("constant")
    if gap_ps is None:
        what = f"{PROGRAM} has the same time between all queries"
        yield ("arrivals",), what, "write one time such as 1ms, or omit --live to simulate it"
    elif PS_PER_S % gap_ps or PS_PER_S // gap_ps > RATE_MAX:
        what = f"{PROGRAM} sends a whole number of queries per second, at most {RATE_MAX}"
        yield ("arrivals",), what, "write a part of a second, such as 1ms, 500us or 200us"
    if workload.spikes:
        yield ("spikes",), f"{PROGRAM} has one rate", "omit them, or omit --live to simulate them"
    if not workload.is_udp and workload.connections is None:
        what = f"{PROGRAM} opens its connections before the first query"
        yield ("connections",), what, "write their number, such as connections: 4"
    elif (workload.connections or 1) > USERS_MAX:
        yield ("connections",), f"{PROGRAM} has at most {USERS_MAX} sockets", "write fewer"


@dataclass(frozen=True)
class Dnsperf:
    """dnsperf as the users of a workload."""

    work: RequestWork

    @property
    def _prefix_bytes(self) -> int:
        return 0 if self.work.is_udp else knot.TCP_PREFIX_BYTES

    @property
    def asked(self) -> str:
        """The requested name, without the zone."""
        found = knot.name(self.query_bytes, self.answer_bytes)
        assert found is not None, "checks refuse sizes that do not exist"
        return found

    @property
    def query_bytes(self) -> int:
        """Of a query's message."""
        return self.work.request_bytes - self._prefix_bytes

    @property
    def answer_bytes(self) -> int:
        """Of an answer's message."""
        return self.work.response_bytes - self._prefix_bytes

    @property
    def request(self) -> bytes:
        """A query as it is sent."""
        query = knot.query(self.asked)
        return query if self.work.is_udp else len(query).to_bytes(2, "big") + query

    @property
    def rate(self) -> int | None:
        """Queries per second of arrivals; None for users."""
        gap_ps = self.work.arrival_gap_ps
        return None if gap_ps is None else PS_PER_S // gap_ps

    @property
    def _pace(self) -> list[str]:
        """As many outstanding as there are users, or a rate."""
        if self.rate is None:
            return ["-q", str(self.work.users)]
        return ["-q", str(OUTSTANDING_MAX), "-Q", str(self.rate)]

    @property
    def _timeout_s(self) -> float:
        return float(self.work.raw["timeout_ps"] / PS_PER_S) if self.work.is_udp else TIMEOUT_TCP_S

    def file(self) -> str:
        """Its file of queries."""
        return f"{self.asked}.{knot.ZONE} TXT\n"

    def command(self, file: Path, address: str, limit_s: int) -> Command:
        """dnsperf for this workload; it ends at SIGINT, by itself after its queries, or some time
        after `limit_s`."""
        own = self.work
        users, timeout_s = str(own.users), self._timeout_s
        argv = [
            PROGRAM,
            "-e",
            "-m",
            "udp" if own.is_udp else "tcp",
            "-s",
            address,
            "-p",
            str(own.port),
        ]
        argv += ["-d", str(file)]
        argv += [
            "-c",
            users,
            *self._pace,
            "-T",
            "1",
            "-t",
            f"{timeout_s:g}",
            "-v",
            "-S",
            f"{TICK_S:g}",
            "-W",
        ]
        argv += ["-n", str(own.total)] if own.is_finite else ["-l", str(limit_s + 60)]
        return Command(
            f"dnsperf-{own.name}",
            argv,
            host=own.client,
            priority=own.raw["priority"] or None,
            dscp=own.raw.get("dscp") or None,
        )

    def measured(self, said: str, begun_wall_us: int, interval: MeasuredInterval) -> Measured:
        """From its output."""
        self._require_sound(said)
        self._require_rate(said)
        last_us = min(interval.ended_wall_us, begun_wall_us + self._run_us(said))
        ended = [
            one
            for one in answers(said, begun_wall_us, last_us)
            if one.ended_us <= interval.ended_wall_us
        ]
        counted_from_ps = 0 if self.work.is_finite else interval.counted_from_ps
        warm_us = interval.begun_wall_us + counted_from_ps // PS_PER_US
        counted = [one for one in ended if one.ended_us >= warm_us]
        done = [one for one in counted if one.latency_us is not None]
        is_whole = self.work.is_finite and len(ended) == self.work.total
        size = self.work.response_bytes
        summary = Summary(
            None,
            len(done),
            counted_from_ps,
            begun_wall_us,
            max(one.ended_us for one in ended) if is_whole else None,
            failed=len(counted) - len(done),
            moved=[
                Moved(start, end, size)
                for start, end in (_span_ps(one, interval) for one in ended if one.latency_us)
            ],
        )
        found = measured(self.work, summary, interval)
        latencies = latency_outcome(
            one.latency_us * PS_PER_US for one in done if one.latency_us is not None
        )
        return replace(found, outcome=structs.replace(found.outcome, latency=latencies))

    @staticmethod
    def report(said: str) -> str:
        """Its statistics, without the lines of single queries."""
        return "\n".join(
            line
            for line in said.splitlines()
            if not QUERY.fullmatch(line) and not TICK.fullmatch(line)
        )

    def _run_us(self, said: str) -> int:
        """From its first query to its last answer."""
        found = RUN_TIME.search(said)
        return round(float(found[1]) * US_PER_S) if found else 0

    def _require_rate(self, said: str) -> None:
        """Raises `ProgramError` where queries were not sent at the rate of their arrivals."""
        totals = TOTALS.search(said)
        if self.rate is None or totals is None:
            return
        # At its end it waits for answers, the last of which may come a timeout later.
        longest_s = self._timeout_s if int(totals[3]) else max(_latencies_s(said), default=0.0)
        due = self.rate * (self._run_us(said) / US_PER_S - longest_s)
        if int(totals[1]) < due * KEPT_MIN - 1:
            raise ProgramError(
                f"dnsperf-{self.work.name}: it sent {totals[1]} queries where {due:.0f} were due: "
                "this machine does not keep the rate of `arrivals`"
            )

    def _require_sound(self, said: str) -> None:
        """Raises `ProgramError` for answers with an error, and for those of another size."""
        name = f"dnsperf-{self.work.name}"
        totals, sizes = TOTALS.search(said), SIZES.search(said)
        if totals is None or sizes is None:
            raise ProgramError(f"{name}: it ended without its statistics")
        codes = {found[1] for line in said.splitlines() if (found := QUERY.fullmatch(line))} - {
            GOOD,
            TIMED_OUT,
            INTERRUPTED,
        }
        if codes:
            raise ProgramError(f"{name}: answers with {', '.join(sorted(codes))}")
        seen = int(sizes[1]), int(sizes[2])
        if int(totals[2]) and seen != (self.query_bytes, self.answer_bytes):
            raise ProgramError(
                f"{name}: queries and answers have {seen[0]} and {seen[1]} bytes, not "
                f"{self.query_bytes} and {self.answer_bytes}"
            )


@dataclass(frozen=True)
class Answer:
    """One query that has ended, by an answer or because its time was over."""

    ended_us: int
    """Wall clock, within an interval of `TICK_S`."""
    latency_us: int | None
    """None for a lost one."""


def answers(said: str, begun_wall_us: int, last_us: int) -> Iterator[Answer]:
    """Queries in the order of their ends: those between two lines of its clock are spread over the
    time between, and those after the last line over the time until `last_us`.
    """
    intervals: list[tuple[int, list[int | None]]] = []
    latencies: list[int | None] = []
    for line in said.splitlines():
        if found := TICK.fullmatch(line):
            intervals.append((round(float(found[1]) * US_PER_S), latencies))
            latencies = []
        elif (found := QUERY.fullmatch(line)) and found[1] != INTERRUPTED:
            latencies.append(None if found[2] is None else round(float(found[2]) * US_PER_S))
    clocks = [begun_wall_us, *(clock for clock, _ in intervals)]
    for (start_us, end_us), (_, own) in zip(pairwise(clocks), intervals, strict=True):
        yield from _spread(own, start_us, end_us)
    yield from _spread(latencies, clocks[-1], max(clocks[-1], last_us))


def _latencies_s(said: str) -> Iterator[float]:
    """Of all answers."""
    yield from (
        float(found[2])
        for line in said.splitlines()
        if (found := QUERY.fullmatch(line)) and found[2]
    )


def _spread(latencies: list[int | None], start_us: int, end_us: int) -> Iterator[Answer]:
    for number, latency_us in enumerate(latencies, 1):
        yield Answer(start_us + (end_us - start_us) * number // len(latencies), latency_us)


def _span_ps(one: Answer, interval: MeasuredInterval) -> tuple[int, int]:
    end_us = one.ended_us - interval.begun_wall_us
    return max(0, end_us - (one.latency_us or 0)) * PS_PER_US, end_us * PS_PER_US
