"""Converts quantities of scenario files (`10Gbit/s`, `18kB`, `8ms`, `20ppm`, `33%`) to the integers
of plans.

Arithmetic is exact: a value that is not a whole number of the plan's unit is rejected, not rounded.
"""

import re
from dataclasses import dataclass
from fractions import Fraction


class QuantityError(ValueError):
    """A text is not a quantity of the required kind."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity: its suffixes, each with its size in the plan's unit."""

    noun: str
    suffixes: dict[str, Fraction]
    examples: tuple[str, str]
    plan_unit: str
    aliases: dict[str, str]
    """Rejected spellings, which are ambiguous or of another kind, each with the correct one as
    hint."""
    likely: tuple[str, ...]
    """Units that a hint suggests for a bare number."""

    @property
    def pattern(self) -> str:
        """Pattern of a well-formed value, for JSON Schema."""
        units = "|".join(
            re.escape(suffix) for suffix in sorted(self.suffixes, key=len, reverse=True)
        )
        return rf"^\s*\d+(\.\d+)?\s*({units})\s*$"

    @property
    def hint(self) -> str:
        """The hint for an ill-formed value."""
        return (
            f"write a {self.noun} with its unit, such as {self.examples[0]} or {self.examples[1]}"
        )


def _powers(base: int, names: list[str], first: Fraction) -> dict[str, Fraction]:
    return {name: first * base**power for power, name in enumerate(names)}


_SECOND_PS = 10**12

TIME = Dimension(
    noun="time",
    suffixes={
        "ps": Fraction(1),
        "ns": Fraction(1000),
        "us": Fraction(10**6),
        "µs": Fraction(10**6),
        "ms": Fraction(10**9),
        "s": Fraction(_SECOND_PS),
        "min": Fraction(60 * _SECOND_PS),
        "h": Fraction(3600 * _SECOND_PS),
    },
    examples=("8ms", "500ns"),
    plan_unit="picoseconds",
    aliases={
        "sec": "s",
        "seconds": "s",
        "second": "s",
        "m": "ms or min",
        "usec": "us",
        "msec": "ms",
        "hours": "h",
    },
    likely=("s", "ms", "us"),
)

FINE_TIME = Dimension(
    noun="time",
    suffixes={"fs": Fraction(1), **{name: size * 1000 for name, size in TIME.suffixes.items()}},
    examples=("190ps", "0.2ns"),
    plan_unit="femtoseconds",
    aliases=TIME.aliases,
    likely=("ps", "ns"),
)

SIZE = Dimension(
    noun="size",
    suffixes={
        "B": Fraction(1),
        **_powers(1000, ["kB", "MB", "GB", "TB"], Fraction(1000)),
        **_powers(1024, ["KiB", "MiB", "GiB", "TiB"], Fraction(1024)),
    },
    examples=("18kB", "64KiB"),
    plan_unit="bytes",
    aliases={
        "KB": "kB (1000 bytes) or KiB (1024 bytes)",
        "K": "kB (1000 bytes) or KiB (1024 bytes)",
        "k": "kB (1000 bytes) or KiB (1024 bytes)",
        "M": "MB or MiB",
        "G": "GB or GiB",
        "b": "B for bytes",
        "bytes": "B",
        "mb": "MB or MiB",
        "kb": "kB or KiB",
        "kib": "KiB",
    },
    likely=("B", "kB"),
)

RATE = Dimension(
    noun="rate",
    suffixes={
        **_powers(1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], Fraction(1)),
        **_powers(1000, ["kbps", "Mbps", "Gbps", "Tbps"], Fraction(1000)),
    },
    examples=("10Gbit/s", "100Mbit/s"),
    plan_unit="bits per second",
    aliases={
        "G": "Gbit/s",
        "Gb": "Gbit/s",
        "Gbit": "Gbit/s",
        "GB/s": "Gbit/s (multiply bytes by 8)",
        "MB/s": "Mbit/s (multiply bytes by 8)",
        "gbps": "Gbit/s",
        "M": "Mbit/s",
        "Gb/s": "Gbit/s",
        "Gbs": "Gbit/s",
        "Mbs": "Mbit/s",
        "Gbits": "Gbit/s",
        "Mbits": "Mbit/s",
        "Mb/s": "Mbit/s",
    },
    likely=("Gbit/s", "Mbit/s"),
)

