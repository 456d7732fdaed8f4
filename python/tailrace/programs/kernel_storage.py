"""Storage of the Linux kernel itself, set up by shell scripts: its disk without a medium
(null_blk), its targets (LIO and nvmet) by configfs, and its initiators.

Facts: `drivers/block/null_blk`, `drivers/target/iscsi`, `drivers/nvme` of Linux 6.1, and
iscsistart(8) of open-iscsi.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tailrace.programs.needed import Needed
from tailrace.programs.storage import StorageWork

LOCAL, ISCSI, NVME_TCP = "local", "iscsi", "nvme-tcp"
PROTOCOLS = (LOCAL, ISCSI, NVME_TCP)
ISCSISTART = Needed(
    "iscsistart",
    "open-iscsi",
    "--version",
    "exact runs of kind storage over iscsi",
    title="open-iscsi",
)
NVME = "/sys/kernel/config/nvmet"
PREFIX = "2026-11.org.tailrace"
MIB = 2**20
PS_PER_NS = 1000
ATTEMPTS = 500
"""Polls of an attached disk, 10 ms of virtual time apart."""
HEADER = """#!/bin/sh -e
[ -d /sys/kernel/config/nullb ] || mount -t configfs none /sys/kernel/config || true
"""
STAY = """trap 'exit 0' TERM
while :; do
    sleep 3600 &
    wait
done
"""
"""A target lasts until the trial ends it: by then its initiators have completed their requests."""
WAIT = """tries=0
until find_disk && [ -b "$disk" ]; do
    tries=$((tries + 1))
    if [ $tries -gt {attempts} ]; then
        echo "{name}: the disk of {target} has not come" >&2
        exit 1
    fi
    sleep 0.01
done
"""


class StorageTarget(NamedTuple):
    """A workload, its index among those of its host, and the address of its target."""

    work: StorageWork
    number: int
    address: str


def names_of(work: StorageWork) -> tuple[str, str]:
    """Names of the iSCSI target and of the NVMe subsystem of a workload."""
    return f"iqn.{PREFIX}:{work.name.lower()}", f"nqn.{PREFIX}:{work.name.lower()}"


def disk(target: StorageTarget, device: Mapping[str, Any]) -> str:
    """Makes a disk that answers each request after a fixed time and keeps nothing; its path is then
    in `$disk`."""
    work = target.work
    # The folder gives the disk its name, of 31 characters at most.
    name = f"{work.protocol}-{target.number}"
    settings = {
        "size": -(-work.size_bytes // MIB),
        "blocksize": device["sector_bytes"],
        "irqmode": 2,
        "completion_nsec": device["read_latency"]["constant"] // PS_PER_NS,
        "hw_queue_depth": min(device["servers"], device["queue_depth"]),
        "power": 1,
    }
    folder = f"/sys/kernel/config/nullb/{name}"
    lines = [
        f"mkdir {folder}",
        *(f"echo {value} > {folder}/{key}" for key, value in settings.items()),
    ]
    return "\n".join([*lines, f"disk=/dev/{name}", '[ -b "$disk" ]', ""])


def target(targets: Sequence[StorageTarget], devices: Mapping[str, Mapping[str, Any]]) -> str:
    """The disks of one host, and the targets that offer them. All workloads have the same
    protocol."""
    is_nvme = targets[0].work.protocol == NVME_TCP
    offer = _nvme_subsystem if is_nvme else _iscsi_target
    parts = (disk(each, devices[str(each.work.raw["device"])]) + offer(each) for each in targets)
    return HEADER + "".join(parts) + (_nvme_ports(targets) if is_nvme else "") + STAY


def attach(target: StorageTarget, initiator: str) -> str:
    """Attaches the disk of a workload to an initiator; its path is then in `$disk`."""
    wait = WAIT.format(attempts=ATTEMPTS, name=target.work.name, target=target.address)
    ways: Mapping[str, Callable[[StorageTarget, str], str]] = {
        ISCSI: _iscsi_initiator,
        NVME_TCP: _nvme_initiator,
    }
    return "#!/bin/sh -e\n" + ways[target.work.protocol](target, initiator) + wait


def _session(work: StorageWork) -> Mapping[str, Any]:
    """The negotiated parameters of a workload's session, in the plan."""
    [found] = work.raw["protocol"].values()
    return dict(found)


def _yes(is_so: bool) -> str:
    return "Yes" if is_so else "No"


def _digest(is_used: bool) -> str:
    return "CRC32C" if is_used else "None"


