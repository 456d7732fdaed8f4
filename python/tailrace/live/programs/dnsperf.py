"""dnsperf in a live trial."""

import math
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Refusals, Task
from tailrace.live.measure import closings
from tailrace.live.programs.knot_service import Knot
from tailrace.live.requests import RequestLoad
from tailrace.programs import dnsperf
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.scenario.workloads.requests import Requests


class Dnsperf(RequestLoad):
    """dnsperf as the users of one workload."""

    load_name = "dnsperf"
    needs = (dnsperf.DNSPERF,)
    services: ClassVar[tuple[str, ...]] = (Knot.service_name,)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._dnsperf = dnsperf.Dnsperf(self.work)
        self._started: Program | None = None
        self._make: Callable[[], Command] | None = None
        self._begun_wall_us = 0
        self._ports: frozenset[int] = frozenset()

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """What dnsperf, or Knot DNS for it, cannot do."""
        return dnsperf.dnsperf_refusals(workload)

    def prepare(self, lab: Lab) -> None:
        """Writes its query."""
        file = (lab.folder / "logs" / f"{self.work.name}.queries").absolute()
        write_text(file, self._dnsperf.file())
        address, limit_s = self.address(lab), math.ceil(self.task.limit_s)
        self._make = lambda: self._dnsperf.command(file, address, limit_s)

    def begin(self, lab: Lab) -> None:
        """Starts it."""
        assert self._make is not None, "it was prepared"
        self._begun_wall_us = time.time_ns() // 1000
        self._started = lab.start(self._make())

    def look(self, lab: Lab) -> None:
        """It ends by itself."""

    @property
    def programs(self) -> Sequence[Program]:
        """dnsperf."""
        return [self._started] if self._started else []

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._started is not None and self._started.ended is not None

    def stop(self, lab: Lab) -> None:
        """It waits for the answers that are due, and writes its statistics."""
        if self._started is None:
            return
        if self._started.ended is None and not self.work.is_udp:
            self._ports = closings.client_ports(lab, self._started, Knot.port)
        self._started.signal("INT")
        self._started.require(STOP_LIMIT_S)

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none for datagrams, and when it ended before they could be read."""
        return self._ports

    def report(self) -> str:
        """Its statistics."""
        return self._dnsperf.report(self._said())

    def _said(self) -> str:
        assert self._started is not None, "it ran"
        return self._started.out_path.read_text(encoding="utf-8", errors="replace")

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its output."""
        return self._dnsperf.measured(self._said(), self._begun_wall_us, interval)