DATA_RATE = Dimension(
    noun="data rate",
    suffixes={
        **_powers(1000, ["B/s", "kB/s", "MB/s", "GB/s"], Fraction(1)),
        **_powers(1024, ["KiB/s", "MiB/s", "GiB/s"], Fraction(1024)),
    },
    examples=("540MB/s", "2GB/s"),
    plan_unit="bytes per second",
    aliases={
        "Mbit/s": "MB/s (divide bits by 8)",
        "Gbit/s": "MB/s (divide bits by 8)",
        "M": "MB/s or MiB/s",
        "MB": "MB/s",
        "mb/s": "MB/s",
    },
    likely=("MB/s", "MiB/s"),
)

REQUEST_RATE = Dimension(
    noun="rate of requests",
    suffixes={"/s": Fraction(1000), "/min": Fraction(1000, 60)},
    examples=("1000/s", "2.5/s"),
    plan_unit="thousandths of a request per second",
    aliases={"iops": "/s", "IOPS": "/s", "per second": "/s"},
    likely=("/s",),
)

OFFSET = Dimension(
    noun="clock offset",
    suffixes={"ppb": Fraction(1), "ppm": Fraction(1000)},
    examples=("50ppm", "200ppb"),
    plan_unit="parts per billion",
    aliases={},
    likely=("ppm",),
)

SHARE = Dimension(
    noun="share",
    suffixes={"%": Fraction(10**7)},
    examples=("33%", "0.5%"),
    plan_unit="parts per billion",
    aliases={},
    likely=("%",),
)

FREQUENCY = Dimension(
    noun="frequency",
    suffixes=_powers(1000, ["Hz", "kHz", "MHz", "GHz"], Fraction(1)),
    examples=("2.4GHz", "800MHz"),
    plan_unit="hertz",
    aliases={"ghz": "GHz", "G": "GHz", "mhz": "MHz"},
    likely=("GHz",),
)

FRAMES = Dimension(
    noun="number of frames",
    suffixes={"frames": Fraction(1), "frame": Fraction(1)},
    examples=("100 frames", "4096 frames"),
    plan_unit="frames",
    aliases={"packets": " frames", "pkts": " frames"},
    likely=(" frames",),
)

LENGTH = Dimension(
    noun="length",
    suffixes={"mm": Fraction(1), "cm": Fraction(10), "m": Fraction(1000), "km": Fraction(10**6)},
    examples=("100m", "2km"),
    plan_unit="millimetres",
    aliases={"metres": "m", "meters": "m", "ft": "m (0.3048 m a foot)"},
    likely=("m",),
)

DIMENSIONS = {
    dimension.noun: dimension
    for dimension in (
        TIME,
        SIZE,
        RATE,
        DATA_RATE,
        REQUEST_RATE,
        OFFSET,
        SHARE,
        FREQUENCY,
        FRAMES,
        LENGTH,
    )
}
"""Dimensions by noun; fine times are also called times."""

PLAN_INTEGER_MAX = 2**63 - 1
"""Quantities in a plan fit a signed 64-bit number: 106 days in picoseconds."""
PLAN_SMALL_MAX = 2**32 - 1
"""Largest 32-bit value of a plan: frames, packets, and sizes of parts of a message."""

NUMBER_CHARACTERS_MAX = 40
"""A longer number is rejected as a typing error."""
EXPONENT_DIGITS_MAX = 3
_SPLIT = re.compile(
    r"^\s*(?P<sign>[-+]?)(?P<number>\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)\s*(?P<unit>.*?)\s*$"
)


def split(text: str) -> tuple[str, str] | None:
    """Number, with its sign, and unit of a text; None where it has no number."""
    match = _SPLIT.fullmatch(text)
    return (match["sign"] + match["number"].replace("_", ""), match["unit"]) if match else None


def amount_of(text: str) -> tuple[Fraction, str] | None:
    """The normalised value of a quantity, and its dimension: equal for `1ms` and `1000us`; None for
    other texts."""
    if (parts := split(text)) is None:
        return None
    number, unit = parts
    if (
        len(number) > NUMBER_CHARACTERS_MAX
        or len(number.lower().partition("e")[2]) > EXPONENT_DIGITS_MAX + 1
    ):
        return None
    kinds = (one for one in (FINE_TIME, *DIMENSIONS.values()) if unit in one.suffixes)
    if unit and (kind := next(kinds, None)) is not None:
        return Fraction(number) * kind.suffixes[unit], kind.noun
    return None if unit else (Fraction(number), "")


