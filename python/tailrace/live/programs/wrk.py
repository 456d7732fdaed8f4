"""wrk in a live trial."""

import math
from pathlib import Path
from typing import ClassVar

from tailrace.files import write_text
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Refusals, Task
from tailrace.live.programs.nginx_service import Nginx
from tailrace.live.requests import RequestLoad
from tailrace.programs import lua_log, wrk
from tailrace.programs.command import Command, Ended
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
        self._log_prefix = Path()

    @classmethod
    def refusals(cls, workload: Requests) -> Refusals:
        """Features that wrk, or nginx for it, does not have."""
        return wrk.wrk_refusals(workload)

    def command(self, lab: Lab) -> Command:
        """wrk with its script."""
        self._log_prefix = (lab.folder / "logs" / f"requests-{self.work.name}").absolute()
        file = (lab.folder / "logs" / f"{self.work.name}.lua").absolute()
        write_text(file, self._script.text(self._log_prefix))
        return self._script.command(file, self.address(lab), math.ceil(self.task.limit_s))

    def have_users_done(self, errors: str) -> bool:
        """Each says so."""
        return lua_log.users_done(errors) == self.work.users

    def require_good(self, ended: Ended) -> None:
        """It ends within a tenth of a second, and has counted its errors."""
        super().require_good(ended)
        self._script.require_sound(self.started.errors())

    def report(self) -> str:
        """Its histogram and totals, which are of the whole run."""
        return self.said()

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the logs of its users."""
        whole = lua_log.transactions(self.work, wrk.PROGRAM, self._log_prefix)
        return measured(self.work, whole, lua_log.lateness_us(self._log_prefix), interval)
