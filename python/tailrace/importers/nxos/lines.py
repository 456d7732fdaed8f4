"""Splits a text into logical lines: removes prompts of a session and joins continued lines.

Configurations come from documents and terminals as well as from `show running-config`. A line
continues in the next one if it ends in a backslash, or if the next one begins with words that only
continue a command. Help requests, aborted lines and rejected lines of a session are no part of its
configuration.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

PROMPT = re.compile(r"^[\w.:-]+(?:\(config[\w./-]*\)[#>]?\s*|(?:\([\w.-]+\))?[#>]\s+)(?=\S)")
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
SECTION_PROMPT = re.compile(r"\(config-")
"""In the prompt of a section; commands behind it belong to that section, as indented ones do."""
HELP_OUTPUT = re.compile(r"\s+(?:<\S+>|\S+)(?:\s{2,}\S.*)?|\*\*\*.*")
"""A line below `?`: a word, two blanks and its meaning."""
REFUSAL = re.compile(
    r"\^|(?:%\s*(?:Invalid|Incomplete|Ambiguous|Permission|String|Cannot|Error)|ERROR:|Error:).*",
    re.IGNORECASE,
)
"""Error messages of a switch for rejected commands."""
HELP, ABORTED, ANSWER = "asks for help", "aborted with ^C", "an answer of the switch"


@dataclass
class ConfigLine:
    """One logical line, with the number of its first physical line."""

    number: int
    text: str
    parts: list[tuple[int, str]] = field(default_factory=list)
    """Physical lines after the first one."""
    is_indented: bool = False
    """Whether it belongs to the section above it."""
    skipped: str = ""
    """Why it is no part of the configuration; empty for a line that is."""


def logical_lines(text: str, is_command: Callable[[str], bool]) -> list[ConfigLine]:
    """The lines of a text. `is_command` says whether words are a whole command."""
    found: list[ConfigLine] = []
    is_open = is_help = False
    for number, raw in enumerate(text.splitlines(), 1):
        prompt = PROMPT.match(raw.strip())
        line = raw.strip()[prompt.end() :] if prompt else raw.strip()
        skipped = _skipped(raw, line, is_prompted=prompt is not None, is_help=is_help)
        is_help = skipped == HELP
        last = found[-1] if found else None
        if skipped:
            if REFUSAL.fullmatch(line) and last is not None:
                _refuse(found, number)
            found.append(ConfigLine(number, line, skipped=skipped))
            continue
        if (
            last is not None
            and len(last.parts) < LINES_JOINED_MAX
            and (is_open or _continues(last, line, is_command))
        ):
            last.parts.append((number, line))
            last.text = f"{last.text} {_without_backslash(line)}".strip()
        else:
            is_indented = (
                raw[:1].isspace()
                if prompt is None
                else SECTION_PROMPT.search(prompt[0]) is not None
            )
            found.append(ConfigLine(number, _without_backslash(line), is_indented=is_indented))
        is_open = line.endswith("\\") and bool(line.strip("\\").strip())
    return found


def _skipped(raw: str, line: str, *, is_prompted: bool, is_help: bool) -> str:
    """The reason for which a line of a session is no part of the configuration; empty for one that
    is."""
    if line.endswith(" ?") or line == "?" or (is_prompted and line.endswith("?")):
        return HELP
    if line.endswith("^C"):
        return ABORTED
    if is_help and not is_prompted and HELP_OUTPUT.fullmatch(raw.rstrip()):
        return HELP
    return ANSWER if REFUSAL.fullmatch(line) else ""


def _refuse(found: list[ConfigLine], number: int) -> None:
    """The command above an answer was not taken."""
    for line in reversed(found):
        if not line.skipped and line.text:
            line.skipped = f"the switch refused it (line {number})"
            return
        if line.skipped != ANSWER:
            return


def _continues(last: ConfigLine, line: str, is_command: Callable[[str], bool]) -> bool:
    first = line.split(maxsplit=1)[:1]
    if not first or first[0].lower() not in GOES_ON or not last.text or last.skipped:
        return False
    begins = last.text.split()[0].lower() in LONG and not is_command(last.text)
    return begins or is_command(f"{last.text} {line}")


def _without_backslash(line: str) -> str:
    return line.rstrip("\\").rstrip() if line.endswith("\\") and line.strip("\\").strip() else line
