"""Workload definitions (WD): block, reads, access, skew, of some devices."""

from dataclasses import dataclass
from fractions import Fraction

from tailrace.importers.storage.source import Findings, Location
from tailrace.importers.storage.values import SECTOR_BYTES, steps
from tailrace.importers.vdbench.definitions import Definition, Definitions, named
from tailrace.importers.vdbench.devices import read_range, remark_flags
from tailrace.importers.vdbench.keywords import CACHE_WORDS
from tailrace.importers.vdbench.pieces import Piece, number, numbers

XFERSIZE_USUAL = 4096
READ_PERCENT_USUAL = Fraction(100)
SEEK_PERCENT_USUAL = Fraction(100)
"""WD_entry.java: `xf_table`, `readpct`, `seekpct`."""
AT_END = Fraction(-1)
"""`seekpct=eof`: sequential, and the run ends at the end of the device (WD_entry.java)."""
XFERSIZE_MAX = 2**31

Weights = tuple[tuple[int, Fraction], ...]
"""Sizes of a block, with their weights."""


@dataclass(frozen=True)
class Load:
    """One workload definition."""

    name: str
    devices: tuple[str, ...]
    hosts: tuple[str, ...] | None
    """None: all hosts of the device."""
    skew_percent: Fraction | None
    block: Weights
    read_percent: Fraction
    seek_percent: Fraction
    range_percent: tuple[Fraction, Fraction] | None
    rate_per_s: Fraction | None
    streams: int
    location: Location


def read_loads(
    found: Definitions, devices: list[str], hosts: list[str], findings: Findings
) -> list[Load]:
    """All workload definitions, and one for each run that names devices and none of them.

    vdbench makes it of the last `wd=default` (RD_entry.java, `selectWhichWdsToUse`).
    """
    usual = [
        Definition("wd", run.of_usual_load, run.location, dict(found.usual_load))
        for run in found.by_kind["rd"]
        if run.piece("wd") is None and run.piece("sd") is not None
    ]
    return [_load(one, devices, hosts, findings) for one in (*found.by_kind["wd"], *usual)]


def _load(definition: Definition, devices: list[str], hosts: list[str], findings: Findings) -> Load:
    own = definition.piece("sd")
    chosen: list[str] = []
    if own is not None:
        chosen = named(own, devices, "storage definition", findings)
        findings.say(own.location, own.text, "understood", "device")
    said = definition.piece("host")
    only = named(said, hosts, "host", findings) if said else None
    if said:
        findings.say(said.location, said.text, "understood", "initiators")
    for key in ("rhpct", "whpct"):
        remark_hits(definition.piece(key), findings)
    if (flags := definition.piece("openflags")) is not None:
        remark_flags(flags, findings)
    area = definition.piece("range")
    return Load(
        name=definition.name,
        devices=tuple(chosen),
        hosts=None if only is None else tuple(only),
        skew_percent=_percent_of(definition, "skew", None, "share of the rate", findings),
        block=_block(definition.piece("xfersize"), findings),
        read_percent=_read_percent(definition, findings),
        seek_percent=_seek(definition.piece("seekpct"), findings),
        range_percent=read_range(area, findings) if area else None,
        rate_per_s=_rate(definition.piece("iorate"), findings),
        streams=_streams(definition.piece("streams"), findings),
        location=definition.location,
    )


def remark_hits(piece: Piece | None, findings: Findings) -> None:
    """Hits in caches have no counterpart; zero of them change nothing."""
    if piece is not None:
        is_none = all(value == 0 for value in numbers(piece, findings))
        findings.say(
            piece.location,
            piece.text,
            "no-effect" if is_none else "not-modelled",
            "no hits" if is_none else CACHE_WORDS,
        )


def percent(value: Fraction, piece: Piece, findings: Findings) -> Fraction:
    """The value, which must be 0 to 100; vdbench also writes `50%`."""
    value = abs(value)
    if value > 100:
        what = f"{float(value):g} is not a percentage"
        findings.fault(piece.location, piece.key, what, "write a value from 0 to 100")
        return Fraction(100)
    return value


def _percent_of(
    definition: Definition, key: str, usual: Fraction | None, words: str, findings: Findings
) -> Fraction | None:
    piece = definition.piece(key)
    values = numbers(piece, findings) if piece else []
    if piece is None or not values:
        return usual
    findings.say(piece.location, piece.text, "understood", words)
    return percent(values[0], piece, findings)


