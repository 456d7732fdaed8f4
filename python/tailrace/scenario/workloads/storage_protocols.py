"""Protocols by which requests of storage reach the device of another host: keys, presets of known
ends, negotiation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from tailrace.scenario.text.quantities import Count, Part, Size
from tailrace.scenario.text.units import exact_size

KIB, MIB = 2**10, 2**20
ISCSI_LENGTH_MIN, ISCSI_LENGTH_MAX = 512, 2**24 - 1
"""Range of the lengths that iSCSI negotiates (RFC 7143, 13.12 to 13.14)."""
H2C_DATA_MIN = 4096
"""Least MAXH2CDATA (NVM Express TCP Transport Specification, 3.6.2.3)."""

Found = Iterator[tuple[tuple[str, ...], str, str]]
"""Key below the protocol, what is wrong, hint."""


@dataclass(frozen=True)
class IscsiEnd:
    """What one end offers or declares in the login."""

    initial_r2t: bool
    immediate_data: bool
    first_burst: int
    max_burst: int
    max_recv: int
    max_outstanding_r2t: int


RFC = IscsiEnd(True, True, 64 * KIB, 256 * KIB, 8 * KIB, 1)
"""Defaults of RFC 7143, 13.10 to 13.17 [S]."""

INITIATORS: Mapping[str, IscsiEnd] = {
    # Captured from QEMU 7.2 with libiscsi 1.19 [S].
    "libiscsi": IscsiEnd(False, True, 256 * KIB, 256 * KIB, 256 * KIB, 1),
    # Captured from open-iscsi 2.1.8 without a file of settings (iscsistart) [S].
    "open-iscsi": IscsiEnd(False, True, 256 * KIB, 16_776_192, 256 * KIB, 1),
    "rfc": RFC,
}
REQUESTS: Mapping[str, int] = {
    # libiscsi has no limit of its own: that of the command window is lower.
    "libiscsi": 4096,
    # node.session.queue_depth of iscsid.conf [S].
    "open-iscsi": 32,
    "rfc": 4096,
}
TARGETS: Mapping[str, IscsiEnd] = {
    # Captured from tgt 1.0.85: no MaxRecvDataSegmentLength is declared, so that it is that of the
    # RFC [S].
    "tgt": IscsiEnd(True, True, 64 * KIB, 256 * KIB, 8 * KIB, 1),
    # Captured from Linux 6.1: the target declares the MaxRecvDataSegmentLength of the initiator
    # [S].
    "lio": IscsiEnd(True, True, 64 * KIB, 256 * KIB, 256 * KIB, 1),
    "rfc": RFC,
}
WINDOWS: Mapping[str, tuple[int, bool]] = {
    # MaxCmdSN is 128 above ExpCmdSN, whatever is unanswered: captured, and iscsid.c of tgt [S].
    "tgt": (129, False),
    # Captured from Linux 6.1: MaxCmdSN is 63 above ExpCmdSN when nothing is unanswered
    # (default_cmdsn_depth), and grows as commands are answered [S].
    "lio": (64, True),
    "rfc": (64, True),
}
"""Commands that a target takes, and whether they count until they are answered."""

SET_UP = [[452, 348]] + [
    [48, answer] for answer in (68, 48, 112, 116, 148, 80, 60, 112, 124, 112, 56)
]
"""The login and what QEMU asks about a device, with the answers of tgt, in bytes: captured [S]. Of
other ends [A]."""
KERNEL_SET_UP = [[472, 360]] + [
    [48, answer] for answer in (84, 144, 52, 48, 64, 80, 52, 52, 80, 148, 48, 80, 52, 52, 52, 80)
]
"""The same of open-iscsi and LIO of Linux 6.1 [S]. The first pair depends on the lengths of
names."""
KERNEL_ENDS = ("open-iscsi", "lio")


class Iscsi(Part):
    """iSCSI: both ends, and values of the session in place of what they agree on."""

    initiator: Literal["libiscsi", "open-iscsi", "rfc"] = "libiscsi"
    """What the initiator offers: `libiscsi` of QEMU, `open-iscsi` of Linux, or the defaults of RFC
    7143."""
    target: Literal["tgt", "lio", "rfc"] = "tgt"
    """What the target offers: `tgt`, `lio` of the Linux kernel, or the defaults of RFC 7143."""
    initial_r2t: bool | None = None
    """Data that a command does not carry is asked for from the start. Default: if an end wants
    it."""
    immediate_data: bool | None = None
    """Commands of writes carry data. Default: if both ends want it."""
    first_burst: Size | None = None
    """Most data of a write that is not asked for. Default: the smaller one."""
    max_burst: Size | None = None
    """Most data of a write that is asked for at a time. Default: the smaller one."""
    max_recv_data_segment: Size | None = None
    """Most data in a unit that the initiator receives. Default: that of the initiator."""
    target_max_recv_data_segment: Size | None = None
    """Most data in a unit that the target receives. Default: that of the target."""
    max_outstanding_r2t: Annotated[Count, Field(ge=1, le=65_535)] | None = None
    """Times that a request has been asked for data that has not come. Default: the smaller one,
    1."""
    header_digest: bool = False
    """CRC32C behind each header: 4 bytes."""
    data_digest: bool = False
    """CRC32C behind the data of each unit: 4 bytes."""
    status_with_data: bool = True
    """The status of a read goes with its last data; otherwise in a unit of its own."""

    def agreed(self) -> IscsiEnd:
        """What both ends agree on, or what is stated in its place (RFC 7143, chapter 13);
        `max_recv` of our end."""
        ours, theirs = INITIATORS[self.initiator], TARGETS[self.target]

        def stated(value: Any, otherwise: Any) -> Any:
            return otherwise if value is None else value

        return IscsiEnd(
            stated(self.initial_r2t, ours.initial_r2t or theirs.initial_r2t),
            stated(self.immediate_data, ours.immediate_data and theirs.immediate_data),
            stated(self.first_burst, min(ours.first_burst, theirs.first_burst)),
            stated(self.max_burst, min(ours.max_burst, theirs.max_burst)),
            stated(self.max_recv_data_segment, ours.max_recv),
            stated(
                self.max_outstanding_r2t, min(ours.max_outstanding_r2t, theirs.max_outstanding_r2t)
            ),
        )

    @property
    def unit_bytes(self) -> int:
        """Most data in one unit, of reads or of writes, whichever is less."""
        agreed = self.agreed()
        theirs = self.target_max_recv_data_segment or TARGETS[self.target].max_recv
        return min(agreed.max_recv, theirs, agreed.max_burst)

    def problems(self) -> Found:
        """Values that no session can have."""
        for key in (
            "first_burst",
            "max_burst",
            "max_recv_data_segment",
            "target_max_recv_data_segment",
        ):
            value = getattr(self, key)
            if value is not None and not ISCSI_LENGTH_MIN <= value <= ISCSI_LENGTH_MAX:
                yield (
                    (key,),
                    f"{exact_size(value)} is not a length of iSCSI",
                    "write 512B to 16777215B",
                )
        agreed = self.agreed()
        if agreed.first_burst > agreed.max_burst:
            first, others = exact_size(agreed.first_burst), exact_size(agreed.max_burst)
            key = "first_burst" if self.first_burst is not None else "max_burst"
            what = f"the first burst of {first} is longer than the others of {others}"
            yield (key,), what, "lower first_burst, or raise max_burst"

    def lowered(self) -> dict[str, Any]:
        """The session in a plan."""
        agreed = self.agreed()
        commands, counts_unanswered = WINDOWS[self.target]
        target_max_recv = self.target_max_recv_data_segment or TARGETS[self.target].max_recv
        return {
            "iscsi": {
                "initial_r2t": agreed.initial_r2t,
                "immediate_data": agreed.immediate_data,
                "first_burst_bytes": agreed.first_burst,
                "max_burst_bytes": agreed.max_burst,
                "initiator_max_recv_bytes": agreed.max_recv,
                "target_max_recv_bytes": target_max_recv,
                "max_outstanding_r2t": agreed.max_outstanding_r2t,
                "header_digest": self.header_digest,
                "data_digest": self.data_digest,
                "status_with_data": self.status_with_data,
                "cuts_sequences": self.target != "tgt",
                "commands": commands,
                "counts_unanswered": counts_unanswered,
                "requests": REQUESTS[self.initiator],
                "set_up_bytes": KERNEL_SET_UP
                if (self.initiator, self.target) == KERNEL_ENDS
                else SET_UP,
            }
        }


class NvmeTcp(Part):
    """NVMe over TCP, as Linux hosts and targets agree on it."""

    queues: Annotated[Count, Field(ge=1, le=128)] = 1
    """I/O queues of an initiator, each with a connection; jobs take them in turn. Linux has one for
    each core."""
    queue_size: Annotated[Count, Field(ge=2, le=65_536)] = 128
    """Entries of a queue; one less is under way at most."""
    in_capsule: Size = 16 * KIB
    """Largest write that goes with its command; of a larger one nothing does. Default: that of
    Linux, 16KiB."""
    max_h2c_data: Size = 4 * MIB
    """Most data of a write in one unit. Default: that of the Linux target, 4MiB."""
    success_flag: bool = False
    """A read ends with a flag of its data, without a unit for its status (Linux:
    `--disable-sqflow`)."""
    header_digest: bool = False
    """CRC32C behind each header: 4 bytes."""
    data_digest: bool = False
    """CRC32C behind the data of each unit: 4 bytes."""

    @property
    def unit_bytes(self) -> int:
        """Most data of a write in one unit; that of a read is one."""
        return self.max_h2c_data

    def problems(self) -> Found:
        """Values that no queue can have."""
        if self.max_h2c_data < H2C_DATA_MIN or self.max_h2c_data % 4 or self.max_h2c_data >= 2**32:
            yield (
                ("max_h2c_data",),
                f"{exact_size(self.max_h2c_data)} is not a MAXH2CDATA",
                "write 4KiB or more, in whole words",
            )
        if self.in_capsule >= 2**32:
            yield ("in_capsule",), "a capsule has less than 4 GiB", "write a size such as 16KiB"

    def lowered(self) -> dict[str, Any]:
        """The queues in a plan."""
        return {
            "nvme-tcp": {
                "queues": self.queues,
                "queue_size": self.queue_size,
                "in_capsule_bytes": self.in_capsule,
                "max_h2c_data_bytes": self.max_h2c_data,
                "success_flag": self.success_flag,
                "header_digest": self.header_digest,
                "data_digest": self.data_digest,
            }
        }


class Nbd(Part):
    """The NBD protocol, as QEMU and nbdkit use it."""

    connections: Annotated[Count, Field(ge=1, le=128)] = 1
    """Connections of an initiator; jobs take them in turn."""
    requests: Annotated[Count, Field(ge=1, le=65_536)] = 16
    """Requests that a connection has under way at most: 16 as QEMU and nbdkit (assumed; 1 to
    128)."""
    structured_replies: bool = True
    """Data of a read stands in a chunk with 28 bytes before it; otherwise behind 16."""

    @property
    def unit_bytes(self) -> int | None:
        """Data of a request is one unit."""
        return None

    def problems(self) -> Found:
        """No value of one key excludes one of another."""
        yield from ()

    def lowered(self) -> dict[str, Any]:
        """The connections in a plan."""
        return {
            "nbd": {
                "connections": self.connections,
                "requests": self.requests,
                "structured_replies": self.structured_replies,
            }
        }


PROTOCOLS: Mapping[str, type[Iscsi | NvmeTcp | Nbd]] = {
    "iscsi": Iscsi,
    "nvme-tcp": NvmeTcp,
    "nbd": Nbd,
}
"""Protocols over a network; the key with their values has `_` for `-`."""


def protocol_key(protocol: str) -> str:
    """The key with the values of a protocol."""
    return protocol.replace("-", "_")


PROTOCOL_KEYS = tuple(protocol_key(protocol) for protocol in PROTOCOLS)


def protocol_problems(protocol: str, stated: Mapping[str, Iscsi | NvmeTcp | Nbd | None]) -> Found:
    """Problems of the values that are stated, by key."""
    for key, session in stated.items():
        if session is None:
            continue
        if key != protocol_key(protocol):
            yield (
                (key,),
                f"`{key}` has no effect with `protocol: {protocol}`",
                f"omit it, or write protocol: {key.replace('_', '-')}",
            )
        for (value, *_), what, hint in session.problems():
            yield (key, value), what, hint
