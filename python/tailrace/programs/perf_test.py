"""PerfTest of RabbitMQ: producers that wait for confirms, or consumers that acknowledge, and its
report.

A message to the broker and its confirm, or an acknowledgement and the next delivery, are a request
and its response. PerfTest reports rates every second, and five points of the distribution of
latencies at its end: least, median, 75th, 95th and 99th percentile. Between these, shares are
interpolated; of what lies above the last, only that is known. The latency of a confirm counts from
the call that publishes the message (`Producer.java`): the wait for one of the unconfirmed messages
is not in it. That of a consumer is the age of the message, of which most is the time in the queue
before the trial, and is left out.
"""

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tailrace.programs import rabbitmq
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import PS_PER_S, PS_PER_US, US_PER_S, Measured, MeasuredInterval
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
from tailrace.programs.summary import Distribution, Summary, measured
from tailrace.scenario.workloads.requests import Requests

PROGRAM = "perf-test"
HOME_VARIABLE = "PERF_TEST_HOME"
"""Environment variable with the folder of its jars; if set, no other one is used."""
OPT = Path("/opt")
MAIN = "com.rabbitmq.perf.PerfTest"
USERS_MAX = 500
"""PerfTest has several threads for each."""
MESSAGES_MAX = 200_000
"""Of all consumers: they are in the queue before the trial."""
BODY_BYTES_MIN = 12
"""PerfTest writes a number and a time into each message."""
COMPILER_THREADS = ("C1 CompilerThre", "C2 CompilerThre")
"""Threads of Java that compile while its programs go on. In a busy machine they wait longer for a
core than all threads that send and receive messages.
"""
INTERRUPTED = 130
"""Its status after SIGINT."""
BEGUN = re.compile(r"starting (?:producer|consumer) #\d+$", re.MULTILINE)
"""A user of PerfTest begins."""
LINE = re.compile(r"time ([\d.]+) s, (.*)$", re.MULTILINE)
COUNTS = re.compile(r"(sent|returned|confirmed|nacked|received): ([\d.]+) msg/s")
SUMMARY = re.compile(r"confirm latency min/median/75th/95th/99th ([\d/]+) µs")
AVERAGE = re.compile(r"(sending|receiving) rate avg: ([\d.]+) msg/s")
STOPPED = re.compile(r"test stopped \((.*)\)")
SHARES = (0.0, 0.5, 0.75, 0.95, 0.99)
ROUNDING = 1e-6
"""Of a share of a count."""
STEPS = 25
"""Buckets between two points of the distribution."""
HINT = (
    "see docs/how-to/live-services.md for a Maven command that fetches it, then set"
    f" {HOME_VARIABLE}, or name another load_generator"
)


def _find(_program: str) -> Path | None:
    """Its jar, with the libraries in the same folder: the newest one."""
    named = os.environ.get(HOME_VARIABLE)
    folders = (
        [Path(named)]
        if named
        else [each for top in (OPT, Path.home()) for each in top.glob("perf-test*")]
    )
    found = [jar for folder in folders for jar in folder.glob("perf-test-*.jar")]
    return max(
        found, key=lambda jar: [int(part) for part in re.findall(r"\d+", jar.name)], default=None
    )


PERF_TEST = Needed(
    PROGRAM,
    None,
    "",
    "workloads of kind requests with the presets of a broker",
    find=_find,
    title="PerfTest",
    source="Maven",
    hint=HINT,
)
JAVA = Needed(
    "java",
    None,
    "-version",
    "PerfTest",
    title="Java",
    source="Debian",
    hint="apt-get install default-jre-headless",
)


def perf_test_refusals(workload: Requests) -> Found:
    """Features that PerfTest, or RabbitMQ for it, does not have."""
    yield from refusals(PROGRAM, workload, pipelines=True)
    yield from no_pauses(PROGRAM, workload)
    if workload.is_udp:
        yield ("protocol",), "AMQP uses tcp", "write protocol: tcp, or load_generator: dnsperf"
    yield from users_refusals(workload, USERS_MAX, f"{PROGRAM} has threads for each user")
    if (sizes := constant_sizes(workload)) is not None:
        yield from _size_refusals(workload, *sizes)


