"""Pieces of a parameter file: `keyword=value` and `keyword=(value,value,...)`, each with its
location.

A line that ends in a comma continues in the next; a blank outside of quotes ends a line, and a
comment follows (Vdb_scan.java, `parms_get` and `parms_split`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tailrace.importers.storage.source import Findings, Line, Location

PIECE_CHARACTERS_MAX = 20_000
VALUES_MAX = 10_240
"""Values of one keyword (`numerics` in Vdb_scan.java)."""
MINUTES = ("el", "in", "pa", "wa")
"""With these beginnings of keywords, `m` is minutes."""
FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "h": 3600, "%": -1}
"""Suffixes of numbers; percent of a size are negative numbers."""
TEXTS = ("hd", "host", "system", "histogram", "replay", "misc")
"""Keywords whose values are never numbers."""
NUMBER_DIGITS_MAX = 40
TEXT_MAX = 60
"""Characters of a text that a remark shows."""


@dataclass(frozen=True)
class Piece:
    """A keyword with its values."""

    key: str
    values: tuple[str, ...]
    """Without parentheses; ranges are not expanded."""
    text: str
    location: Location


def pieces(lines: list[Line], findings: Findings) -> Iterator[Piece]:
    """All pieces of the lines, in order."""
    for joined in _joined(lines):
        parts: list[tuple[str, Location]] = []
        for line in joined:
            parts += [
                (part, line.location)
                for part in _split(_until_blank(line.text), line.location, findings)
            ]
        for text, location in _closed(parts):
            if (piece := _piece(text, location, findings)) is not None:
                yield piece


def _joined(lines: list[Line]) -> Iterator[list[Line]]:
    """Lines that a comma at the end joins."""
    open_lines: list[Line] = []
    for line in lines:
        open_lines.append(line)
        if not _until_blank(line.text).endswith(","):
            yield open_lines
            open_lines = []
    if open_lines:
        yield open_lines


def _until_blank(text: str) -> str:
    """The text before the first blank outside of quotes."""
    is_quoted = False
    for index, letter in enumerate(text):
        if letter == '"':
            is_quoted = not is_quoted
        elif letter.isspace() and not is_quoted:
            return text[:index]
    return text


def _split(text: str, location: Location, findings: Findings) -> list[str]:
    """The text at its commas outside of quotes; `_closed` joins those of one list."""
    parts, is_quoted = [""], False
    for letter in text:
        if letter == '"':
            is_quoted = not is_quoted
        if letter == "," and not is_quoted:
            parts.append("")
        else:
            parts[-1] += letter
    if is_quoted:
        findings.fault(location, "", f"a quote is not closed: {text[:60]}", 'end the value with "')
    return parts


def _closed(parts: list[tuple[str, Location]]) -> Iterator[tuple[str, Location]]:
    """Parts joined until their parentheses are closed."""
    held, depth, begun = "", 0, Location("", 0)
    for text, location in parts:
        if not held:
            begun = location
        held = f"{held},{text}" if held else text
        depth += text.count("(") - text.count(")")
        if depth <= 0 or len(held) > PIECE_CHARACTERS_MAX:
            if held:
                yield held, begun
            held, depth = "", 0
    if held:
        yield held, begun


def _piece(text: str, location: Location, findings: Findings) -> Piece | None:
    key, equals, value = text.partition("=")
    key = key.strip().lower()
    if not equals or len(key) < 2:
        words = "no keyword=value: vdbench refuses this line (a comment starts with *, / or #)"
        findings.say(location, text[:TEXT_MAX], "not-understood", words)
        return None
    if value.count("(") != value.count(")"):
        findings.fault(
            location,
            key,
            f"parentheses do not match: {text[:60]}",
            "write keyword=(value,value,...)",
        )
        return None
    inner = value[1:-1] if value.startswith("(") and value.endswith(")") else value
    values = (
        tuple(one.replace('"', "").strip() for one in inner.split(","))
        if '"' not in inner
        else (inner.replace('"', ""),)
    )
    return Piece(key, tuple(one for one in values if one), text, location)


def number(text: str, key: str) -> Fraction | None:
    """A number with a suffix (`4k`, `10m`, `50%`), or None for a text."""
    low = text.strip().lower()
    if not low or len(low) > NUMBER_DIGITS_MAX or key in TEXTS:
        return None
    factor = Fraction(1)
    if not (low[-1].isdigit() or low[-1] == "."):
        if low[-1] == "b" and len(low) > 2:
            low = low[:-1]
        suffix = low[-1]
        if suffix not in FACTORS:
            return None
        factor = (
            Fraction(60) if suffix == "m" and key.startswith(MINUTES) else Fraction(FACTORS[suffix])
        )
        low = low[:-1]
    digits = low.removeprefix("-").replace(".", "", 1)
    if not digits.isdecimal() or not digits.isascii():
        return None
    return Fraction(low if low[-1] != "." else low[:-1]) * factor


def numbers(piece: Piece, findings: Findings) -> list[Fraction]:
    """All numbers of a piece, with ranges (`1-64,d` doubles, `1k-5k,1k` adds) expanded."""
    found: list[Fraction] = []
    values = list(piece.values)
    index = 0
    while index < len(values):
        text = values[index]
        first, dash, last = text.partition("-")
        low, high = number(first, piece.key), number(last, piece.key)
        if dash and first and low is not None and high is not None:
            step = values[index + 1] if index + 1 < len(values) else ""
            found += _range(low, high, step, piece, findings)
            index += 2
            continue
        value = number(text, piece.key)
        if value is None:
            findings.fault(
                piece.location,
                piece.key,
                f"'{text}' is not a number",
                f"write {piece.key}=NUMBER, such as 4k or 70",
            )
        else:
            found.append(value)
        index += 1
    return found


def _range(
    low: Fraction, high: Fraction, step: str, piece: Piece, findings: Findings
) -> list[Fraction]:
    found = [low]
    by = number(step, piece.key)
    if step.lower() == "d" and low > 0:
        factor = 2 if low < high else Fraction(1, 2)
        while len(found) < VALUES_MAX and (
            found[-1] * factor <= high if factor == 2 else found[-1] * factor >= high > 0
        ):
            found.append(found[-1] * factor)
    elif by is not None and by > 0 and high >= low:
        if (high - low) / by > VALUES_MAX:
            findings.fault(
                piece.location, piece.key, f"more than {VALUES_MAX} values: {piece.text[:60]}"
            )
            return found
        while found[-1] + by <= high:
            found.append(found[-1] + by)
    else:
        hint = f"write {piece.key}=(1-64,d), which doubles, or {piece.key}=(1-64,4), which adds"
        findings.fault(
            piece.location, piece.key, f"the range {piece.text[:60]} has no usable step", hint
        )
    return found


def texts(piece: Piece, findings: Findings) -> list[str]:
    """All texts of a piece, with ranges of names (`sd1-sd4`) expanded."""
    found: list[str] = []
    for text in piece.values:
        first, dash, last = text.partition("-")
        (head, low), (tail, high) = _name_number(first), _name_number(last)
        if (
            dash
            and low is not None
            and high is not None
            and head == tail
            and low < high
            and len(piece.values) + high < VALUES_MAX
        ):
            found += [f"{head}{one}" for one in range(low, high + 1)]
        else:
            found.append(text)
    return found


def _name_number(text: str) -> tuple[str, int | None]:
    digits = len(text) - len(text.rstrip("0123456789"))
    is_number = 0 < digits < 6 and text.isascii()
    return (text[:-digits], int(text[-digits:])) if is_number else (text, None)
