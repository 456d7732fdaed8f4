"""Functions, methods and constants of Rust and Python sources, by name.

`Type::method` and `function` in Rust, `Class.method` and `function` in Python; constants alike.
Rust is read by its braces, for which comments, strings and characters are blanked first.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPAQUE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | \bb?r(\#*)".*?"\1 | b?"(?:\\.|[^"\\])*" | b?'(?:\\.[^'\n]*|[^\\'\n])'""",  # noqa: E501
    re.DOTALL | re.VERBOSE,
)
_OWNER = re.compile(
    r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:impl|trait)\b([^{;]*)\{", re.MULTILINE
)
_ITEM = re.compile(
    r"^[ \t]*(?:pub(?:\([^)]*\))?\s+|const\s+|async\s+|unsafe\s+)*(fn|const|static)\s+(?!fn\b|unsafe\b|async\b)(\w+)",  # noqa: E501
    re.MULTILINE,
)
_BRACKET = re.compile(r"[()\[\]{};]")


@dataclass(frozen=True)
class Item:
    """A function, method or constant, and where its text is."""

    name: str
    start: int
    end: int


def items(text: str, suffix: str) -> list[Item]:
    """All items of a source file in their order; of another language, none."""
    return {".rs": _rust_items, ".py": _python_items}.get(suffix, lambda _: [])(text)


def _rust_items(text: str) -> list[Item]:
    code = _OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    owners = [
        (_owner(found[1]), found.end(), _end(code, found.end() - 1))
        for found in _OWNER.finditer(code)
    ]
    result = []
    for found in _ITEM.finditer(code):
        around = [owner for owner, start, end in owners if start <= found.start() < end]
        end = _end(code, found.end(), is_function=found[1] == "fn")
        result.append(Item("::".join([*around[-1:], found[2]]), found.start(1), end))
    return result


def _owner(header: str) -> str:
    """Name of the type of an `impl`, or of a trait: `<T> Trait for a::Type<T>` is `Type`."""
    while (plain := re.sub(r"<[^<>]*>", "", header.replace("->", ""))) != header:
        header = plain
    words = re.findall(r"[\w:]+", header.partition(" where ")[0].rpartition(" for ")[2])
    return str(words[0]).rpartition("::")[2] if words else ""


def _end(code: str, start: int, *, is_function: bool = True) -> int:
    """Where the first block after `start` ends, or a constant or a function without a body at its
    semicolon."""
    depth = 0
    for found in _BRACKET.finditer(code, start):
        depth += {"(": 1, "[": 1, "{": 1, ";": 0}.get(found[0], -1)
        if depth == 0 and (found[0] == ";" or (is_function and found[0] == "}")):
            return found.end()
    return len(code)


def _python_items(text: str) -> list[Item]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return [
        Item(name, starts[node.lineno - 1], starts[node.end_lineno or node.lineno])
        for name, node in _python_nodes(ast.parse(text).body, "")
    ]


def _python_nodes(
    body: list[ast.stmt], within: str, *, in_function: bool = False
) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield within + node.name, node
                yield from _python_nodes(node.body, f"{within}{node.name}.", in_function=True)
            case ast.ClassDef():
                yield from _python_nodes(node.body, f"{within}{node.name}.")
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name))
            ) if not in_function:
                yield within + name, node
