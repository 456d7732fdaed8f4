"""Terminal output: the width, and colours for verdicts and warnings. Pipes and files get plain
text."""

import os
import re
import secrets
import shutil
import textwrap
from collections.abc import Callable
from typing import TextIO

from tailrace.errors import escaped

RED, GREEN, YELLOW = "31", "32", "33"
WIDTH_MIN = 40
"""Text is not wrapped for narrower terminals."""
COLOUR_OF = {"better": GREEN, "worse": RED, "few": YELLOW, "censored": YELLOW}
"""Colours of cells by their tone."""
_OWN = f"\x1b<{secrets.token_hex(8)}"
"""Begins the colours of this process: texts of others, which may have escape sequences too, do not
know it."""
_PAINTED = re.compile(rf"{_OWN}(\[(?:0|{RED}|{GREEN}|{YELLOW})m)")
HANGING = "  "
"""Further indentation of continuation lines, in characters."""
TONES = (
    (re.compile(r"(?<!\w)(?:just )?FAIL(?!\w)"), RED),
    (re.compile(r"(?<=  )(?:just )?pass$", re.MULTILINE), GREEN),
    (
        re.compile(
            r"^(?:warning|PARTIAL|CONTRADICTION|NOT UNDERSTOOD|NOT MODELLED)(?=[: ])", re.MULTILINE
        ),
        YELLOW,
    ),
    (re.compile(r"(?<=: )(?:CONTRADICTION|NOT UNDERSTOOD|NOT MODELLED)(?=:)"), YELLOW),
    (re.compile(r"(?<=: )(?:failed|invalid)(?=: )"), RED),
)
"""Words that are coloured where they are verdicts and not part of a sentence."""


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def has_colour(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal and colour is not turned off (https://no-color.org)."""
    return (
        is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def width_of(stream: TextIO | None) -> int | None:
    """Columns of the terminal, or `COLUMNS` of the environment; None when the stream is not a
    terminal."""
    return max(WIDTH_MIN, shutil.get_terminal_size().columns) if is_terminal(stream) else None


def shown(text: str, stream: TextIO | None) -> str:
    """`text` as written to `stream`: wrapped and coloured on a terminal, and escaped but for these
    colours."""
    parts = _PAINTED.split(text)
    parts[::2] = map(escaped, parts[::2])
    parts[1::2] = (f"\x1b{colour}" for colour in parts[1::2])
    width = width_of(stream)
    fitting = "".join(parts) if width is None else fitted("".join(parts), width)
    return coloured(fitting) if has_colour(stream) else fitting


def fitted(text: str, width: int) -> str:
    """`text` with lines longer than `width` broken at blanks. Words are not split."""
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def coloured(text: str) -> str:
    """`text` with the colours of its verdicts and warnings."""
    for words, colour in TONES:
        text = words.sub(lambda found, colour=colour: painted(found[0], colour), text)  # type: ignore[misc]
    return text


def painted(text: str, colour: str, escape: str = "\x1b") -> str:
    """`text` in a colour."""
    return f"{escape}[{colour}m{text}{escape}[0m"


def painter(stream: TextIO | None) -> Callable[[str, str], str]:
    """A function that marks a text with the colour of its tone for `shown`, and returns it
    unchanged where that is no terminal.
    """
    if not has_colour(stream):
        return lambda text, _tone: text
    return lambda text, tone: painted(text, COLOUR_OF[tone], _OWN) if tone in COLOUR_OF else text


def _broken(line: str, width: int) -> list[str]:
    if (
        len(line) <= width or "\x1b" in line
    ):  # lines with escape sequences, which have no width, are already fitted
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + HANGING,
        break_long_words=False,
        break_on_hyphens=False,
    )
