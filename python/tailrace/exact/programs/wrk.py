"""wrk and nginx in an exact run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.exact.load import Refusals
from tailrace.exact.requests import RequestGuests
from tailrace.files import write_text
from tailrace.programs import lua_log, nginx, wrk
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.requests import measured
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.requests import Requests


class Wrk(RequestGuests):
    """wrk as the users of one workload."""

    load_name = "wrk"
    needs = (wrk.WRK, nginx.NGINX)
    server_name = nginx.PROGRAM
    client_signal = "INT"

    @classmethod
    def refusals(cls, workload: Requests, scenario: Scenario) -> Refusals:
        """Features that wrk, or nginx for it, does not have."""
        return wrk.wrk_refusals(workload)

    def write_files(self, folder: Path) -> None:
        """A file for every size."""
        nginx.write_files(folder, ((work.response_bytes, work.is_kept) for work in self.shared))

    def server_command(self, folder: str, addresses: list[str]) -> tuple[Command, str]:
        """A guest has one core, and its server one worker."""
        users = sum(work.users for work in self.shared)
        text = nginx.configuration(folder, f"{folder}/files", addresses, users, 1, self.work.port)
        return nginx.command(self.work.server, f"{folder}/conf", 0), text

    def write_client_files(self, folder: Path, output: Path) -> None:
        """The script."""
        write_text(folder / "script.lua", wrk.Script(self.work).text(output / self._log_name))

    def client_command(self, folder: Path, address: str, limit_s: int) -> Command:
        """Of the script."""
        return wrk.Script(self.work).command(folder / "script.lua", address, limit_s)

    @property
    def finished_by(self) -> Mapping[str, Any] | None:
        """Every user reports that it is done."""
        return {"stream": "err", "text": lua_log.DONE, "lines": self.work.users}

    @property
    def _log_name(self) -> str:
        return f"requests-{self.work.name}"

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the logs of its users."""
        wrk.Script(self.work).require_sound(self.said()[1])
        prefix = self.task.output_of(self.work.client) / self._log_name
        return measured(
            self.work, lua_log.transactions(self.work, wrk.PROGRAM, prefix), None, interval
        )
