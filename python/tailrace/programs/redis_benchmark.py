"""redis-benchmark: a number of `GET` by all users together, and its report.

It reports the distribution of latencies of the whole run, in steps of eight microseconds, and a
rate every quarter of a second; users and times of single requests it does not report. A latency
ends with the first read of a response (`readHandler` in redis-benchmark.c): that of a response of
several segments would be too short, and is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tailrace.programs import redis
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import PS_PER_US, US_PER_S, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.requests import Found, RequestWork, no_pauses, refusals, users_refusals
from tailrace.programs.series import Moved
from tailrace.programs.summary import Distribution, Summary
from tailrace.scenario.workloads.requests import Requests

PROGRAM = "redis-benchmark"
TIMED_BYTES_MAX = 1448
"""Largest response, or pipeline of responses, that is one segment with an MTU of 1500 or more: TCP
has timestamps."""
USERS_MAX = 10_000
"""redis-benchmark has a descriptor for each, and one thread for all."""
REQUEST_BYTES_MAX = 60_000
EDGE = re.compile(r"^[\d.]+% <= ([\d.]+) milliseconds \(cumulative count (\d+)\)$", re.MULTILINE)
RATE = re.compile(r"rps=([\d.]+) \(overall:")
MEAN = re.compile(
    r"latency summary \(msec\):\s+avg\s+min\s+p50\s+p95\s+p99\s+max\s+([\d.]+)\s+([\d.]+)"
)
THROUGHPUT = re.compile(r"throughput summary: ([\d.]+) requests per second")
FAULT = re.compile(r"^(?:Error|WARNING|Could not|Server closed).*$", re.MULTILINE)
RATE_EVERY_US = 250_000
PS_PER_MS = 10**9

BENCHMARK = Needed(
    PROGRAM, "redis-tools", "--version", "workloads of kind requests with redis-benchmark"
)


def redis_refusals(workload: Requests) -> Found:
    """Features that redis-benchmark, or Redis for it, does not have."""
    yield from refusals(PROGRAM, workload, pipelines=True)
    if (
        workload.requests is not None
        and workload.users is not None
        and workload.requests * workload.users % workload.depth
    ):
        what = (
            f"{PROGRAM} sends {workload.depth} requests at once, and "
            f"{workload.requests * workload.users} in all"
        )
        yield ("requests",), what, "write a multiple of the pipeline"
    yield from no_pauses(PROGRAM, workload)
    if workload.is_udp:
        yield (
            ("protocol",),
            "the protocol of Redis uses tcp",
            "write protocol: tcp, or load_generator: dnsperf",
        )
    if workload.users is not None and workload.requests is None:
        yield (), f"{PROGRAM} needs a number of requests", "write requests: 1000, of each user"
    yield from users_refusals(workload, USERS_MAX, f"{PROGRAM} has one thread for all users")
    request, response = workload.sizes
    if request is None or response is None:
        return
    size = redis.value_bytes(int(response.mean))
    if "constant" in response.raw and (size is None or size > redis.VALUE_BYTES_MAX):
        what = f"no response of Redis has {response.mean:.0f} bytes in its protocol"
        yield ("response",), what, "write at least 6B, at most 512MiB, or another number of bytes"
    fits = (
        request.mean <= REQUEST_BYTES_MAX
        and redis.key(int(request.mean), int(response.mean)) is not None
    )
    if "constant" in request.raw and not fits:
        what = f"no GET in the protocol of Redis has {request.mean:.0f} bytes"
        yield ("request",), what, f"write 30B to {REQUEST_BYTES_MAX}B, or another number of bytes"


def request_text(request_bytes: int, response_bytes: int) -> str:
    """A request as it is on the wire."""
    key = redis.key(request_bytes, response_bytes)
    assert key is not None, "checks refuse sizes that do not exist"
    return f"*2\r\n$3\r\nGET\r\n${len(key)}\r\n{key}\r\n"


@dataclass(frozen=True)
class Benchmark:
    """redis-benchmark as the users of a workload."""

    work: RequestWork

    @property
    def requests(self) -> int:
        """Of all users."""
        return self.work.count * self.work.users

    def command(self, address: str) -> Command:
        """It ends by itself."""
        own = self.work
        key = redis.key(own.request_bytes, own.response_bytes)
        assert key is not None, "checks refuse sizes that do not exist"
        argv = [
            PROGRAM,
            "-h",
            address,
            "-p",
            str(own.port),
            "-c",
            str(own.users),
            "-n",
            str(self.requests),
        ]
        argv += [*(["-P", str(own.depth)] if own.depth > 1 else []), "GET", key]
        return Command(
            f"redis-benchmark-{own.name}",
            argv,
            host=own.client,
            priority=own.raw["priority"] or None,
            dscp=own.raw.get("dscp") or None,
        )

    def summary(
        self, said: str, errors: str, begun_wall_us: int, interval: MeasuredInterval
    ) -> Summary:
        """The summary from its report. Without a report, because the end of the trial cut it off,
        the requests are counted by its rates."""
        if fault := FAULT.search(said + errors):
            raise ProgramError(f"redis-benchmark-{self.work.name}: {fault[0]}")
        rate = THROUGHPUT.search(said)
        if rate is None:
            so_far = list(self._moved(said, begun_wall_us, interval))
            completed = sum(part.size_bytes for part in so_far) // self.work.response_bytes
            return Summary(None, completed, 0, begun_wall_us, None, moved=so_far)
        found = distribution(said)
        if found.count != self.requests:
            raise ProgramError(
                f"redis-benchmark-{self.work.name}: {found.count} requests were done, not "
                f"{self.requests}"
            )
        ended_wall_us = begun_wall_us + round(self.requests / float(rate[1]) * US_PER_S)
        moved = list(self._moved(said, begun_wall_us, interval))
        done_bytes = sum(part.size_bytes for part in moved)
        rest = self.requests * self.work.response_bytes - done_bytes
        begin_ps = (
            moved[-1].end_ps if moved else (begun_wall_us - interval.begun_wall_us) * PS_PER_US
        )
        end_ps = (ended_wall_us - interval.begun_wall_us) * PS_PER_US
        moved.append(Moved(min(begin_ps, end_ps), end_ps, max(0, rest)))
        timed = found if self.work.response_bytes * self.work.depth <= TIMED_BYTES_MAX else None
        return Summary(timed, self.requests, 0, begun_wall_us, ended_wall_us, moved=moved)

    def _moved(self, said: str, begun_wall_us: int, interval: MeasuredInterval) -> Iterator[Moved]:
        """A quarter of a second each; the first line is printed before anything was done."""
        start_ps = (begun_wall_us - interval.begun_wall_us) * PS_PER_US
        for rate in (float(found[1]) for found in RATE.finditer(said)):
            if rate > 0:
                end_ps = start_ps + RATE_EVERY_US * PS_PER_US
                size = round(rate * RATE_EVERY_US / US_PER_S) * self.work.response_bytes
                yield Moved(start_ps, end_ps, size)
                start_ps = end_ps


def distribution(said: str) -> Distribution:
    """From both of its tables: cumulative counts by upper edges."""
    cumulative = {
        round(float(found[1]) * PS_PER_MS): int(found[2]) for found in EDGE.finditer(said)
    }
    points = [(0, 0), *sorted(cumulative.items())]
    buckets = [(edge, count - before) for (_, before), (edge, count) in pairwise(points)]
    means = MEAN.search(said)
    if means is None:
        raise ProgramError("redis-benchmark: its report has no summary of latencies")
    return Distribution(buckets, float(means[1]) * PS_PER_MS, round(float(means[2]) * PS_PER_MS))
