"""Splits a text into logical lines: removes prompts of a session and joins continued lines.

Configurations come from documents and terminals as well as from `show running-config`. A line continues in the next one
if it ends in a backslash, or if the next one begins with words that only continue a command.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

PROMPT = re.compile(r"^[\w.:-]+(?:\(config[\w.-]*\)[#>]?\s*|(?:\([\w.-]+\))?[#>]\s+)(?=\S)")
"""`switch(config-pmap-que)# `, `switch# ` before a command."""
GOES_ON = frozenset(
    (
        "minimum-threshold",
        "maximum-threshold",
        "drop-probability",
        "weight",
        "ecn",
        "non-ecn",
        "buffer-size",
        "pause-threshold",
        "resume-threshold",
    )
)
"""Words that begin no command: a line that begins with one continues the line above it."""
LONG = ("random-detect", "pause")
"""Commands that are long enough to be wrapped."""
LINES_JOINED_MAX = 16
"""Physical lines of one command, at most."""


@dataclass
class ConfigLine:
    """One logical line, with the number of its first physical line."""

    number: int
    text: str
    parts: list[tuple[int, str]] = field(default_factory=list)
    """Physical lines after the first one."""


def logical_lines(text: str, is_command: Callable[[str], bool]) -> list[ConfigLine]:
    """The lines of a text. `is_command` says whether words are a whole command."""
    found: list[ConfigLine] = []
    is_open = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = PROMPT.sub("", raw.strip())
        last = found[-1] if found else None
        if last is not None and len(last.parts) < LINES_JOINED_MAX and (is_open or _continues(last, line, is_command)):
            last.parts.append((number, line))
            last.text = f"{last.text} {_without_backslash(line)}".strip()
        else:
            found.append(ConfigLine(number, _without_backslash(line)))
        is_open = line.endswith("\\") and bool(line.strip("\\").strip())
    return found


def _continues(last: ConfigLine, line: str, is_command: Callable[[str], bool]) -> bool:
    first = line.split(maxsplit=1)[:1]
    if not first or first[0].lower() not in GOES_ON or not last.text:
        return False
    begins = last.text.split()[0].lower() in LONG and not is_command(last.text)
    return begins or is_command(f"{last.text} {line}")


def _without_backslash(line: str) -> str:
    return line.rstrip("\\").rstrip() if line.endswith("\\") and line.strip("\\").strip() else line