def _read_percent(definition: Definition, findings: Findings) -> Fraction:
    """The later one of `rdpct` and `writepct`."""
    found = READ_PERCENT_USUAL
    for key in definition.pieces:
        if key == "rdpct":
            found = _percent_of(definition, key, found, "read", findings) or Fraction(0)
        elif key == "writepct":
            found = 100 - (
                _percent_of(definition, key, 100 - found, "read", findings) or Fraction(0)
            )
    return found


def _seek(piece: Piece | None, findings: Findings) -> Fraction:
    if piece is None:
        return SEEK_PERCENT_USUAL
    return seek_percent(piece, piece.values[0], findings)


def seek_percent(piece: Piece, text: str, findings: Findings) -> Fraction:
    """Percent of requests that seek: a number, `sequential`, `random`, `eof`, or a beginning of
    them."""
    low = text.lower()
    value = number(text, piece.key)
    if value is not None:
        findings.say(piece.location, piece.text, "understood", "access")
        return percent(value, piece, findings)
    if low == "eof":
        findings.say(
            piece.location, piece.text, "understood", "access: sequential, once over the area"
        )
        return AT_END
    if "poisson".startswith(low):
        findings.say(
            piece.location,
            piece.text,
            "not-modelled",
            "addresses are uniform; `access: {zipf: 1.1}` has a hot part",
        )
        return Fraction(100)
    for word, found in (("sequential", Fraction(0)), ("random", Fraction(100))):
        if word.startswith(low):
            findings.say(piece.location, piece.text, "understood", "access")
            return found
    findings.fault(
        piece.location,
        piece.key,
        f"'{text}' is no access",
        "write 0 to 100, sequential, random or eof",
    )
    return SEEK_PERCENT_USUAL


def block_size(value: Fraction, piece: Piece, findings: Findings) -> int:
    """A size of a block, which must be a multiple of the sector."""
    if value.denominator != 1 or value % SECTOR_BYTES or not 0 < value <= XFERSIZE_MAX:
        what = f"{float(value):g} bytes are not a multiple of a sector of {SECTOR_BYTES} bytes"
        findings.fault(
            piece.location,
            piece.key,
            what,
            f"write, for example, xfersize={max(1, int(value) // SECTOR_BYTES) * SECTOR_BYTES}",
        )
        return XFERSIZE_USUAL
    return int(value)


def _block(piece: Piece | None, findings: Findings) -> Weights:
    """One size, pairs of size and percent, or (least, largest, step)."""
    values = numbers(piece, findings) if piece else []
    if piece is None or not values:
        return ((XFERSIZE_USUAL, Fraction(1)),)
    findings.say(piece.location, piece.text, "understood", "block")
    if len(values) == 1:
        return ((block_size(values[0], piece, findings), Fraction(1)),)
    if len(values) == 3:
        return _uniform(values, piece, findings)
    sizes, shares = values[::2], [abs(one) for one in values[1::2]]
    if len(values) % 2 or round(sum(shares)) != 100:
        what = "pairs of size and percent must have percentages that add up to 100"
        findings.fault(piece.location, piece.key, what, "write xfersize=(4k,75,64k,25)")
        return ((XFERSIZE_USUAL, Fraction(1)),)
    return tuple(
        (block_size(one, piece, findings), share) for one, share in zip(sizes, shares, strict=True)
    )


def _uniform(values: list[Fraction], piece: Piece, findings: Findings) -> Weights:
    low, high, step = values
    if low >= high or step <= 0 or step % SECTOR_BYTES:
        findings.fault(
            piece.location, piece.key, "expected (least,largest,step)", "write xfersize=(4k,64k,4k)"
        )
        return ((XFERSIZE_USUAL, Fraction(1)),)
    low_bytes, high_bytes = block_size(low, piece, findings), block_size(high, piece, findings)
    found = steps(low_bytes, high_bytes, int(step))
    if len(found) < (high_bytes - low_bytes) // int(step) + 1:
        findings.say(
            piece.location,
            piece.text,
            "assumed",
            f"{len(found)} of the sizes, evenly spaced, stand for all of them",
        )
    return tuple(found)


def _rate(piece: Piece | None, findings: Findings) -> Fraction | None:
    """The rate of this workload alone."""
    values = numbers(piece, findings) if piece else []
    if piece is None or not values or values[0] <= 0:
        return None
    findings.say(piece.location, piece.text, "understood", "arrivals")
    return values[0]


def _streams(piece: Piece | None, findings: Findings) -> int:
    values = numbers(piece, findings) if piece else []
    if piece is None or not values:
        return 1
    if not 2 <= values[0] <= 10_000:
        findings.fault(
            piece.location,
            piece.key,
            "expected at least two streams",
            "write streams=4, or leave it out",
        )
        return 1
    findings.say(piece.location, piece.text, "understood", "jobs")
    return int(values[0])
