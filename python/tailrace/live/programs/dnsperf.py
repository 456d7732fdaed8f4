"""dnsperf in a live trial."""

import math
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Refusals, Task
from tailrace.live.programs.knot_service import Knot
from tailrace.live.requests import RequestLoad
from tailrace.programs import dnsperf
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.scenario.workloads.requests import Requests


class Dnsperf(RequestLoad):
    """dnsperf as the users of one workload. It waits at its end for the answers that are due."""

    load_name = "dnsperf"
    needs = (dnsperf.DNSPERF,)
    services: ClassVar[tuple[str, ...]] = (Knot.service_name,)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._dnsperf = dnsperf.Dnsperf(self.work)

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """Features that dnsperf, or Knot DNS for it, does not have."""
        return dnsperf.dnsperf_refusals(workload)

    def command(self, lab: Lab) -> Command:
        """dnsperf with its query."""
        file = (lab.folder / "logs" / f"{self.work.name}.queries").absolute()
        write_text(file, self._dnsperf.file())
        return self._dnsperf.command(file, self.address(lab), math.ceil(self.task.limit_s))

    def report(self) -> str:
        """Its statistics."""
        return self._dnsperf.report(self.said())

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its output."""
        return self._dnsperf.measured(self.said(), self.begun_wall_us, interval)
