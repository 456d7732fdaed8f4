"""From a text to logical lines: prompts of a session are removed, lines that go on are put together.

Configurations come from documents and terminals as well as from `show running-config`. A line that ends in a backslash
goes on in the next one, and so does a line whose successor begins with words that only continue a command.
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
"""Words that begin no command: a line with one in front belongs to the line above it."""
LONG = ("random-detect", "pause")
"""Commands that are long enough to be broken."""
LINES_JOINED_MAX = 16
"""Lines of one command."""


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
