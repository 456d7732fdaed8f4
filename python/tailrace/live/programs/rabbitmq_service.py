"""RabbitMQ as a service: a queue for every workload."""

from collections.abc import Sequence
from pathlib import Path

from tailrace.files import make_folder, write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.requests import Check, RequestService
from tailrace.programs import amqp, rabbitmq
from tailrace.programs.command import Command, Ended
from tailrace.programs.perf_test import Messages
from tailrace.programs.requests import RequestWork


class RabbitMq(RequestService):
    """A broker that can be paused: it then accepts connections, and does nothing else."""

    service_name = rabbitmq.SERVICE
    needs = (rabbitmq.RABBITMQ,)
    listen_limit_s = rabbitmq.LISTEN_LIMIT_S
    _is_held = False

    def write_template(self, folder: Path) -> None:
        """It has no plugins."""
        make_folder(folder)
        folder.chmod(0o755)
        write_text(folder / "plugins", "[].\n")
        (folder / "plugins").chmod(0o644)

    def command(
        self, folder: str, addresses: Sequence[str], cpus: float | None
    ) -> tuple[Command, str]:
        """A scheduler for each core of its host's programs."""
        text = rabbitmq.configuration(folder, addresses, self.port)
        return rabbitmq.command(self.host, folder, self.priority, cpus), text

    def check(self, work: RequestWork, address: str) -> Check:
        """A message, its confirm and its delivery."""
        own = Messages(work)
        words = [address, str(self.port), "sizes", str(own.body_bytes), f"{own.queue[:-1]}-"]
        return Check(amqp.__file__, words, "a message, its confirm or its delivery", own.sizes)

    def verify(self, lab: Lab) -> None:
        """Makes the queues, too, with the messages that are to be consumed."""
        super().verify(lab)
        for number, work in enumerate(self.works):
            own = Messages(work)
            count = str(own.first_count)
            address = lab.address(self.host, work.vlan)
            words = [address, str(self.port), "fill", str(own.body_bytes), own.queue, count]
            counted = self.run(
                lab,
                f"fill-{number}",
                Check(amqp.__file__, [*words, str(own.queue_bytes_max)], "", count),
            )
            if counted != count:
                raise FabricError(
                    f"{self.name}: the queue of {work.name} has {counted} messages, not {count}"
                )

    def hold(self) -> None:
        """Stops it, until the trial begins."""
        if not self._is_held:
            self._program.signal("STOP")
            self._is_held = True

    def release(self) -> None:
        """It goes on."""
        if self._is_held:
            self._program.signal("CONT")
            self._is_held = False

    def require_all(self, lab: Lab, work: RequestWork) -> None:
        """Raises `FabricError` when messages of a workload that has done its work were lost, or
        publishers blocked."""
        own = Messages(work)
        words = [lab.address(self.host, work.vlan), str(self.port), "count", own.queue]
        counted = self.run(lab, f"count-{work.name}", Check(amqp.__file__, words, "", ""))
        if own.last_count is not None and counted != str(own.last_count):
            raise FabricError(
                f"{self.name}: the queue of {work.name} has {counted} messages, "
                f"not {own.last_count}"
            )
        if rabbitmq.ALARM in self._program.output():
            raise FabricError(
                f"{self.name}: it blocked its publishers, because its memory was full"
            )

    def stop(self) -> Ended:
        """At once: its data vanishes with the trial."""
        return self._program.stop("KILL")
