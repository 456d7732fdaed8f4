"""From the text of a configuration to commands, each with its line; what is no command is kept as well.

A line is one command, as `show running-config` prints it. A line that runs several together (copied from a document) is
taken apart at the words that begin a command, but only where most of its pieces are commands and one opens a map:
taking a piece out of a line that is about something else would be a guess.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import LarkError

GRAMMAR = Path(__file__).with_name("grammar.lark")
LINE_CHARACTERS_MAX = 20_000
"""Longer lines are no configuration."""
HEADS = frozenset(
    [
        "switchname",
        "hostname",
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
OPENERS = frozenset(("class_map", "policy_map"))
PIECES_MIN = 3
"""A run-together line has at least this many commands."""

Node = Tree[Token]


@dataclass(frozen=True)
class Command:
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
    """Words that are no command of the grammar."""

    line: int
    text: str


@dataclass(frozen=True)
class Comment:
    """A comment; those that begin with `! tailrace` hold what the vendor has no words for."""

    line: int
    text: str


def parse(text: str) -> list[Command | Unread | Comment]:
    """Everything in a configuration, in order."""
    return [entry for number, line in enumerate(text.splitlines(), 1) for entry in _line(number, line)]


def _line(number: int, line: str) -> Iterator[Command | Unread | Comment]:
    line = line.strip()
    if not line:
        return
    if line.startswith(("!", "#")):
        yield Comment(number, line)
        return
    if len(line) > LINE_CHARACTERS_MAX:
        yield Unread(number, line)
        return
    tree = read_command(line)
    if tree is not None:
        yield Command(number, line, tree)
        return
    pieces = [(piece, read_command(piece)) for piece in _pieces(line)]
    trees = [tree for _, tree in pieces if tree is not None]
    if len(trees) < PIECES_MIN or 2 * len(trees) < len(pieces) or not any(t.data in OPENERS for t in trees):
        yield Unread(number, line)
        return
    for piece, found in pieces:
        yield Unread(number, piece) if found is None else Command(number, piece, found)


def read_command(text: str) -> Node | None:
    """The tree of one command; None when it is none."""
    try:
        return _parser().parse(text)
    except LarkError:
        return None


def _pieces(line: str) -> list[str]:
    pieces: list[list[str]] = [[]]
    for word in line.split():
        if word.lower() in HEADS and pieces[-1]:
            pieces.append([])
        pieces[-1].append(word)
    return [" ".join(piece) for piece in pieces]


@cache
def _parser() -> Lark:
    """The parser. Quoted words of the grammar become terminals that end at a blank, whatever their case."""
    text = GRAMMAR.read_text(encoding="utf-8")
    words = sorted(set(re.findall(r'"([a-z0-9-]+)"', text)))
    names = {word: "_" + word.upper().replace("-", "_") + "_W" for word in words}
    text = re.sub(r'"([a-z0-9-]+)"', lambda match: names[match[1]], text)
    terminals = "\n".join(rf"{name}.3: /{re.escape(word)}(?!\S)/i" for word, name in names.items())
    return Lark(f"{text}\n{terminals}\n", start="command", parser="lalr", maybe_placeholders=False)
