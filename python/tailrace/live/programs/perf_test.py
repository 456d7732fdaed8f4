"""PerfTest in a live trial."""

import time
from typing import ClassVar

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Refusals, Task
from tailrace.live.measure import closings
from tailrace.live.programs.rabbitmq_service import RabbitMq
from tailrace.live.requests import RequestLoad
from tailrace.programs import perf_test
from tailrace.programs.command import Command, Ended
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.perf_test import Messages
from tailrace.scenario.workloads.requests import Requests

READY_LIMIT_S = 60.0
"""For the start of Java."""
POLL_S = 0.02


class PerfTest(RequestLoad):
    """PerfTest as the users of one workload.

    Java takes seconds to start. PerfTest is started before the trial, while the broker is held: it
    has connected when the trial begins, and waits for the broker's first frame.
    """

    load_name = perf_test.PROGRAM
    needs = (perf_test.PERF_TEST, perf_test.JAVA)
    services: ClassVar[tuple[str, ...]] = (RabbitMq.service_name,)
    background_threads: ClassVar[tuple[str, ...]] = perf_test.COMPILER_THREADS

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._messages = Messages(self.work)
        self._first_wall_us = 0

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """Features that PerfTest, or RabbitMQ for it, does not have."""
        return perf_test.perf_test_refusals(workload)

    @property
    def broker(self) -> RabbitMq:
        """Its server."""
        assert isinstance(self.server, RabbitMq), "it asks this one only"
        return self.server

    def command(self, lab: Lab) -> Command:
        """It has no files."""
        return self._messages.command(self.address(lab))

    def prepare(self, lab: Lab) -> None:
        """Starts it, and waits until it has connected."""
        super().prepare(lab)
        self.broker.hold()
        super().begin(lab)
        deadline_s, polls = time.monotonic() + READY_LIMIT_S, 1
        while not closings.client_ports(lab, self.started, self.server.port, polls):
            polls += 1
            if self.started.ended is not None:
                raise FabricError(self.started.complaint())
            if time.monotonic() > deadline_s:
                raise FabricError(
                    f"{self.started.command.name}: it did not connect within {READY_LIMIT_S:g} s"
                )
            time.sleep(POLL_S)

    def begin(self, lab: Lab) -> None:
        """The broker goes on."""
        self.broker.release()

    def poll(self, lab: Lab) -> None:
        """Notes when its users begin. It ends by itself after its messages; connections can be read
        while it runs."""
        begun = len(perf_test.BEGUN.findall(self.said())) if not self._ports else 0
        if begun and not self._first_wall_us:
            self._first_wall_us = time.time_ns() // 1000
        if begun == self.work.users:
            self.read_ports(lab)
        super().poll(lab)

    def read_ports(self, lab: Lab) -> None:
        """Once."""
        if not self._ports:
            super().read_ports(lab)

    def require_good(self, ended: Ended) -> None:
        """It ends at once."""
        if ended.exit_code not in (0, perf_test.INTERRUPTED):
            raise FabricError(self.started.complaint())

    def stop(self, lab: Lab) -> None:
        """The broker has all messages of a workload that is done."""
        super().stop(lab)
        if self._messages.is_whole(self.said()):
            self.broker.require_all(lab, self.work)

    def report(self) -> str:
        """Its lines of every second, and its summary."""
        return self.said()

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its output."""
        return self._messages.measured(
            self.said(), self.begun_wall_us, self._first_wall_us, interval
        )
