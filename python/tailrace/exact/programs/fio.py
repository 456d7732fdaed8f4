"""fio on the kernels' own storage in an exact run: their initiators and targets of iSCSI and NVMe
over TCP."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tailrace.exact.load import OUTPUT, GuestLoad, GuestProgram, GuestTask, Refusals
from tailrace.files import make_folder, write_text
from tailrace.programs import fio, kernel_storage
from tailrace.programs.kernel_storage import ISCSI, ISCSISTART, LOCAL, StorageTarget
from tailrace.programs.kernel_storage_refusals import capsule_refusals, refusals
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.storage import Done, StorageWork, measured, protocol_of
from tailrace.scenario.network.device import known_devices
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.storage import Storage

FOLDER = "/run/tailrace/storage"
ENGINE = "libaio"
MIB = 2**20
SPARE_MIB = 256
"""Of memory for fio, and for buffers of sessions."""
ATTACH_NS = 50_000_000
"""From the start of the targets to that of the initiators. iscsistart waits for a second before it
logs in."""
BEGIN_S = 1_577_836_802
"""Time zero of the plan by the clock of a guest."""
FIO = """trap 'exit 1' TERM
cd {output}
left_ns=$(({begin_s}000000000 - $(date +%s%N)))
[ $left_ns -le 0 ] || sleep $((left_ns / 1000000000)).$(printf %09d $((left_ns % 1000000000)))
# fio reads the processor's own clock unless it is told not to: in virtual time that clock means nothing.
DISK=$disk fio --clocksource=clock_gettime --output-format=json --output={report} {folder}/jobs.fio &
fio=$!
trap 'kill -INT $fio' TERM
status=0
wait $fio || status=$?
while kill -0 $fio 2>/dev/null; do
    status=0
    wait $fio || status=$?
done
# fio that was told to end writes its logs, and says so by this status.
[ $status -ne 128 ] || status=0
exit $status
"""  # noqa: E501


class Fio(GuestLoad):
    """fio as the jobs of one workload."""

    load_name = "fio"
    sort = "block-storage"
    needs = (fio.FIO,)
    has_one_port = False

    def __init__(self, task: GuestTask) -> None:
        super().__init__(task)
        self.work = StorageWork(task.raw, task.seed)
        self._scripts: dict[str, str] = {}

    @classmethod
    def server_of(cls, raw: Mapping[str, Any]) -> str:
        """The host of the device; one of the initiators where each has its own."""
        return str(raw.get("target") or raw["initiators"][0])

    @classmethod
    def service_of(cls, raw: Mapping[str, Any]) -> str | None:
        """By the protocol."""
        return protocol_of(raw)

    @classmethod
    def needs_with(cls, service: str | None) -> tuple[Needed, ...]:
        """The initiator of iSCSI needs a program that logs in."""
        return (*cls.needs, ISCSISTART) if service == ISCSI else cls.needs

    @classmethod
    def refusals(cls, workload: Storage, scenario: Scenario) -> Refusals:
        """Features that fio, or the storage of the kernels, does not have."""
        yield from refusals(workload, known_devices(scenario.devices))
        yield from capsule_refusals(workload, scenario.running.values())

    @property
    def memory_mib(self) -> int:
        """Buffers of all requests under way, at both ends."""
        under_way = self.work.jobs * self.work.depth * len(self.work.initiators)
        return SPARE_MIB + 2 * under_way * self.work.block_bytes // MIB

    def programs(self) -> Iterator[GuestProgram]:
        """The target, and the jobs of each initiator."""
        if self.work.protocol != LOCAL:
            yield self._target()
        for host in self.work.initiators:
            yield self._initiator(host)

    @property
    def configurations(self) -> Mapping[str, str]:
        """The scripts that set up targets and initiators."""
        return self._scripts

    def _targets(self) -> list[StorageTarget]:
        works = [StorageWork(raw, self.task.seed) for raw in self.task.shared]
        address = self.task.addresses.of
        return [
            StorageTarget(work, number, address(self.server_of(work.raw), work.vlan))
            for number, work in enumerate(works)
        ]

    def _own(self) -> StorageTarget:
        return next(each for each in self._targets() if each.work.name == self.work.name)

    def _target(self) -> GuestProgram:
        host = self.server_of(self.work.raw)
        name = f"{self.work.protocol}-{host}"
        text = kernel_storage.target(self._targets(), self.task.devices)
        return self._script(host, name, text, {})

    def _initiator(self, host: str) -> GuestProgram:
        work = self.work
        device = self.task.devices[str(work.raw["device"])]
        if work.protocol == LOCAL:
            text = kernel_storage.HEADER + kernel_storage.disk(self._own(), device)
        else:
            text = kernel_storage.attach(self._own(), host)
        here = f"{FOLDER}/{self._name(host)}"
        output = f"{OUTPUT}/{self._folder}"
        text += f"mkdir -p {output}\n"
        text += FIO.format(output=output, begin_s=BEGIN_S, report=fio.REPORT, folder=here)
        jobs = fio.job_file(work, "${DISK}", math.ceil(self.task.limit_s), ENGINE)
        return self._script(host, self._name(host), text, {"jobs.fio": jobs})

    def _script(self, host: str, name: str, text: str, files: Mapping[str, str]) -> GuestProgram:
        folder, here = self.task.folder / "programs" / name, f"{FOLDER}/{name}"
        make_folder(folder)
        for file, content in {"run.sh": text, **files}.items():
            write_text(folder / file, content)
        self._scripts[name] = text
        is_jobs = bool(files)
        return GuestProgram(
            host,
            name,
            ["/bin/sh", "-e", f"{here}/run.sh"],
            is_awaited=is_jobs and self.task.is_awaited,
            delay_ns=ATTACH_NS if is_jobs else 0,
            copies={here: str(folder.absolute())},
            stop_signal="TERM",
            is_server=not is_jobs,
        )

    def _name(self, host: str) -> str:
        return f"fio-{self.work.name}-{host}"

    @property
    def _folder(self) -> str:
        return f"storage-{self.work.name}"

    def _requests(self) -> list[Done]:
        found: list[Done] = []
        for number, host in enumerate(self.work.initiators):
            folder = self.task.output_of(host) / self._folder
            own = fio.requests_of(self.work, folder, number)
            fio.require_sound_jobs(self.work, folder, host, own)
            found += own
        return found

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the logs of all jobs."""
        return measured(self.work, self._requests(), interval)
