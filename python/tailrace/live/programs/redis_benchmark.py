"""redis-benchmark in a live trial."""

import time
from collections.abc import Sequence
from typing import ClassVar

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Refusals, Task
from tailrace.live.measure import closings
from tailrace.live.programs.redis_service import Redis
from tailrace.live.requests import RequestLoad
from tailrace.programs import redis_benchmark
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.redis_benchmark import Benchmark
from tailrace.programs.summary import measured
from tailrace.scenario.workloads.requests import Requests


class RedisBenchmark(RequestLoad):
    """redis-benchmark as the users of one workload."""

    load_name = "redis-benchmark"
    needs = (redis_benchmark.BENCHMARK,)
    services: ClassVar[tuple[str, ...]] = (Redis.service_name,)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._benchmark = Benchmark(self.work)
        self._started: Program | None = None
        self._begun_wall_us = 0
        self._ports: frozenset[int] = frozenset()

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """What redis-benchmark, or Redis for it, cannot do."""
        return redis_benchmark.redis_refusals(workload)

    def prepare(self, lab: Lab) -> None:
        """It needs nothing before it starts."""

    def begin(self, lab: Lab) -> None:
        """Starts it."""
        self._begun_wall_us = time.time_ns() // 1000
        self._started = lab.start(self._benchmark.command(self.address(lab)))

    def look(self, lab: Lab) -> None:
        """It ends by itself; its connections can be read while it runs."""
        if self._started is not None and self._started.ended is None and not self._ports:
            self._ports = closings.client_ports(lab, self._started, Redis.port)

    @property
    def programs(self) -> Sequence[Program]:
        """redis-benchmark."""
        return [self._started] if self._started else []

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._started is not None and self._started.ended is not None

    def stop(self, lab: Lab) -> None:
        """One that is not done by the end of the trial is killed, without a report."""
        if self._started is not None and self._started.ended is None:
            self._started.signal("KILL")
            self._started.wait(STOP_LIMIT_S)

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections, if it ran long enough to read them."""
        return self._ports if len(self._ports) == self.work.users else frozenset()

    def report(self) -> str:
        """Its tables."""
        return self._said()

    def _said(self) -> str:
        assert self._started is not None, "it ran"
        return self._started.out_path.read_text(encoding="utf-8", errors="replace").replace("\r", "\n")

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its report."""
        assert self._started is not None, "it ran"
        told = self._benchmark.summary(self._said(), self._started.errors(), self._begun_wall_us, interval)
        return measured(self.work, told, interval)
