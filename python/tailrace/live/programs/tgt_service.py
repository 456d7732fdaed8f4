"""tgt as a service: an iSCSI target in user space."""

import time
from dataclasses import replace

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.listening import LISTEN_LIMIT_S, POLL_S, wait_until_listening
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.storage import Backing, StorageService
from tailrace.programs import qemu_nbd, tgt
from tailrace.programs.command import Command, Ended
from tailrace.programs.storage import StorageWork

ADMIN_LIMIT_S = 10.0
DIRECT, BUFFERED = "aio", "rdwr"
"""tgt's ways to a file: asynchronous and past the page cache, or by threads."""


class Tgt(StorageService):
    """A target with a logical unit for each device."""

    service_name = "tgt"
    needs = (tgt.TGT, qemu_nbd.QEMU_NBD, qemu_nbd.ISCSI)

    def start_server(self, lab: Lab, backing: Backing, cpus: float | None) -> Program:
        """The daemon; it gets its units when it accepts commands."""
        self._backing = backing
        # Where a device has limits it is the only one of the target: others are refused.
        [limits, *_] = [backing.limits(device) for device in backing.paths]
        command = tgt.server(
            self.host, self.addresses(lab), self.port, self._control, cpus, self.priority
        )
        return lab.start(replace(command, io=limits))

    @property
    def _control(self) -> int:
        """Number of its control socket: the index of its host among the servers of the trial, from
        1."""
        return 1 + [service.host for service in self.together if isinstance(service, Tgt)].index(
            self.host
        )

    def wait_until_ready(self) -> None:
        """It listens, and has its units."""
        wait_until_listening(self.lab, self.name, self.program, self.port)
        self._wait_for_commands()
        kind = self._kind_of_access()
        for step in tgt.set_up(self.host, self._control, list(self._backing.paths.values()), kind):
            self.lab.run(step, ADMIN_LIMIT_S)

    def _wait_for_commands(self) -> None:
        deadline_s, attempt = time.monotonic() + LISTEN_LIMIT_S, 0
        while True:
            shown = self.lab.start(tgt.show(self.host, self._control, attempt))
            if shown.wait(ADMIN_LIMIT_S).is_good:
                return
            if time.monotonic() > deadline_s:
                raise FabricError(shown.complaint())
            attempt += 1
            time.sleep(POLL_S)

    def _kind_of_access(self) -> str:
        """Files in memory can be read past the page cache since Linux 6.6."""
        path = next(iter(self._backing.paths.values()))
        argv = ["dd", f"if={path}", "of=/dev/null", "iflag=direct", "bs=4096", "count=1"]
        probe = self.lab.start(Command(f"{self.name}-direct", argv))
        return DIRECT if probe.wait(ADMIN_LIMIT_S).is_good else BUFFERED

    def uri(self, work: StorageWork, address: str) -> str:
        """Units have the order in which workloads name devices."""
        lun = tgt.FIRST_LUN + list(self._backing.paths).index(work.device)
        return tgt.uri(address, self.port, self.host, lun)

    def stop(self) -> Ended:
        """tgtd does not end at SIGTERM while it has a target."""
        self.program.signal("KILL")
        return self.program.wait(STOP_LIMIT_S)
