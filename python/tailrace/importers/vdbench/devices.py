"""Storage definitions (SD): the drives, their hosts, threads and areas."""

from dataclasses import dataclass
from fractions import Fraction

from tailrace.importers.storage.source import Findings, Location
from tailrace.importers.storage.values import SECTOR_BYTES
from tailrace.importers.vdbench.definitions import Definition, Definitions, matching
from tailrace.importers.vdbench.pieces import Piece, numbers

THREADS_USUAL = 8
"""SD_entry.java, `threads`."""
LOCAL_HOST = "localhost"
THREADS_MAX = 65_535


@dataclass(frozen=True)
class Device:
    """One storage definition."""

    name: str
    lun: str
    hosts: tuple[str, ...]
    threads: int
    size_bytes: int | None
    """None: the whole drive."""
    range_percent: tuple[Fraction, Fraction] | None
    location: Location


def read_devices(found: Definitions, hosts: list[str], findings: Findings) -> list[Device]:
    """All devices; one without `lun` is left out, as vdbench cannot use it."""
    devices: list[Device] = []
    for definition in found.by_kind["sd"]:
        luns = [piece for piece in definition.pairs if piece.key == "lun" and piece.values]
        if not luns:
            words = "no lun is named: this storage definition is left out (write lun=FILE)"
            findings.say(definition.location, f"sd={definition.name}", "contradiction", words)
            continue
        devices += _counted(
            definition, luns[0].values[0], _hosts(definition, hosts, findings), findings
        )
    return devices


def _hosts(definition: Definition, hosts: list[str], findings: Findings) -> list[str]:
    """Hosts with this device: those named beside its luns, otherwise those of the defaults,
    otherwise all."""
    said = [piece for piece in definition.pairs if piece.key == "host"]
    usual = definition.piece("host")
    if not said and usual is not None:
        said = [usual]
    if not said:
        return hosts
    found: list[str] = []
    for piece in said:
        here, missing = matching(piece.values, hosts)
        for name in missing:
            findings.fault(
                piece.location,
                piece.key,
                f"there is no host '{name}'",
                f"define it before: hd={name},system=...",
            )
        found += [one for one in here if one not in found]
        findings.say(
            piece.location, piece.text, "understood", f"initiators: {', '.join(here)[:60]}"
        )
    return found


def _counted(
    definition: Definition, lun: str, hosts: list[str], findings: Findings
) -> list[Device]:
    """The device, or `count=(start,number)` devices with numbers behind name and lun."""
    size_bytes, range_percent, threads = (
        _size(definition, findings),
        _range(definition, findings),
        _threads(definition, findings),
    )
    _remark_own_flags(definition, findings)
    for pair in definition.pairs:
        if pair.key == "lun":
            findings.say(pair.location, pair.text, "understood", f"devices.{definition.name}")
    piece = definition.piece("count")
    values = numbers(piece, findings) if piece else []
    if piece and (len(values) != 2 or values[1] < 1 or values[1] > 10_000):
        findings.fault(
            piece.location, "count", "expected a start and a number of devices", "write count=(1,8)"
        )
        values = []
    pairs = [(definition.name, lun)]
    if piece and values:
        pairs = [
            (f"{definition.name}{number}", f"{lun}{number}")
            for number in range(int(values[0]), int(sum(values)))
        ]
        findings.say(piece.location, piece.text, "understood", f"{len(pairs)} devices")
    return [
        Device(name, path, tuple(hosts), threads, size_bytes, range_percent, definition.location)
        for name, path in pairs
    ]


def _size(definition: Definition, findings: Findings) -> int | None:
    piece = definition.piece("size")
    if piece is None:
        return None
    values = numbers(piece, findings)
    if not values:
        return None
    size_bytes = int(values[0] / (int(values[1]) or 1 if len(values) > 1 else 1))
    if size_bytes < SECTOR_BYTES:
        findings.fault(
            piece.location,
            "size",
            f"{piece.text} is below one sector of {SECTOR_BYTES} bytes",
            "write size=10g",
        )
    findings.say(piece.location, piece.text, "understood", "size of the area")
    return size_bytes


def _threads(definition: Definition, findings: Findings) -> int:
    piece = definition.piece("threads")
    if piece is None:
        return THREADS_USUAL
    values = numbers(piece, findings)
    threads = (
        int(values[0] / (max(1, int(values[1])) if len(values) > 1 else 1))
        if values
        else THREADS_USUAL
    )
    findings.say(piece.location, piece.text, "understood", "depth")
    return checked_threads(threads, piece, findings)


def checked_threads(threads: int, piece: Piece, findings: Findings) -> int:
    """The threads, which must be at least one."""
    if not 1 <= threads <= THREADS_MAX:
        findings.fault(
            piece.location,
            piece.key,
            f"{threads} threads are out of range",
            f"write 1 to {THREADS_MAX}",
        )
        return THREADS_USUAL
    return threads


def _range(definition: Definition, findings: Findings) -> tuple[Fraction, Fraction] | None:
    piece = definition.piece("range")
    return read_range(piece, findings) if piece else None


def read_range(piece: Piece, findings: Findings) -> tuple[Fraction, Fraction] | None:
    """Beginning and end of an area, in percent of the device."""
    values = numbers(piece, findings)
    if len(values) != 2 or values[0] < 0 or values[1] <= values[0]:
        findings.fault(
            piece.location,
            piece.key,
            "expected a beginning and a larger end",
            "write range=(10,20)",
        )
        return None
    if values[1] > 200:  # RD and WD ranges beyond 200 are bytes
        findings.say(
            piece.location,
            piece.text,
            "not-modelled",
            "a range in bytes: write its length as `size`",
        )
        return None
    findings.say(piece.location, piece.text, "understood", "offset and size of the area")
    return values[0], values[1]


def _remark_own_flags(definition: Definition, findings: Findings) -> None:
    piece = definition.piece("openflags")
    if piece is not None:
        remark_flags(piece, findings)


def remark_flags(piece: Piece, findings: Findings) -> None:
    """Requests reach the device directly in the model, as with o_direct."""
    is_synchronous = any("sync" in value for value in piece.values)
    if is_synchronous:
        findings.say(
            piece.location,
            piece.text,
            "not-modelled",
            "writes are not flushed each: set flush_every: 1",
        )
    else:
        findings.say(piece.location, piece.text, "no-effect", "requests reach the device directly")
