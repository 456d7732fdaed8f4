"""Readable JSON: small documents indented, large ones with a line for each entry of a long list.

The indenting encoder of the standard library is written in Python and takes ten times as long as
the compact one: half a minute for the plan of a network of eight thousand hosts.
"""

import json
from typing import Any

INDENTED_MAX = 100_000
"""Characters of a document that is indented throughout."""
LINE_MAX = 4_000
"""Characters of a value of a large document that is written on one line."""
LEVELS_COUNTED = 3
"""Levels of a value whose entries are counted before it is encoded."""
READ_AT_ONCE = 1_000_000
"""Characters of a document that the decoder reads in one call, in which Python answers no Ctrl-C:
0.02 s."""

NESTED = (dict, list, tuple)


def read_json_text(text: str) -> Any:
    """The value of a document; raises `ValueError` where it is none.

    Of a large one, lists that have a line for each row are read in parts, so that Ctrl-C is
    answered meanwhile.
    """
    if len(text) <= READ_AT_ONCE:
        return json.loads(text)
    try:
        rest, lists = _parted(text)
        content = json.loads(rest)
    except ValueError:
        return json.loads(text)  # another layout, or broken: the decoder reports the position
    return (
        {**content, **lists}
        if isinstance(content, dict) and content.keys() >= lists.keys()
        else json.loads(text)
    )


def _parted(text: str) -> tuple[str, dict[str, list[Any]]]:
    """The document with empty lists in place of its long ones, and these; in the layout of
    `json_text`."""
    rest: list[str] = []
    lists: dict[str, list[Any]] = {}
    rows: list[Any] | None = None
    part: list[str] = []
    size = 0
    for line in text.split("\n"):  # `splitlines` would divide names at other ends of lines
        if rows is None:
            rest.append(line)
            if line.startswith(' "') and line.endswith('": ['):
                rows = lists[json.loads(line[1:-3])] = []
            continue
        is_last = line.startswith(" ]")
        if not is_last:
            part.append(line)
            size += len(line)
        if is_last or (size > READ_AT_ONCE and line.endswith(",") and not line.startswith("   ")):
            if is_last and rows and not part:
                raise ValueError("a comma after the last row")
            content = "".join(part)
            rows += json.loads(f"[{content if is_last else content[:-1]}]")
            part, size = [], 0
        if is_last:
            rest.append(line)
            rows = None
    return "".join(rest), lists


def json_text(content: object) -> str:
    """`content` as JSON; raises `ValueError` for numbers that JSON cannot represent (NaN,
    infinity)."""
    if _is_longer(content, INDENTED_MAX) or len(_compact(content)) > INDENTED_MAX:
        return _lines(content, 0)
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def _lines(value: object, depth: int) -> str:
    """`value` as JSON, on one line when that is short."""
    if not isinstance(value, NESTED):
        return _compact(value)
    if not _is_longer(value, LINE_MAX) and len(text := _compact(value)) <= LINE_MAX:
        return text
    is_mapping = isinstance(value, dict)
    parts = value.items() if isinstance(value, dict) else ((None, part) for part in value)
    indent = "\n" + " " * (depth + 1)
    entries = (
        (f"{json.dumps(str(key), ensure_ascii=False)}: " if is_mapping else "")
        + _lines(part, depth + 1)
        for key, part in parts
    )
    opened, closed = "{}" if is_mapping else "[]"
    return f"{opened}{indent}{(',' + indent).join(entries)}\n{' ' * depth}{closed}"


def _is_longer(value: object, limit: int) -> bool:
    """Whether a value certainly has more characters on one line, by the number of its entries:
    without it, all that a long list holds would be encoded once for each level above it.
    """
    return _chars_min(value, LEVELS_COUNTED) > limit


def _chars_min(value: object, levels: int) -> int:
    """Characters that a value has on one line, at least: one of each entry, and two between entries
    or around them."""
    if levels == 0 or not isinstance(value, NESTED):
        return 1
    inner = value.values() if isinstance(value, dict) else value
    # The one of an entry that is a list or an object is among its own.
    return 3 * len(value) + sum(
        _chars_min(part, levels - 1) - 1 for part in inner if isinstance(part, dict | list | tuple)
    )


def _compact(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)
