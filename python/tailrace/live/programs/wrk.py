"""wrk in a live trial."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Refusals, Task
from tailrace.live.measure import closings
from tailrace.live.programs.nginx_service import Nginx
from tailrace.live.requests import RequestLoad
from tailrace.programs import lua_log, wrk
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.requests import measured
from tailrace.scenario.workloads.requests import Requests


class Wrk(RequestLoad):
    """wrk as the users of one workload."""

    load_name = "wrk"
    needs = (wrk.WRK,)
    services: ClassVar[tuple[str, ...]] = (Nginx.service_name,)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._script = wrk.Script(self.work)
        self._started: Program | None = None
        self._log_prefix = Path()
        self._make: Callable[[], Command] | None = None
        self._is_over = False
        self._ports: frozenset[int] = frozenset()

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """What wrk, or nginx for it, cannot do."""
        return wrk.wrk_refusals(workload)

    def prepare(self, lab: Lab) -> None:
        """Writes the script."""
        self._log_prefix = (lab.folder / "logs" / f"requests-{self.work.name}").absolute()
        file = (lab.folder / "logs" / f"{self.work.name}.lua").absolute()
        write_text(file, self._script.text(self._log_prefix))
        address, limit_s = self.address(lab), math.ceil(self.task.limit_s)
        self._make = lambda: self._script.command(file, address, limit_s)

    def begin(self, lab: Lab) -> None:
        """Starts it."""
        assert self._make is not None, "it was prepared"
        self._started = lab.start(self._make())

    def look(self, lab: Lab) -> None:
        """Ends wrk when all users have done their requests."""
        if not self._is_over and self.is_done:
            self._end(lab)

    @property
    def programs(self) -> Sequence[Program]:
        """wrk."""
        return [self._started] if self._started else []

    @property
    def is_done(self) -> bool:
        """Whether every user has done its requests."""
        if self._started is None:
            return False
        if self._is_over or self._started.ended is not None:
            return True
        return self.work.is_finite and lua_log.users_done(self._started.errors()) == self.work.users

    def stop(self, lab: Lab) -> None:
        """wrk ends within a tenth of a second, and writes its log and its totals."""
        if self._started is None:
            return
        if not self._is_over:
            self._end(lab)
        self._started.require(STOP_LIMIT_S)
        self._script.require_sound(self._started.errors())

    def _end(self, lab: Lab) -> None:
        assert self._started is not None, "it was started"
        if self._started.ended is None:
            self._ports = closings.client_ports(lab, self._started, Nginx.port)
        self._started.signal("INT")
        self._is_over = True

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections."""
        return self._ports

    def report(self) -> str:
        """Its histogram and totals, which are of the whole run."""
        assert self._started is not None, "it ran"
        return self._started.out_path.read_text(encoding="utf-8", errors="replace")

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the logs of its users."""
        whole = lua_log.transactions(self.work, wrk.PROGRAM, self._log_prefix)
        return measured(self.work, whole, lua_log.lateness_us(self._log_prefix), interval)
