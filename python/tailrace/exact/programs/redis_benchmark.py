"""redis-benchmark and Redis in an exact run."""

from pathlib import Path

from tailrace.exact.load import BEGUN_WALL_US, Refusals
from tailrace.exact.requests import RequestGuests
from tailrace.programs import redis, redis_benchmark
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.redis_benchmark import Benchmark
from tailrace.programs.summary import measured
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.requests import Requests


class RedisBenchmark(RequestGuests):
    """redis-benchmark as the users of one workload."""

    load_name = "redis-benchmark"
    needs = (redis_benchmark.BENCHMARK, redis.REDIS)
    server_name = "redis-server"

    @classmethod
    def refusals(cls, workload: Requests, scenario: Scenario) -> Refusals:
        """Features that redis-benchmark, or Redis for it, does not have."""
        return redis_benchmark.redis_refusals(workload)

    def write_files(self, folder: Path) -> None:
        """The dump."""
        values = (redis.value_of(work.request_bytes, work.response_bytes) for work in self.shared)
        redis.write_file(folder, values)

    def server_command(self, folder: str, addresses: list[str]) -> tuple[Command, str]:
        """One process."""
        users = sum(work.users for work in self.shared)
        text = redis.configuration(f"{folder}/files", addresses, users, self.work.port)
        return redis.command(self.work.server, f"{folder}/conf", 0), text

    def write_client_files(self, folder: Path, output: Path) -> None:
        """It has none."""

    def client_command(self, folder: Path, address: str, limit_s: int) -> Command:
        """It ends by itself; a trial that ends before fails."""
        return Benchmark(self.work).command(address)

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its report."""
        out, errors = self.said()
        summary = Benchmark(self.work).summary(
            out.replace("\r", "\n"), errors, BEGUN_WALL_US, interval
        )
        return measured(self.work, summary, interval)
