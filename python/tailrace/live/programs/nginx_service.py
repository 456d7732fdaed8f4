"""nginx as a service: a file for every size of a response."""

import math
from collections.abc import Sequence
from pathlib import Path

from tailrace.live.requests import Check, RequestService
from tailrace.programs import nginx, wrk
from tailrace.programs.command import Command
from tailrace.programs.requests import RequestWork


class Nginx(RequestService):
    """A web server with files for all workloads that use it."""

    service_name = "nginx"
    needs = (nginx.NGINX,)

    def write_template(self, folder: Path) -> None:
        """Files."""
        nginx.write_files(folder, ((work.response_bytes, work.is_kept) for work in self.works))

    def command(
        self, folder: str, addresses: Sequence[str], cpus: float | None
    ) -> tuple[Command, str]:
        """As many workers as its host's programs have cores."""
        workers = math.ceil(cpus) if cpus else None
        text = nginx.configuration(
            folder, f"{folder}/files", addresses, self.users, workers, self.port
        )
        return nginx.command(self.host, f"{folder}/conf", self.priority, cpus), text

    def check(self, work: RequestWork, address: str) -> Check:
        """A request as wrk writes it."""
        text = wrk.request_text(work.response_bytes, work.request_bytes, is_kept=work.is_kept)
        return self.ask(work, address, text.encode())
