"""Protocol data units of storage in a packet capture, in the order in which they were whole, as
tshark decodes them.

    storage_units.py iscsi|nvme-tcp CAPTURE

prints a line for each unit, or for several that are alike: how many, direction (> to the target),
kind, bytes in the stream; of an R2T what it asks for.
`crates/programs/src/storage/protocol/captures` has such lists.

Of iSCSI, all before the first read is the set-up: each question stands with its answer. Of NVMe
over TCP, only the connection of the last queue counts, which is that of an I/O queue.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

LIMIT_S = 120
COLUMNS = "\t"
VALUES = ","
ISCSI_PORT, NVME_PORT = 3260, 4420
HEADER_BYTES = 48
DIGEST_BYTES = 4
WORD_BYTES = 4
LOGIN, COMMAND = 0x03, 0x01
ANSWERS = {0x23, 0x21, 0x25}
"""Login response, SCSI response, Data-In: the end of what was asked (RFC 7143, 11.2.1.2)."""
ISCSI_KINDS = {0x01: "command", 0x05: "data-out", 0x21: "response", 0x25: "data-in", 0x31: "r2t"}
READS = {0x28, 0x88}
"""READ(10) and READ(16)."""
NVME_KINDS = {4: "command", 5: "response", 6: "data-out", 7: "data-in", 9: "r2t"}
"""Types of units (NVM Express TCP Transport Specification, 3.6.2)."""
NVME_SET_UP = 4
"""Units before the first command of an I/O queue: ICReq, ICResp, Connect, its response."""
ISCSI_FIELDS = (
    "tcp.dstport",
    "iscsi.opcode",
    "iscsi.datasegmentlength",
    "iscsi.initiatortasktag",
    "iscsi.bufferOffset",
    "iscsi.desireddatalength",
    "iscsi.headerdigest32",
    "iscsi.datadigest32",
    "scsi_sbc.opcode",
)
NVME_FIELDS = (
    "tcp.dstport",
    "tcp.stream",
    "nvme-tcp.type",
    "nvme-tcp.plen",
    "nvme-tcp.r2t.offset",
    "nvme-tcp.r2t.length",
)


class DecodeError(Exception):
    """A capture that tshark does not decode without an error."""


class Unit(NamedTuple):
    """A protocol data unit."""

    is_to_target: bool
    kind: str
    size_bytes: int
    asked: str = ""
    """Of an R2T, offset and length."""

    def __str__(self) -> str:
        words = [">" if self.is_to_target else "<", self.kind, str(self.size_bytes), self.asked]
        return " ".join(word for word in words if word)


def tshark(capture: Path, words: Iterable[str]) -> str:
    """What tshark writes."""
    command = ["tshark", "-r", str(capture), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        raise DecodeError(done.stderr.strip())
    return done.stdout


def frames(capture: Path, shown: str, fields: Iterable[str]) -> Iterator[dict[str, list[str]]]:
    """The values of each frame with units, by field; a field has a value for each unit that has
    it."""
    fields = list(fields)
    options = [word for field in fields for word in ("-e", field)]
    separators = ["-E", f"aggregator={VALUES}", "-E", "occurrence=a"]
    for line in tshark(capture, ["-Y", shown, "-T", "fields", *separators, *options]).splitlines():
        cells = line.split(COLUMNS)
        yield {
            field: cell.split(VALUES) if cell else []
            for field, cell in zip(fields, cells, strict=True)
        }


def complaints(capture: Path) -> list[str]:
    """What tshark finds wrong: frames that it cannot decode, and digests that are not those of
    their data."""
    shown = '_ws.malformed || _ws.expert.severity == "Error" || _ws.expert.group == "Checksum"'
    return tshark(capture, ["-Y", shown]).splitlines()


def iscsi(capture: Path) -> list[Unit]:
    """Units of an iSCSI session, the set-up first."""
    asked: dict[str, list[Unit]] = {}
    units: list[Unit] = []
    has_begun = False
    for frame in frames(capture, "iscsi", ISCSI_FIELDS):
        is_to_target = frame["tcp.dstport"] == [str(ISCSI_PORT)]
        reads = [int(code, 0) in READS for code in frame["scsi_sbc.opcode"]]
        has_begun = has_begun or any(reads)
        header = HEADER_BYTES + (DIGEST_BYTES if frame["iscsi.headerdigest32"] else 0)
        behind = DIGEST_BYTES if frame["iscsi.datadigest32"] else 0
        offsets, lengths = iter(frame["iscsi.bufferOffset"]), iter(frame["iscsi.desireddatalength"])
        rows = zip(
            frame["iscsi.opcode"],
            frame["iscsi.datasegmentlength"],
            frame["iscsi.initiatortasktag"],
            strict=True,
        )
        for code, text, tag in rows:
            opcode, data = int(code, 0), int(text, 0)
            size = header + (-(-data // WORD_BYTES) * WORD_BYTES + behind if data else 0)
            if not has_begun:
                if opcode in {LOGIN, COMMAND} or opcode in ANSWERS:
                    asked.setdefault(tag, []).append(Unit(is_to_target, "set-up", size))
                continue
            if opcode not in ISCSI_KINDS:
                continue
            offset = next(offsets) if ISCSI_KINDS[opcode] in {"r2t", "data-in", "data-out"} else "0"
            is_r2t = ISCSI_KINDS[opcode] == "r2t"
            what = f"{int(offset, 0)}+{int(next(lengths), 0)}" if is_r2t else ""
            units.append(Unit(is_to_target, ISCSI_KINDS[opcode], size, what))
    return [unit for pair in asked.values() for unit in pair] + units


def nvme_tcp(capture: Path) -> list[Unit]:
    """Units of the last queue that was connected."""
    by_queue: dict[str, list[Unit]] = {}
    for frame in frames(capture, "nvme-tcp", NVME_FIELDS):
        is_to_target = frame["tcp.dstport"] == [str(NVME_PORT)]
        units = by_queue.setdefault(frame["tcp.stream"][0], [])
        offsets, lengths = iter(frame["nvme-tcp.r2t.offset"]), iter(frame["nvme-tcp.r2t.length"])
        for code, size in zip(frame["nvme-tcp.type"], frame["nvme-tcp.plen"], strict=True):
            kind = NVME_KINDS.get(int(code, 0), "set-up") if len(units) >= NVME_SET_UP else "set-up"
            what = f"{int(next(offsets), 0)}+{int(next(lengths), 0)}" if kind == "r2t" else ""
            units.append(Unit(is_to_target, kind, int(size, 0), what))
    return by_queue[max(by_queue, key=int)]


DECODERS: Mapping[str, Callable[[Path], list[Unit]]] = {"iscsi": iscsi, "nvme-tcp": nvme_tcp}


def listing(protocol: str, capture: Path) -> str:
    """The units of a capture; raises `DecodeError` where tshark finds an error in it."""
    if wrong := complaints(capture):
        raise DecodeError(f"{capture}: {len(wrong)} frames are not sound, the first: {wrong[0]}")
    alike = groupby(str(unit) for unit in DECODERS[protocol](capture))
    return "".join(f"{len(list(units))} {line}\n" for line, units in alike)


def main() -> int:
    """Prints the list."""
    parser = argparse.ArgumentParser(
        prog="storage_units", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("protocol", choices=list(DECODERS))
    parser.add_argument("capture", type=Path)
    arguments = parser.parse_args()
    try:
        print(listing(arguments.protocol, arguments.capture), end="")
    except (DecodeError, OSError, subprocess.SubprocessError) as error:
        print(f"storage_units: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
