"""Lines of both formats.

HPCC (alibaba-edu/High-Precision-Congestion-Control, `third.cc`): the number of flows, then for each
flow `src dst pg dport size start`, with the size in bytes and the start in seconds; later relatives
leave `dport` out.

htsim (`connection_matrix.cpp`): `Nodes N`, `Connections N`, then `src->dst [id N] start T size
BYTES` for each. Its starts are picoseconds in csg-htsim and microseconds in the older HTSIM, which
writes them with a decimal point.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from tailrace.errors import closest
from tailrace.importers.records.lines import Record

HOST_MAX = 10**9
BYTES_MAX = 10**15
STARTS_MAX_PS = 10**7 * 10**12
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
NUMBER = re.compile(r"^\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$")
DIGITS_MAX = 40
ARROW = re.compile(r"^(\d+)->(\d+)$")
HPCC_LONG, HPCC_SHORT = 6, 5
"""Columns with and without `dport`."""
PRIORITIES = range(8)
UNIT = "unit"
"""Variable that states the unit of starts."""


@dataclass(frozen=True)
class Flow:
    """One flow."""

    start_ps: int
    source: int
    destination: int
    size_bytes: int
    """0: without end."""
    priority: int = 0


def flows_of(record: Record, unit: str | None) -> Iterator[Flow]:
    """The flows of either format, as the first line shows; refuses a file in neither."""
    if unit is not None and unit not in UNITS:
        record.refuse(
            f"unit={unit} is no unit of time",
            closest(unit, list(UNITS), "units"),
            line=0,
            key="--define",
        )
    lines = record.read()
    first = next(lines)
    words = first.split()
    if len(words) == 1 and words[0].isdecimal() and len(words[0]) < DIGITS_MAX:
        record.say("understood", "the number of flows", first)
        return _hpcc(record, lines, int(words[0]), unit)
    if words and (
        words[0] in ("Nodes", "Connections", "Triggers", "Failures")
        or "->" in words[0]
        or words[0][0] == "#"
    ):
        return _htsim(record, first, lines, unit)
    raise record.refused(
        f"'{first[:60]}' begins neither a flow list of HPCC nor a connection matrix of htsim",
        "expected the number of flows, or `Nodes N`",
    )


def _hpcc(record: Record, lines: Iterator[str], number: int, unit: str | None) -> Iterator[Flow]:
    found = columns = 0
    for line in lines:
        words = line.split()
        if not words:
            record.say("no-effect", "an empty line", line)
            continue
        if found == number:
            record.say(
                "no-effect",
                f"beyond the {number} flows of the first line, which ns-3 does not read",
                line,
            )
            continue
        columns = columns or len(words)
        if len(words) != columns or columns not in (HPCC_LONG, HPCC_SHORT):
            record.refuse(
                f"{len(words)} columns in '{line[:60]}'", "expected src dst pg dport size start"
            )
        found += 1
        source, destination = (_whole(record, word, HOST_MAX, "host") for word in words[:2])
        priority = _whole(record, words[2], HOST_MAX, "priority group")
        size_bytes = _whole(record, words[-2], BYTES_MAX, "size in bytes")
        start_ps = _start(record, words[-1], UNITS[unit or "s"])
        flow = Flow(
            start_ps, source, destination, size_bytes, priority if priority in PRIORITIES else 0
        )
        if _is_used(record, flow, line):
            yield flow
    if found < number:
        what = f"line 1 says {number} flows, and the file has {found}"
        record.refuse(what, "the file is truncated, or the number is wrong")


def _htsim(record: Record, first: str, lines: Iterator[str], unit: str | None) -> Iterator[Flow]:
    stated: int | None = None
    found = 0
    for line in chain((first,), lines):
        words = line.split()
        if not words or words[0].startswith("#"):
            record.say("no-effect", "an empty line or a comment", line)
        elif words[0] in ("Nodes", "Connections", "Triggers", "Failures"):
            if len(words) < 2:
                record.refuse(f"'{line[:60]}' has no number", f"write {words[0]} 16")
            number = _whole(record, words[1], HOST_MAX, "number")
            if words[0] == "Connections":
                stated = number
            record.say("understood", "a number", line)
        elif words[0] == "trigger":
            record.say("not-modelled", "flows that other flows start are not modelled", line)
        elif words[0] == "failure":
            record.say("not-modelled", "failures are not modelled", line)
        elif ends := ARROW.fullmatch(words[0]):
            found += 1
            flow = _connection(record, ends, words, line, unit)
            if flow is not None and _is_used(record, flow, line):
                yield flow
        else:
            record.refuse(
                f"'{line[:60]}' is no connection", "expected src->dst start TIME size BYTES"
            )
    if stated is not None and found < stated:
        record.refuse(
            f"the file says {stated} connections, and has {found}",
            "the file is truncated, or the number is wrong",
        )


def _connection(
    record: Record, ends: re.Match[str], words: list[str], line: str, unit: str | None
) -> Flow | None:
    pairs = dict(zip(words[1::2], words[2::2], strict=False))
    if "trigger" in pairs:
        record.say("not-modelled", "a flow that another flow starts is left out", line)
        return None
    if "start" not in pairs or "size" not in pairs:
        record.refuse(
            f"'{line[:60]}' has no start or no size", "expected src->dst start TIME size BYTES"
        )
    text = pairs["start"]
    scale = UNITS[unit or ("us" if "." in text else "ps")]
    source, destination = (_whole(record, text, HOST_MAX, "host") for text in ends.groups())
    return Flow(
        _start(record, text, scale),
        source,
        destination,
        _whole(record, pairs["size"], BYTES_MAX, "size in bytes"),
    )


def _is_used(record: Record, flow: Flow, line: str) -> bool:
    if flow.source == flow.destination:
        record.say(
            "not-modelled", "a flow from a host to itself crosses no network: it is left out", line
        )
        return False
    record.say("understood", "a flow" if flow.size_bytes else "a flow without end: a stream", line)
    return True


def _whole(record: Record, text: str, most: int, noun: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > DIGITS_MAX or int(text) > most:
        record.refuse(f"'{text[:40]}' is no {noun}", f"write a whole number up to {most}")
    return int(text)


def _start(record: Record, text: str, scale: int) -> int:
    is_number = NUMBER.fullmatch(text) is not None and len(text) <= DIGITS_MAX
    if not is_number or abs(int(text.lower().partition("e")[2] or 0)) > DIGITS_MAX:
        record.refuse(f"'{text[:40]}' is no start", "write a number, such as 2.000000085")
    start_ps = round(Fraction(text) * scale)
    if start_ps > STARTS_MAX_PS:
        record.refuse(
            f"a start of {text[:40]} is beyond {STARTS_MAX_PS // 10**12} s", f"--define {UNIT}=ns"
        )
    return start_ps
