"""Knot DNS as a service: a record for every size of a query and its answer."""

import math
from collections.abc import Sequence
from pathlib import Path

from tailrace.live.requests import Check, RequestService
from tailrace.programs import knot
from tailrace.programs.command import Command
from tailrace.programs.dnsperf import Dnsperf
from tailrace.programs.requests import RequestWork


class Knot(RequestService):
    """A name server with a zone for all workloads that use it."""

    service_name = "knot"
    needs = (knot.KNOT,)

    def write_template(self, folder: Path) -> None:
        """The zone."""
        asking = [Dnsperf(work) for work in self.works]
        sizes = {one.asked: knot.text_bytes(one.query_bytes, one.answer_bytes) for one in asking}
        knot.write_files(folder, sizes.items())

    def command(
        self, folder: str, addresses: Sequence[str], cpus: float | None
    ) -> tuple[Command, str]:
        """As many workers as its host's programs have cores."""
        workers = math.ceil(cpus) if cpus else None
        text = knot.configuration(
            folder, f"{folder}/files", addresses, self.users, self.port, workers
        )
        return knot.command(self.host, f"{folder}/conf", self.priority, cpus), text

    def check(self, work: RequestWork, address: str) -> Check:
        """A request as dnsperf writes it."""
        return self.ask(work, address, Dnsperf(work).request)
