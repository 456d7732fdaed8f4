"""Readable JSON: small documents indented, large ones with a line for each entry of a long list.

The indenting encoder of the standard library is written in Python and takes ten times as long as the compact one: half
a minute for the plan and the outcome of a network of eight thousand hosts.
"""

import json

INDENTED_MAX = 100_000
"""Characters of a document that is indented throughout."""
LINE_MAX = 4_000
"""Characters of a value of a large document that is written on one line."""


def json_text(content: object) -> str:
    """`content` as JSON; raises `ValueError` for numbers that JSON cannot represent (NaN, infinity)."""
    text = _compact(content)
    if len(text) <= INDENTED_MAX:
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return _lines(content, text, 0)


def _lines(value: object, text: str, depth: int) -> str:
    """`value` as JSON; `text` is its form on one line, which is kept when it is short."""
    if len(text) <= LINE_MAX or not isinstance(value, dict | list):
        return text
    is_mapping = isinstance(value, dict)
    parts = value.items() if isinstance(value, dict) else ((None, part) for part in value)
    indent = "\n" + " " * (depth + 1)
    entries = (
        (f"{json.dumps(str(key), ensure_ascii=False)}: " if is_mapping else "")
        + _lines(part, _compact(part), depth + 1)
        for key, part in parts
    )
    opened, closed = "{}" if is_mapping else "[]"
    return f"{opened}{indent}{(',' + indent).join(entries)}\n{' ' * depth}{closed}"


def _compact(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)
