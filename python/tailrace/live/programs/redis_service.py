"""Redis as a service: a value for every size of a request and its response."""

from collections.abc import Sequence
from pathlib import Path

from tailrace.live.requests import Check, RequestService
from tailrace.programs import redis, redis_benchmark
from tailrace.programs.command import Command
from tailrace.programs.requests import RequestWork


class Redis(RequestService):
    """A server that starts from a dump of the values of all workloads that use it."""

    service_name = "redis-server"
    needs = (redis.REDIS,)

    def write_template(self, folder: Path) -> None:
        """The dump."""
        redis.write_file(
            folder, (redis.value_of(work.request_bytes, work.response_bytes) for work in self.works)
        )

    def command(
        self, folder: str, addresses: Sequence[str], cpus: float | None
    ) -> tuple[Command, str]:
        """One process, whose main thread answers."""
        text = redis.configuration(f"{folder}/files", addresses, self.users, self.port)
        return redis.command(self.host, f"{folder}/conf", self.priority, cpus), text

    def check(self, work: RequestWork, address: str) -> Check:
        """A request as redis-benchmark writes it."""
        text = redis_benchmark.request_text(work.request_bytes, work.response_bytes)
        return self.ask(work, address, text.encode())
