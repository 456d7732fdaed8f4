"""Features of a storage workload in the scenario that the storage of Linux kernels in virtual time
does not have."""

from collections.abc import Iterable, Mapping
from typing import Any

from tailrace.programs import fio_refusals
from tailrace.programs.kernel_storage import ISCSI, ISCSISTART, LOCAL, NVME_TCP, PROTOCOLS
from tailrace.programs.needed import path_of
from tailrace.programs.storage import Found, protocol_of
from tailrace.scenario.network.device import Device

BLOCK_MAX_BYTES = 2**20
"""Of a request that no initiator of Linux splits: `max_sectors_kb` of its disks is 1280."""
SERVERS_MAX = 1024
RATE_MIN_BPS = 8 * 10**11
"""100 GB/s: 1 MiB takes 10 us. The disk has no rate, and a scenario must state one."""
KERNELS = ("open-iscsi", "lio")
QUEUE_SIZES = range(16, 1025)
"""Of `queue_size` (`drivers/nvme/host/fabrics.h`: NVMF_MIN_QUEUE_SIZE, NVMF_MAX_QUEUE_SIZE)."""
PAGE_BYTES = 4096
IN_CAPSULE_MAX = 4 * PAGE_BYTES
H2C_DATA_BYTES = 2**22
PS_PER_NS = 1000
SIMULATE = "omit --exact to simulate it"


def refusals(workload: Any, devices: Mapping[str, Device]) -> Found:
    """Keys below the workload, problem, hint."""
    protocol = protocol_of(workload)
    if protocol not in PROTOCOLS:
        what = f"exact runs have no initiator for {protocol}: it is none of the kernel's own"
        yield ("protocol",), what, f"write one of: {', '.join(PROTOCOLS)}; or {SIMULATE}"
        return
    if protocol == ISCSI and path_of(ISCSISTART) is None:
        yield (
            ("protocol",),
            f"{ISCSISTART.title} is not installed",
            f"install the package {ISCSISTART.package}",
        )
    yield from fio_refusals.jobs(workload, "--exact")
    if workload.block.largest > BLOCK_MAX_BYTES:
        yield (
            ("block",),
            "the kernel of an initiator splits requests of more than 1 MiB",
            "write 1MiB, or less",
        )
    if workload.flush_every:
        what = (
            "the disk of an exact run has no write cache, and a kernel does not flush such a disk"
        )
        yield ("flush_every",), what, f"omit it, or {SIMULATE}"
    for key in ("request_cost", "write_cost"):
        if getattr(workload, key):
            yield (
                (key,),
                "a kernel in virtual time takes no time of a processor",
                f"omit it, or {SIMULATE}",
            )
    if protocol != LOCAL:
        session = workload.session
        yield from {ISCSI: _iscsi, NVME_TCP: _nvme_tcp}[protocol](session)
    yield from _device(workload.device, devices[workload.device].effective)


def capsule_refusals(workload: Any, every: Iterable[Any]) -> Found:
    """A port of the NVMe/TCP target has one size of capsules, that of the first workload that uses
    it."""
    storage = (each for each in every if each.kind == workload.kind)
    known = next((each for each in storage if _address(each) == _address(workload)), workload)
    if (
        protocol_of(workload) == NVME_TCP
        and known.session.in_capsule != workload.session.in_capsule
    ):
        what = (
            f"another workload asks port {workload.server_port} of '{workload.target}' with "
            "other capsules"
        )
        yield (
            ("nvme_tcp", "in_capsule"),
            what,
            f"write in_capsule: {known.session.in_capsule}B, or another port",
        )


def _address(workload: Any) -> tuple[Any, ...]:
    return workload.target, workload.vlan, workload.server_port, workload.protocol


def _device(name: str, device: Device) -> Found:
    """The disk of a kernel answers each request after one time, as many at a time as it has
    servers."""
    hint = "name a device of constant and equal latencies, without cache and head"
    read, write = device.read_latency, device.write_latency
    if device.rotation is not None:
        yield ("device",), f"'{name}' has a head, and the disk of an exact run has none", hint
    elif read is None or write is None or read.raw != write.raw or "constant" not in read.raw:
        yield ("device",), f"'{name}' does not answer reads and writes after one time", hint
    elif read.raw["constant"] < PS_PER_NS:
        yield ("device",), f"'{name}' takes no time", "write a latency of 1ns or more"
    elif min(device.read_rate or RATE_MIN_BPS, device.write_rate or RATE_MIN_BPS) < RATE_MIN_BPS:
        what = f"'{name}' is bound by a rate, and the disk of an exact run is not"
        yield ("device",), what, "write a read_rate and a write_rate of 100GB/s or more"
    elif device.cache is not None and device.cache.size:
        yield (
            ("device",),
            f"'{name}' has a write cache, and the disk of an exact run has none",
            hint,
        )
    elif (device.servers or 1) > SERVERS_MAX:
        yield ("device",), f"'{name}' has {device.servers} servers", f"at most {SERVERS_MAX}"


def _iscsi(session: Any) -> Found:
    """Parameters that LIO or open-iscsi does not support."""
    ends = (session.initiator, session.target)
    for key, end, ours in zip(("initiator", "target"), ends, KERNELS, strict=True):
        if end != ours:
            what = f"the {key} of an exact run is that of the kernel, {ours}"
            yield ("iscsi",), what, "write iscsi: {initiator: open-iscsi, target: lio}"
    if ends != KERNELS:
        return
    agreed, usual = (
        session.agreed(),
        type(session)(initiator=KERNELS[0], target=KERNELS[1]).agreed(),
    )
    if agreed.first_burst > 4 * usual.first_burst:
        yield (
            ("iscsi", "first_burst"),
            "open-iscsi takes no first burst of more than 256 KiB",
            "write 256KiB, or less",
        )
    if agreed.max_outstanding_r2t != usual.max_outstanding_r2t:
        yield ("iscsi", "max_outstanding_r2t"), "open-iscsi agrees on one R2T at a time", "omit it"
    if not session.status_with_data:
        yield (
            ("iscsi", "status_with_data"),
            "LIO sends the status of a read with its last data",
            "omit it",
        )


def _nvme_tcp(session: Any) -> Found:
    """Parameters on which Linux's host and target do not agree."""
    if session.queues != 1:
        yield ("nvme_tcp", "queues"), "a guest has one core, and so one I/O queue", "omit it"
    if session.queue_size not in QUEUE_SIZES:
        yield (
            ("nvme_tcp", "queue_size"),
            "the host of Linux has queues of 16 to 1024 entries",
            "write 16 to 1024",
        )
    if session.in_capsule % PAGE_BYTES or not 0 < session.in_capsule <= IN_CAPSULE_MAX:
        yield (
            ("nvme_tcp", "in_capsule"),
            "the target of Linux has capsules of 1 to 4 pages",
            "write 4KiB, 8KiB or 16KiB",
        )
    if session.max_h2c_data != H2C_DATA_BYTES:
        yield (
            ("nvme_tcp", "max_h2c_data"),
            "the target of Linux takes up to 4 MiB in a unit",
            "omit it",
        )