def parse(value: object, dimension: Dimension) -> int:
    """Converts `value` to the integer of a plan; raises `QuantityError` with a hint."""
    if isinstance(value, bool) or value is None:
        raise QuantityError(f"{_shown(value)} is not a {dimension.noun}", dimension.hint)
    if isinstance(value, int | float):
        if value < 0:
            raise QuantityError(f"{value} is negative", dimension.hint)
        raise QuantityError(f"{value} has no unit", _unit_hint(value, dimension))
    if not isinstance(value, str):
        raise QuantityError(
            f"a {dimension.noun} is one value, not a {_kind(value)}", dimension.hint
        )
    return _parse_text(value, dimension)


def _parse_text(text: str, dimension: Dimension) -> int:
    match = _SPLIT.fullmatch(text)
    if not match:
        raise QuantityError(f"'{text}' is not a {dimension.noun}", dimension.hint)
    number, unit = match["number"].replace("_", ""), match["unit"]
    if match["sign"] == "-":
        raise QuantityError(f"'{text}' is negative", dimension.hint)
    if not unit:
        raise QuantityError(f"{text} has no unit", _unit_hint(number, dimension))
    if unit not in dimension.suffixes:
        raise QuantityError(
            f"'{unit}' is not a unit of {dimension.noun}", _alias_hint(unit, number, dimension)
        )
    if (
        len(number) > NUMBER_CHARACTERS_MAX
        or len(number.lower().partition("e")[2]) > EXPONENT_DIGITS_MAX + 1
    ):
        raise QuantityError(
            f"'{number[:NUMBER_CHARACTERS_MAX]}...' has too many digits", dimension.hint
        )
    exact = Fraction(number) * dimension.suffixes[unit]
    if exact.denominator != 1:
        raise QuantityError(f"'{text}' is not a whole number of {dimension.plan_unit}", "round it")
    if exact > PLAN_INTEGER_MAX:
        raise QuantityError(f"'{text}' is too large", "the limit is 9.2e18 " + dimension.plan_unit)
    return int(exact)


def shown(value: object) -> str:
    """A value in YAML notation."""
    return _shown(value) if value is None or isinstance(value, bool) else repr(value)


def _unit_hint(number: object, dimension: Dimension) -> str:
    if dimension is SHARE and 0 < (share := Fraction(str(number))) <= 1:
        return f"write {float(share * 100):g}%; {number}% is a hundredth of that"
    return "write " + " or ".join(f"{number}{unit}" for unit in dimension.likely)


def _alias_hint(unit: str, number: str, dimension: Dimension) -> str:
    meant = dimension.aliases.get(unit)
    if meant is None:
        same = [suffix for suffix in dimension.suffixes if suffix.lower() == unit.lower()]
        meant = same[0] if same else None
    if meant is None:
        return "units are " + ", ".join(dimension.suffixes)
    return f"write {number}{meant}"


def _shown(value: object) -> str:
    return {None: "nothing", True: "true", False: "false"}[value]  # type: ignore[index]  # only these three arrive


def _kind(value: object) -> str:
    return {"dict": "mapping", "list": "list"}.get(type(value).__name__, type(value).__name__)


def round_above(value: int) -> int:
    """The smallest of 1, 2 and 5 times a power of ten that is not below a value: for hints."""
    power = int(10 ** (len(str(value)) - 1))
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= value)


def format_size(size_bytes: float) -> str:
    """Bytes in decimal units for messages: `18 kB`."""
    for power, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (1000, "kB")):
        if size_bytes >= power:
            return f"{size_bytes / power:.3g} {unit}"
    return f"{size_bytes:.0f} B"


def exact_size(size_bytes: int) -> str:
    """Bytes in the largest unit of which they are a whole number, for messages that compare: `1
    MiB`, `1048577 B`."""
    units = sorted(
        [(10 ** (3 * step), name) for step, name in enumerate(("kB", "MB", "GB", "TB"), 1)]
        + [(1024**step, name) for step, name in enumerate(("KiB", "MiB", "GiB", "TiB"), 1)],
        reverse=True,
    )
    found = (
        (size_bytes // unit, name) for unit, name in units if size_bytes and size_bytes % unit == 0
    )
    amount, name = next(found, (size_bytes, "B"))
    return f"{amount} {name}"