def _size_refusals(workload: Requests, request: int, response: int) -> Found:
    ack = rabbitmq.ACK_BYTES
    if ack not in (request, response):
        what = f"a confirm, and an acknowledgement of a consumer, have {ack} bytes"
        yield (
            ("response",),
            what,
            f"write response: {ack}B to publish, or request: {ack}B to consume",
        )
        return
    key, size, around = ("request", request, rabbitmq.PUBLISH_BYTES)
    if response != ack:
        key, size, around = ("response", response, rabbitmq.DELIVER_BYTES)
    body = rabbitmq.body_bytes(size, around)
    if body is None or body < BODY_BYTES_MIN:
        least = around + rabbitmq.BODY_FRAME_BYTES + BODY_BYTES_MIN
        yield (
            (key,),
            f"no message of {PROGRAM} has {size} bytes",
            f"write at least {least}B, or another number",
        )
    elif response != ack:
        yield from _consumer_refusals(workload, body)


def _consumer_refusals(workload: Requests, body: int) -> Found:
    if workload.requests is None:
        yield (
            (),
            f"the consumers of {PROGRAM} need a number of messages",
            "write requests: 1000, of each user",
        )
        return
    most = min(MESSAGES_MAX, rabbitmq.QUEUE_BYTES_MAX // body)
    count = (workload.requests + workload.depth) * (workload.users or 1)
    if count > most:
        what = f"{count} messages of {body} bytes would be in the queue before the trial"
        yield (
            ("requests",),
            what,
            f"write fewer: at most {most} messages of all users with their pipelines",
        )


@dataclass(frozen=True)
class Messages:
    """PerfTest as the users of a workload: all of them publish, or all consume."""

    work: RequestWork

    @property
    def consumes(self) -> bool:
        """Whether the users consume."""
        return self.work.response_bytes != rabbitmq.ACK_BYTES

    @property
    def queue(self) -> str:
        """Its own queue."""
        return rabbitmq.queue_of(self.work.name)

    @cached_property
    def body_bytes(self) -> int:
        """Of a message."""
        own = self.work
        size, around = (own.request_bytes, rabbitmq.PUBLISH_BYTES)
        if self.consumes:
            size, around = (own.response_bytes, rabbitmq.DELIVER_BYTES)
        body = rabbitmq.body_bytes(size, around)
        assert body is not None, "checks refuse sizes that do not exist"
        return body

    @property
    def sizes(self) -> str:
        """Bytes of a message as it is published, of its confirm, and of its delivery, as the check
        prints them."""
        frames = -(-self.body_bytes // rabbitmq.BODY_BYTES_MAX) * rabbitmq.BODY_FRAME_BYTES
        whole = self.body_bytes + frames
        return (
            f"{whole + rabbitmq.PUBLISH_BYTES} {rabbitmq.ACK_BYTES} "
            f"{whole + rabbitmq.DELIVER_BYTES}"
        )

    @property
    def total(self) -> int:
        """Messages of all users; 0 for as many as there is time for."""
        return self.work.count * self.work.users

    @property
    def first_count(self) -> int:
        """Messages in the queue before the trial: a queue with all messages of its workload may
        already contain others'."""
        return self.total + self.work.depth * self.work.users if self.consumes else 0

    @property
    def queue_bytes_max(self) -> int:
        """Of the queue."""
        return max(rabbitmq.QUEUE_BYTES_MAX, self.first_count * self.body_bytes)

    @property
    def last_count(self) -> int | None:
        """Messages in the queue when all has been done; None where its limit may have removed
        some."""
        if self.consumes:
            return self.work.depth * self.work.users
        return (
            self.total
            if self.total and self.total * self.body_bytes <= rabbitmq.QUEUE_BYTES_MAX
            else None
        )

    def command(self, address: str) -> Command:
        """It ends by itself after its messages, or at SIGINT."""
        own, jar = self.work, _find(PROGRAM)
        folder = str(jar.parent) if jar else "."
        argv = [
            "java",
            "-cp",
            f"{folder}/*",
            MAIN,
            "--uri",
            f"amqp://guest:guest@{address}:{own.port}",
        ]
        argv += [
            "--id",
            own.name,
            "--exchange",
            "",
            "--queue",
            self.queue,
            "--routing-key",
            self.queue,
        ]
        argv += [
            "--predeclared",
            "--skip-binding-queues",
            "--auto-delete",
            "false",
            "--disable-connection-recovery",
        ]
        argv += self._consumers() if self.consumes else self._producers()
        return Command(
            f"perf-test-{own.name}",
            argv,
            host=own.client,
            env={"LC_ALL": "C.UTF-8"},
            priority=own.raw["priority"] or None,
            dscp=own.raw.get("dscp") or None,
        )

    def _producers(self) -> list[str]:
        own = self.work
        argv = [
            "--producers",
            str(own.users),
            "--consumers",
            "0",
            "--confirm",
            str(self.work.depth),
        ]
        argv += ["--size", str(self.body_bytes), "--flag", "persistent", "--flag", "mandatory"]
        return [*argv, *(["--pmessages", str(own.count)] if own.is_finite else [])]

    def _consumers(self) -> list[str]:
        own = self.work
        return [
            "--producers",
            "0",
            "--consumers",
            str(own.users),
            "--qos",
            str(self.work.depth),
            "--cmessages",
            str(own.count),
        ]

    def measured(
        self, said: str, begun_wall_us: int, first_wall_us: int, interval: MeasuredInterval
    ) -> Measured:
        """From its output. `begun_wall_us` is when the broker began to answer, `first_wall_us` when
        the first user began, after the session had been opened; 0 if none did."""
        self._require_sound(said)
        first_wall_us = first_wall_us or begun_wall_us
        moved = list(self._moved(said, first_wall_us, interval))
        done = round(sum(part.size_bytes for part in moved) / self.work.response_bytes)
        rates = {found[1]: float(found[2]) for found in AVERAGE.finditer(said)}
        rate = rates.get("receiving" if self.consumes else "sending", 0.0)
        total, until_us, ended_wall_us = done, interval.ended_wall_us, None
        if self.is_whole(said) and rate > 0:
            total = self.total
            until_us = ended_wall_us = first_wall_us + round(total / rate * US_PER_S)
        elif until_us > first_wall_us:
            # Messages sent at the end have no confirm.
            open_count = 0 if self.consumes else self.work.depth * self.work.users
            total = max(done, round(rate * (until_us - first_wall_us) / US_PER_S) - open_count)
        begin_ps = (
            moved[-1].end_ps if moved else (first_wall_us - interval.begun_wall_us) * PS_PER_US
        )
        end_ps = max(begin_ps, (until_us - interval.begun_wall_us) * PS_PER_US)
        moved.append(Moved(begin_ps, end_ps, max(0, total - done) * self.work.response_bytes))
        done = total
        latencies = None if self.consumes else distribution(said, done)
        return measured(
            self.work,
            Summary(latencies, done, 0, begun_wall_us, ended_wall_us, moved=moved),
            interval,
        )

    def is_whole(self, said: str) -> bool:
        """Whether all messages of all users were done."""
        stopped = STOPPED.search(said)
        return bool(self.total and stopped and "reached message limit" in stopped[1])

    def _require_sound(self, said: str) -> None:
        """Raises `ProgramError` for messages that the broker refused or returned."""
        for found in LINE.finditer(said):
            counts = {name: float(value) for name, value in COUNTS.findall(found[2])}
            for name in ("nacked", "returned"):
                if counts.get(name):
                    raise ProgramError(
                        f"perf-test-{self.work.name}: the broker has {name} messages: "
                        f"{counts[name]:g} per second"
                    )

    def _moved(self, said: str, begun_wall_us: int, interval: MeasuredInterval) -> Iterator[Moved]:
        """A second each; the last second of a run has no line."""
        begin_ps = (begun_wall_us - interval.begun_wall_us) * PS_PER_US
        what, before_ps = ("received" if self.consumes else "confirmed"), 0
        for found in LINE.finditer(said):
            until_ps = round(float(found[1]) * PS_PER_S)
            counts = {name: float(value) for name, value in COUNTS.findall(found[2])}
            size = (
                round(counts.get(what, 0.0) * (until_ps - before_ps) / PS_PER_S)
                * self.work.response_bytes
            )
            yield Moved(begin_ps + before_ps, begin_ps + until_ps, size)
            before_ps = until_ps


def distribution(said: str, count: int) -> Distribution | None:
    """The distribution from the points of its report; None where there are none."""
    found = SUMMARY.search(said)
    if found is None or not count:
        return None
    points = [int(value) * PS_PER_US for value in found[1].split("/")]
    buckets: list[tuple[int, int]] = []
    counted = 0
    for at in range(1, len(points)):
        for step in range(1, STEPS + 1):
            share = SHARES[at - 1] + (SHARES[at] - SHARES[at - 1]) * step / STEPS
            edge = points[at - 1] + (points[at] - points[at - 1]) * step // STEPS
            here = math.ceil(share * count - ROUNDING) - counted
            counted += here
            buckets.append((edge, here))
    mean_ps = sum(edge * here for edge, here in buckets) / max(1, counted)
    return Distribution(buckets, mean_ps, points[0], above=(points[-1], count - counted))
