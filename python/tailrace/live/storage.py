"""Base class of servers of block devices: files in the lab's memory, written and verified before
each trial."""

import sys
import time
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.service import Raw, Service
from tailrace.outcome.types import BackingDisk
from tailrace.programs import pattern
from tailrace.programs.command import Command, Ended
from tailrace.programs.envelope import Envelope, check_command, disk_of, read_check
from tailrace.programs.storage import StorageWork

ON_DISK = "devices"
"""Folder of a trial with the files of devices that are on its disk; it is removed with the lab."""
WRITE_LIMIT_S = 120.0


class Backing:
    """The files of one host, one for each device, which workloads of the same device share: in the
    lab's memory, or on the disk of the run directory where the device has an envelope.
    """

    def __init__(self, lab: Lab, host: str, works: Sequence[StorageWork]) -> None:
        self._lab = lab
        self._host = host
        self._envelopes = {work.device: work.envelope for work in works}
        on_disk = any(self._envelopes.values())
        self.folder = (
            str(lab.folder.absolute() / ON_DISK / host)
            if on_disk
            else f"{lab.scratch}/devices-{host}"
        )
        self.paths = {work.device: f"{self.folder}/{work.device}" for work in works}
        """By device."""
        self._sizes: dict[str, int] = {}
        for work in works:
            end_bytes = work.offset_bytes + work.size_bytes
            self._sizes[work.device] = max(end_bytes, self._sizes.get(work.device, 0))
        self.disks: dict[str, BackingDisk] = {}
        """Measurements of devices with an envelope."""
        self.report = ""
        """How long each device took."""

    def write(self) -> dict[str, str]:
        """Writes every file, and reads it back; returns the checksum of each, which depends on its
        size only: where a file is written again for another workload of its device, the data is the
        same. Before that, the disk is measured without limits."""
        made = "-".join(self.paths)
        self._lab.run(
            Command(f"devices-{self._host}-{made}", ["mkdir", "--parents", self.folder]),
            WRITE_LIMIT_S,
        )
        for device, envelope in self._envelopes.items():
            if envelope is not None:
                self._check(device, envelope)
        return {name: self._write(name, path) for name, path in self.paths.items()}

    def _check(self, device: str, envelope: Envelope) -> None:
        command = check_command(
            f"check-{self._host}-{device}", self.paths[device], self._sizes[device]
        )
        measured = read_check(self._lab.run(command, WRITE_LIMIT_S))
        self.disks[device] = BackingDisk(
            host=self._host,
            device=device,
            disk=disk_of(Path(self.folder)),
            envelope=envelope.limits,
            measured=measured,
        )

    def limits(self, device: str) -> Raw | None:
        """The limits of the programs that use a device; None for no limits."""
        envelope = self._envelopes[device]
        if envelope is None:
            return None
        return envelope.order(f"disk-{self._host}-{device}", self.disks[device].disk)

    def _write(self, name: str, path: str) -> str:
        program = str(Path(pattern.__file__).absolute())
        argv = [sys.executable, "-I", program, path, str(self._sizes[name])]
        begun_s = time.monotonic()
        found = self._lab.run(Command(f"device-{self._host}-{name}", argv), WRITE_LIMIT_S).strip()
        self.report += f"{name}: written and verified in {time.monotonic() - begun_s:.2f} s\n"
        return found


class StorageService(Service):
    """One server of block devices, for all workloads whose device is on its host."""

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        super().__init__(host, workloads, templates)
        self.works = [StorageWork(raw, 0) for raw in workloads]
        self.checksums: dict[str, str] = {}
        self.backing: Backing | None = None
        self._lab: Lab | None = None
        self._running: Program | None = None

    @abstractmethod
    def start_server(self, lab: Lab, backing: Backing, cpus: float | None) -> Program:
        """Starts the server of these files."""

    @abstractmethod
    def uri(self, work: StorageWork, address: str) -> str:
        """Where an initiator finds the device of a workload; `address` is the server's."""

    @property
    def name(self) -> str:
        """Of the server in the lab."""
        return f"{self.service_name}-{self.host}"

    @property
    def priority(self) -> int:
        """Priority of its frames. Workloads with a common server have one priority: others are
        refused."""
        return int(self.workloads[-1]["priority"])

    def addresses(self, lab: Lab) -> list[str]:
        """Where it listens: in each VLAN of its workloads."""
        return [lab.address(self.host, vlan) for vlan in sorted({work.vlan for work in self.works})]

    @property
    def configuration(self) -> str:
        """The checksum of each device before the trial."""
        return "".join(f"{name} sha256 {digest}\n" for name, digest in self.checksums.items())

    def make_template(self) -> None:
        """Nothing: the data of a device is computed, and written into the memory of each lab."""

    def start(self, lab: Lab, cpus: float | None) -> None:
        """Writes and verifies the devices, and starts the server."""
        backing = self.backing = Backing(lab, self.host, self.works)
        self.checksums = backing.write()
        self._lab = lab
        self._running = self.start_server(lab, backing, cpus)

    def verify(self, lab: Lab) -> None:
        """Done when the devices were written: each was read back."""

    def report(self) -> str:
        """How long the devices took before the trial."""
        return self.backing.report if self.backing else ""

    def require_running(self) -> None:
        """Raises `FabricError` when the server has ended: the initiators would wait for it without
        an error."""
        if self.program.ended is not None:
            raise FabricError(f"the device disappeared: {self.program.complaint()}")

    @property
    def programs(self) -> Sequence[Program]:
        """The server."""
        return [self._running] if self._running else []

    @property
    def program(self) -> Program:
        """The server, after its start."""
        assert self._running is not None, "it was started"
        return self._running

    @property
    def lab(self) -> Lab:
        """The lab, after its start."""
        assert self._lab is not None, "it was started"
        return self._lab

    def stop(self) -> Ended:
        """Ends it; its sessions are over."""
        return self.program.stop()
