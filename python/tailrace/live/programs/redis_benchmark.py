"""redis-benchmark in a live trial."""

from typing import ClassVar

from tailrace.live.lab.lab import Lab
from tailrace.live.load import Refusals, Task
from tailrace.live.programs.redis_service import Redis
from tailrace.live.requests import RequestLoad
from tailrace.programs import redis_benchmark
from tailrace.programs.command import Command, Ended
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.redis_benchmark import Benchmark
from tailrace.programs.summary import measured
from tailrace.scenario.workloads.requests import Requests


class RedisBenchmark(RequestLoad):
    """redis-benchmark as the users of one workload."""

    load_name = "redis-benchmark"
    needs = (redis_benchmark.BENCHMARK,)
    services: ClassVar[tuple[str, ...]] = (Redis.service_name,)
    end_signal = "KILL"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._benchmark = Benchmark(self.work)

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """Features that redis-benchmark, or Redis for it, does not have."""
        return redis_benchmark.redis_refusals(workload)

    def command(self, lab: Lab) -> Command:
        """It has no files."""
        return self._benchmark.command(self.address(lab))

    def poll(self, lab: Lab) -> None:
        """It ends by itself; its connections can be read while it runs."""
        if not self._ports:
            self.read_ports(lab)

    def require_good(self, ended: Ended) -> None:
        """A program that is running at the end of the trial is killed, and writes no report."""

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections, if it ran long enough to read them."""
        return self._ports if len(self._ports) == self.work.users else frozenset()

    def said(self) -> str:
        """Its tables."""
        return super().said().replace("\r", "\n")

    def report(self) -> str:
        """Its tables."""
        return self.said()

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its report."""
        summary = self._benchmark.summary(
            self.said(), self.started.errors(), self.begun_wall_us, interval
        )
        return measured(self.work, summary, interval)