def _iscsi_target(target: StorageTarget) -> str:
    work, _, address = target
    agreed = _session(work)
    root = "/sys/kernel/config/target"
    core, group = f"{root}/core/iblock_0/{work.name}", f"{root}/iscsi/{names_of(work)[0]}/tpgt_1"
    # The initiator would take more of each than the target offers here, so that these are what they
    # agree on.
    offered = {
        "InitialR2T": _yes(agreed["initial_r2t"]),
        "ImmediateData": _yes(agreed["immediate_data"]),
        "FirstBurstLength": agreed["first_burst_bytes"],
        "MaxBurstLength": agreed["max_burst_bytes"],
        "MaxRecvDataSegmentLength": agreed["target_max_recv_bytes"],
        "HeaderDigest": _digest(agreed["header_digest"]),
        "DataDigest": _digest(agreed["data_digest"]),
    }
    attributes = {"authentication": 0, "generate_node_acls": 1, "demo_mode_write_protect": 0}
    attributes["default_cmdsn_depth"] = agreed["commands"]
    lines = [
        f"mkdir -p {core}",
        f"echo udev_path=$disk > {core}/control",
        f"echo 1 > {core}/enable",
        f"mkdir -p {group}",
        f"mkdir {group}/np/{address}:{work.port}",
        f"mkdir {group}/lun/lun_0",
        f"ln -s {core} {group}/lun/lun_0/disk",
        *(f"echo {value} > {group}/param/{key}" for key, value in offered.items()),
        *(f"echo {value} > {group}/attrib/{key}" for key, value in attributes.items()),
        f"echo 1 > {group}/enable",
        "",
    ]
    return "\n".join(lines)


def _iscsi_initiator(target: StorageTarget, initiator: str) -> str:
    work, _, address = target
    agreed, name = _session(work), names_of(work)[0]
    ours = {
        "node.conn[0].iscsi.MaxRecvDataSegmentLength": agreed["initiator_max_recv_bytes"],
        "node.conn[0].iscsi.HeaderDigest": _digest(agreed["header_digest"]),
        "node.conn[0].iscsi.DataDigest": _digest(agreed["data_digest"]),
    }
    options = " ".join(f"'--param={key}={value}'" for key, value in ours.items())
    return f"""iscsistart -i iqn.{PREFIX}:{initiator.lower()} -t {name} -g 1 -a {address} -p {work.port} {options}
find_disk() {{
    for session in /sys/class/iscsi_session/session*; do
        if [ "$(cat $session/targetname)" = {name} ]; then
            for found in $session/device/target*/*/block/*; do disk=/dev/${{found##*/}}; done
        fi
    done
}}
"""  # noqa: E501


def _nvme_subsystem(target: StorageTarget) -> str:
    subsystem = f"{NVME}/subsystems/{names_of(target.work)[1]}"
    lines = [
        f"mkdir {subsystem}",
        f"echo 1 > {subsystem}/attr_allow_any_host",
        f"mkdir {subsystem}/namespaces/1",
        f"echo $disk > {subsystem}/namespaces/1/device_path",
        f"echo 1 > {subsystem}/namespaces/1/enable",
        "",
    ]
    return "\n".join(lines)


def _nvme_ports(targets: Sequence[StorageTarget]) -> str:
    """One for each address, which offers all of its subsystems. Those of one address have one
    in-capsule size."""
    lines: list[str] = []
    for number, address in enumerate(
        dict.fromkeys((each.address, each.work.port) for each in targets), 1
    ):
        own = [each.work for each in targets if (each.address, each.work.port) == address]
        port = f"{NVME}/ports/{number}"
        settings = {
            "addr_trtype": "tcp",
            "addr_adrfam": "ipv4",
            "addr_traddr": address[0],
            "addr_trsvcid": address[1],
            "param_inline_data_size": _session(own[0])["in_capsule_bytes"],
        }
        names = [names_of(work)[1] for work in own]
        lines += [
            f"mkdir {port}",
            *(f"echo {value} > {port}/{key}" for key, value in settings.items()),
        ]
        lines += [f"ln -s {NVME}/subsystems/{name} {port}/subsystems/{name}" for name in names]
    return "".join(f"{line}\n" for line in lines)


def _nvme_initiator(target: StorageTarget, initiator: str) -> str:
    work, _, address = target
    agreed, name = _session(work), names_of(work)[1]
    options = ",".join(
        [
            f"transport=tcp,traddr={address},trsvcid={work.port},nqn={name}",
            f"hostnqn=nqn.{PREFIX}:{initiator.lower()},queue_size={agreed['queue_size']}",
            *_flags(agreed),
        ]
    )
    return f"""echo {options} > /dev/nvme-fabrics
find_disk() {{
    for subsystem in /sys/class/nvme-subsystem/nvme-subsys*; do
        if [ "$(cat $subsystem/subsysnqn)" = {name} ]; then disk=/dev/nvme${{subsystem##*subsys}}n1; fi
    done
}}
"""  # noqa: E501


def _flags(agreed: Mapping[str, Any]) -> Iterator[str]:
    """Options of the host that have no value."""
    for key, flag in (
        ("header_digest", "hdr_digest"),
        ("data_digest", "data_digest"),
        ("success_flag", "disable_sqflow"),
    ):
        if agreed[key]:
            yield flag
