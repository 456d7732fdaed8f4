"""Parses the text of a configuration into commands with their lines; other lines are kept as well.

A line is one command, as `show running-config` prints it. A line with several commands (copied from
a document) is split at the words that begin a command, but only where most of its pieces are
commands and one opens a map: extracting a piece from a line about something else would be a guess.
A comment in such a line ends where the next command begins, because its original end is lost; in a
text of several lines it ends with its line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import LarkError

from tailrace.importers.nxos.lines import ConfigLine, logical_lines

GRAMMAR = Path(__file__).with_name("grammar.lark")
LINE_CHARACTERS_MAX = 20_000
"""Characters of a line; longer lines are not parsed."""
HEADS = frozenset(
    [
        "switchname",
        "hostname",
        "feature",
        "version",
        "vlan",
        "ip",
        "class-map",
        "policy-map",
        "class",
        "match",
        "set",
        "mtu",
        "dpp",
        "pause",
        "bandwidth",
        "priority",
        "shape",
        "queue-limit",
        "random-detect",
        "afd",
        "police",
        "hardware",
        "system",
        "service-policy",
        "interface",
        "priority-flow-control",
        "flowcontrol",
    ]
)
"""Words that begin a command."""
COMMENT_MARKS = ("!", "#")
BEHIND = re.compile(r"\s(?:[!#←]|<-|--)")
"""Begins a remark behind a command, as documents write it."""
OPENERS = frozenset(("class_map", "policy_map"))
FREE_TEXT = frozenset(("description",))
"""Commands followed by free text."""
PIECES_MIN = 3
"""A run-together line has at least this many commands."""

Node = Tree[Token]


@dataclass(frozen=True)
class ConfigCommand:
    """One command."""

    line: int
    text: str
    tree: Node

    @property
    def verb(self) -> str:
        """Name of the grammar's rule."""
        return str(self.tree.data)


@dataclass(frozen=True)
class Unread:
    """Words that the grammar does not cover."""

    line: int
    text: str
    is_indented: bool = False
    """Whether it belongs to the section above it."""


@dataclass(frozen=True)
class Comment:
    """A comment; comments that begin with `! tailrace` hold names that NX-OS cannot express."""

    line: int
    text: str
    is_cut: bool = False
    """Whether it follows commands on its line, so that its end is uncertain."""


@dataclass(frozen=True)
class Skipped:
    """A line that is no command: it continues the one above it, or only belongs to a session."""

    line: int
    text: str
    why: str


Entry = ConfigCommand | Unread | Comment | Skipped


def parse(text: str) -> list[Entry]:
    """The parsed configuration, in order."""
    lines = logical_lines(text, is_command)
    is_alone = sum(bool(line.text) for line in lines) == 1
    return [entry for line in lines for entry in _entries(line, is_alone=is_alone)]


def is_command(text: str) -> bool:
    """Whether words are one command."""
    return _command(0, text) is not None


def _entries(line: ConfigLine, *, is_alone: bool) -> Iterator[Entry]:
    if line.skipped:
        yield Skipped(line.number, line.text, line.skipped)
    else:
        yield from _line(line.number, line.text, is_alone=is_alone, is_indented=line.is_indented)
    for number, text in line.parts:
        if text:
            yield Skipped(number, text, f"continues line {line.number}")


def _line(number: int, line: str, *, is_alone: bool, is_indented: bool) -> Iterator[Entry]:
    if not line:
        return
    is_comment = line.startswith(COMMENT_MARKS)
    if len(line) > LINE_CHARACTERS_MAX:
        yield Unread(number, line, is_indented)
        return
    command = None if is_comment else _command(number, line)
    if command is not None:
        yield command
        return
    pieces = _joined([(piece, read_command(piece)) for piece in _pieces(line)])
    trees = [tree for _, tree in pieces if tree is not None]
    statements = [piece for piece, _ in pieces if not piece.startswith(COMMENT_MARKS)]
    if (
        len(trees) < PIECES_MIN
        or 2 * len(trees) < len(statements)
        or not any(t.data in OPENERS for t in trees)
    ):
        yield Comment(number, line) if is_comment else Unread(number, line, is_indented)
        return
    if is_comment and not is_alone:
        yield Comment(number, line, is_cut=True)
        return
    for piece, found in pieces:
        if found is not None:
            yield ConfigCommand(number, piece, found)
        else:
            is_comment = piece.startswith(COMMENT_MARKS)
            yield Comment(number, piece, is_cut=True) if is_comment else Unread(number, piece)


def _command(number: int, line: str) -> ConfigCommand | None:
    """The command of a line, without a remark behind it."""
    tree = read_command(line)
    behind = BEHIND.search(line)
    if behind is not None and (tree is None or tree.data not in FREE_TEXT):
        before = line[: behind.start()].rstrip()
        tree_before = read_command(before)
        if tree_before is not None:
            return ConfigCommand(number, before, tree_before)
    return None if tree is None else ConfigCommand(number, line, tree)


def read_command(text: str) -> Node | None:
    """The tree of one command; None when it is none."""
    try:
        return _parser().parse(text)
    except LarkError:
        return None


def _pieces(line: str) -> list[str]:
    pieces: list[list[str]] = [[]]
    for word in line.split():
        if (word.lower() in HEADS or word.startswith(COMMENT_MARKS)) and pieces[-1]:
            pieces.append([])
        pieces[-1].append(word)
    return [" ".join(piece) for piece in pieces]


def _joined(pieces: list[tuple[str, Node | None]]) -> list[tuple[str, Node | None]]:
    """Joins pieces that form a command only together: `hardware qos` and `afd profile burst`."""
    joined: list[tuple[str, Node | None]] = []
    for piece, tree in pieces:
        before, other = joined[-1] if joined else ("", None)
        if before and other is None and not before.startswith(COMMENT_MARKS):
            together = read_command(f"{before} {piece}")
            if together is not None:
                joined[-1] = (f"{before} {piece}", together)
                continue
        joined.append((piece, tree))
    return joined


@cache
def _parser() -> Lark:
    """The parser. Quoted words of the grammar become case-insensitive terminals that end at a
    blank."""
    text = GRAMMAR.read_text(encoding="utf-8")
    words = sorted(set(re.findall(r'"([a-z0-9-]+)"', text)))
    names = {word: "_" + word.upper().replace("-", "_") + "_W" for word in words}
    text = re.sub(r'"([a-z0-9-]+)"', lambda match: names[match[1]], text)
    terminals = "\n".join(rf"{name}.3: /{re.escape(word)}(?!\S)/i" for word, name in names.items())
    return Lark(f"{text}\n{terminals}\n", start="command", parser="lalr", maybe_placeholders=False)
