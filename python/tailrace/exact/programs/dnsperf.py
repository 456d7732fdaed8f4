"""dnsperf and Knot DNS in an exact run."""

from pathlib import Path

from tailrace.exact.load import BEGUN_WALL_US, Refusals
from tailrace.exact.requests import RequestGuests
from tailrace.files import write_text
from tailrace.programs import dnsperf, knot
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.requests import Requests


class Dnsperf(RequestGuests):
    """dnsperf as the users of one workload."""

    load_name = "dnsperf"
    needs = (dnsperf.DNSPERF, knot.KNOT)
    server_name = "knot"
    client_signal = "INT"

    @classmethod
    def refusals(cls, workload: Requests, scenario: Scenario) -> Refusals:
        """Features that dnsperf, or Knot DNS for it, does not have."""
        return dnsperf.dnsperf_refusals(workload)

    def write_files(self, folder: Path) -> None:
        """The zone."""
        asking = [dnsperf.Dnsperf(work) for work in self.shared]
        knot.write_files(
            folder,
            {
                one.asked: knot.text_bytes(one.query_bytes, one.answer_bytes) for one in asking
            }.items(),
        )

    def server_command(self, folder: str, addresses: list[str]) -> tuple[Command, str]:
        """A guest has one core, and its server one worker of each sort."""
        users = sum(work.users for work in self.shared)
        text = knot.configuration(folder, f"{folder}/files", addresses, users, self.work.port, 1)
        return knot.command(self.work.server, f"{folder}/conf", 0), text

    def write_client_files(self, folder: Path, output: Path) -> None:
        """Its query."""
        write_text(folder / "queries", dnsperf.Dnsperf(self.work).file())

    def client_command(self, folder: Path, address: str, limit_s: int) -> Command:
        """It ends by itself after its queries."""
        return dnsperf.Dnsperf(self.work).command(folder / "queries", address, limit_s)

    def report(self) -> str:
        """Its statistics."""
        return dnsperf.Dnsperf.report(self.said()[0])

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From its output."""
        return dnsperf.Dnsperf(self.work).measured(self.said()[0], BEGUN_WALL_US, interval)
