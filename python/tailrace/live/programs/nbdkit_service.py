"""nbdkit as a service: network block devices in memory."""

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.listening import wait_until_listening
from tailrace.live.lab.program import Program
from tailrace.live.storage import Backing, StorageService
from tailrace.programs import nbdkit
from tailrace.programs.storage import StorageWork


class Nbdkit(StorageService):
    """An NBD server with an export for each device."""

    service_name = "nbdkit"
    needs = (nbdkit.NBDKIT,)

    def start_server(self, lab: Lab, backing: Backing, cpus: float | None) -> Program:
        """It listens on all addresses of its host where workloads are in several VLANs."""
        addresses = self.addresses(lab)
        address = addresses[0] if len(addresses) == 1 else None
        return lab.start(
            nbdkit.server(self.host, address, self.port, backing.folder, cpus, self.priority)
        )

    def wait_until_ready(self) -> None:
        """It listens."""
        wait_until_listening(self.lab, self.name, self.program, self.port)

    def uri(self, work: StorageWork, address: str) -> str:
        """An export has the name of its device."""
        return nbdkit.uri(address, self.port, work.device)
