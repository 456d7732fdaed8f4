"""fio in a live trial: the jobs of every initiator, which begin together."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from msgspec import structs

from tailrace.files import make_folder, write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Load, Refusals, Task
from tailrace.live.measure import closings
from tailrace.live.measure.closings import Meant
from tailrace.live.programs.nbdkit_service import Nbdkit
from tailrace.live.programs.tgt_service import Tgt
from tailrace.live.storage import Backing, StorageService
from tailrace.programs import fio, fio_refusals, qemu_nbd
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.storage import Done, StorageWork, measured, protocol_of

SERVICE_OF = {"iscsi": Tgt.service_name, "nbd": Nbdkit.service_name}
"""By protocol; a local device has no server."""
READY_LIMIT_S = 10.0
POLL_S = 0.02
HALF = 0.5


class Fio(Load):
    """fio as the jobs of one workload."""

    load_name = "fio"
    sort = "block-storage"
    needs = (fio.FIO,)
    services: ClassVar[tuple[str, ...]] = (Tgt.service_name, Nbdkit.service_name)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work = StorageWork(task.raw, task.seed)
        self._folder = Path()
        self._around: list[Program] = []
        """Servers of fio, and of sessions."""
        self._client: Program | None = None
        self._ports: frozenset[int] = frozenset()
        self._is_over = False
        self._checksums: dict[str, str] = {}
        self._backings: dict[str, Backing] = {}
        """Of the initiators that have the device themselves."""

    @classmethod
    def service_of(cls, raw: Any) -> str | None:
        """By the protocol."""
        return SERVICE_OF.get(protocol_of(raw))

    @classmethod
    def server_of(cls, raw: Any) -> str | None:
        """The host of the device; None where each initiator has its own."""
        found = raw.get("target") if isinstance(raw, Mapping) else raw.target
        return None if found is None else str(found)

    @classmethod
    def refusals(cls, workload: Any) -> Refusals:
        """Features that fio, or the real devices, do not have."""
        return fio_refusals.refusals(workload)

    # --- facts ------------------------------------------------------------------------------------

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the device where most requests read."""
        first = self.work.initiators[0]
        other = self.work.target or first
        return (other, first) if self.work.read_share >= HALF else (first, other)

    @property
    def opens(self) -> tuple[str, str]:
        """Initiators connect to the target."""
        first = self.work.initiators[0]
        return first, self.work.target or first

    @property
    def waiting(self) -> int:
        """Requests under way."""
        return len(self.work.initiators) * self.work.jobs * self.work.depth

    def exposed(self, send_buffer_bytes: int) -> float:
        """All: a request waits for the answer of the device."""
        return 1.0

    @property
    def is_finite(self) -> bool:
        """Whether its jobs have an end."""
        return self.work.is_finite

    @property
    def _service(self) -> StorageService | None:
        found = self.task.service
        assert found is None or isinstance(found, StorageService), (
            "it asks servers of block devices only"
        )
        return found

    # --- the trial --------------------------------------------------------------------------------

    def prepare(self, lab: Lab) -> None:
        """Logs in to the device, writes the job files, and starts a server of fio on every
        initiator."""
        self._folder = (lab.folder / "logs" / f"storage-{self.name}").absolute()
        make_folder(self._folder)
        for host in self.work.initiators:
            text = fio.job_file(self.work, self._device(lab, host), math.ceil(self.task.limit_s))
            write_text(self._folder / fio.job_name(host), text)
            limits = (
                self._backings[host].limits(self.work.device) if host in self._backings else None
            )
            self._around.append(
                lab.start(replace(fio.server(self.work, host, self._folder), io=limits))
            )
        for server, host in zip(self._fio_servers, self.work.initiators, strict=True):
            _wait_for_socket(lab, server, host)

    @property
    def _fio_servers(self) -> list[Program]:
        return [each for each in self._around if Path(each.command.argv[0]).name == fio.PROGRAM]

    def _device(self, lab: Lab, host: str) -> str:
        """The device of an initiator, as its jobs name it."""
        service = self._service
        if service is None:
            backing = Backing(lab, host, [self.work])
            self._backings[host] = backing
            self._checksums[host] = backing.write()[self.work.device]
            return backing.paths[self.work.device]
        uri = service.uri(self.work, lab.address(service.host, self.work.vlan))
        return uri if isinstance(service, Nbdkit) else self._session(lab, host, uri)

    def _session(self, lab: Lab, host: str, uri: str) -> str:
        """An iSCSI session of an initiator, which logs in before the trial."""
        name, socket = f"session-{self.name}-{host}", f"{lab.scratch}/session-{self.name}-{host}"
        command = qemu_nbd.command(name, host, socket, uri, self.work.jobs, self.work.priority)
        started = lab.start(command)
        self._around.append(started)
        _wait_for_socket(lab, started, socket)
        return qemu_nbd.socket_uri(socket)

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All initiators begin with the trial."""
        if self._client is None:
            self._client = lab.start(fio.client(self.work, self._folder))
            return
        if self._service is not None:
            self._service.require_running()
        if self._client.ended is not None and not self._client.ended.is_good:
            raise FabricError(fio.complaint(self.work, self._folder))

    @property
    def programs(self) -> Sequence[Program]:
        """The servers, sessions and the client."""
        return [*self._around, *([self._client] if self._client else [])]

    @property
    def failed(self) -> Sequence[Program]:
        """A server or session ends only on request."""
        return [each for each in self._around if each.ended]

    @property
    def is_done(self) -> bool:
        """The client ends with the last job."""
        return self._client is not None and self._client.ended is not None

    def stop(self, lab: Lab) -> None:
        """The requests under way may finish; the logs are whole when the client has ended."""
        if self._client is not None:
            self._read_ports(lab)
            self._client.signal("INT")
            self._client.wait(STOP_LIMIT_S)
        for each in reversed(self._around):
            each.stop()

    def _read_ports(self, lab: Lab) -> None:
        """Notes the ports of iSCSI sessions while they are open."""
        service = self._service
        sessions = [each for each in self._around if each not in self._fio_servers]
        if service is not None and sessions:
            found = [closings.client_ports(lab, each, service.port) for each in sessions]
            self._ports = frozenset().union(*found)

    def connections(self, lab: Lab) -> Meant | None:
        """The connection of a single initiator's iSCSI session. fio opens its own connections to an
        NBD server, one for each job and some before; these are unknown."""
        service = self._service
        if service is None or not self._ports or len(self.work.initiators) > 1:
            return None
        client, server = self.opens
        return Meant(
            client=client,
            client_address=lab.address(client, self.work.vlan),
            client_ports=self._ports,
            server=server,
            server_address=lab.address(server, self.work.vlan),
            server_ports=frozenset({service.port}),
            server_sends=self.ends[0] == server,
            count=len(self._ports),
        )

    # --- results ----------------------------------------------------------------------------------

    def report(self) -> str:
        """By initiator, the slowest one first, fio's report of its whole run."""
        written = fio.report(self.work, self._folder)
        checksums = "".join(
            f"{host}: sha256 {digest} before the trial\n"
            for host, digest in self._checksums.items()
        )
        times = "".join(f"{host}: {backing.report}" for host, backing in self._backings.items())
        return checksums + times + fio.by_initiator(self.work, written)

    def _requests(self) -> list[Done]:
        whole = fio.requests(self.work, self._folder)
        fio.require_sound(self.work, fio.report(self.work, self._folder), whole)
        return whole

    def measured(self, interval: MeasuredInterval) -> Measured:
        """The figures in the logs of all jobs, with the counts of their backing disks."""
        found = measured(self.work, self._requests(), interval)
        own = self._service
        backings = (
            [own.backing]
            if own is not None and own.backing is not None
            else self._backings.values()
        )
        disks = [
            each.disks[self.work.device] for each in backings if self.work.device in each.disks
        ]
        return (
            replace(found, outcome=structs.replace(found.outcome, backing=disks))
            if disks
            else found
        )


def _wait_for_socket(lab: Lab, server: Program, socket: str) -> None:
    """Returns once a server listens on its Unix socket; raises `FabricError` when it ends before,
    with its reason."""
    deadline_s = time.monotonic() + READY_LIMIT_S
    for attempt in _numbers():
        if server.ended is not None:
            raise FabricError(server.complaint())
        name = f"{server.command.name}-listens-{attempt}"
        argv = ["ss", "--no-header", "--unix", "--listening", "src", socket]
        if lab.run(
            Command(name, argv, host=server.command.host, observes=True), READY_LIMIT_S
        ).strip():
            return
        if time.monotonic() > deadline_s:
            raise FabricError(
                f"{server.command.name}: it did not listen within {READY_LIMIT_S:g} s"
            )
        time.sleep(POLL_S)


def _numbers() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1
