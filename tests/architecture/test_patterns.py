"""Patterns that must match a whole text use `fullmatch`: `$` also matches before a newline at the
end, so that `match` accepts "db\\n" beside "db".
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "tailrace"


def to_end(tree: ast.Module) -> Iterator[str]:
    """Names of a module whose patterns end with `$`, without the flag that makes it the end of a
    line."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(attr="compile")) as call,
            ):
                if ends(call.args[0]) and "MULTILINE" not in ast.dump(call):
                    yield name
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Constant() | ast.JoinedStr() as text
            ) if ends(text):
                yield name


def ends(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return bool(node.values) and ends(node.values[-1])
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith("$")
    )


def matches(tree: ast.Module, known: set[str]) -> Iterator[int]:
    """Lines that call `match` or `search` with such a pattern."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr="match"), args=[pattern, *_]
            ):
                if ends(pattern) or (isinstance(pattern, ast.Name) and pattern.id in known):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="match")) if (
                name in known
            ):
                yield node.lineno


def test_what_must_match_to_the_end_uses_fullmatch() -> None:
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))
    }
    known = {name for tree in trees.values() for name in to_end(tree)}
    assert {"NAME_PATTERN", "_PORTS"} <= known, "patterns are found"
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, tree in trees.items()
        for line in matches(tree, known)
    ]
    assert found == []
