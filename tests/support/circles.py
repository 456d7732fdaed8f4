"""Finds circles of imports: between modules of a Rust crate and between modules of the Python
package.

Modules form a tree of folders. An import between two modules counts between the two siblings, below
their closest common parent, that hold them: so a circle of two folders is found even if no two
files import each other. Imports between a module and one above it do not count: the parent lists
its children, and they use what it defines for all.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

Module: TypeAlias = tuple[str, ...]
Uses: TypeAlias = Mapping[Module, set[Module]]

COMMENT = re.compile(r"//.*")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{.*\n\}", re.DOTALL)
REEXPORT = re.compile(r"pub(?:\([^)]*\))? use ([^;]+);")
DEFINITION = re.compile(
    r"^pub(?:\([^)]*\))? (?:const )?(?:fn|struct|enum|trait|type|const|static) (\w+)", re.MULTILINE
)
ABOVE = frozenset({"crate", "super", "self"})
PATH = re.compile(r"\b((?:crate|super|self)(?:::\w+)*)(?:::(\{))?")


def circles(uses: Uses) -> list[list[str]]:
    """Groups of siblings that import each other, directly or through others; each sibling as its
    dotted name."""
    edges: dict[Module, set[Module]] = {}
    for user, used in uses.items():
        for other in used:
            shared = _shared(user, other)
            if shared < min(len(user), len(other)):
                edges.setdefault(user[: shared + 1], set()).add(other[: shared + 1])
    found = {frozenset(_circle_of(module, edges)) for module in edges} - {frozenset()}
    return sorted(sorted(".".join(module) for module in group) for group in found)


def _shared(one: Module, other: Module) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _circle_of(module: Module, edges: Uses) -> set[Module]:
    """The modules that this one reaches and that reach it; none if it does not reach itself."""
    ahead = _reached(module, edges)
    return (
        {other for other in ahead if module in _reached(other, edges)} if module in ahead else set()
    )


def _reached(module: Module, edges: Uses) -> set[Module]:
    reached: set[Module] = set()
    ahead = list(edges.get(module, ()))
    while ahead:
        if (at := ahead.pop()) not in reached:
            reached.add(at)
            ahead += edges.get(at, ())
    return reached


def python_uses(package: Path) -> dict[Module, set[Module]]:
    """Module → the modules of the package that it imports: when it is imported itself, within its
    functions, or for its types."""
    files = {_python_name(file, package): file for file in package.rglob("*.py")}
    return {
        module: {known for name in _imported(file) if (known := _longest(name, files))}
        for module, file in files.items()
    }


def _python_name(file: Path, package: Path) -> Module:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imported(file: Path) -> Iterator[Module]:
    ahead: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while ahead:
        node = ahead.pop()
        ahead += ast.iter_child_nodes(node)
        match node:
            case ast.Import(names=names):
                yield from (tuple(alias.name.split(".")) for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((*module.split("."), alias.name) for alias in names)


def _longest(name: Module, known: Iterable[Module]) -> Module:
    """The longest beginning of this path that is a module."""
    return next((name[:length] for length in range(len(name), 0, -1) if name[:length] in known), ())


def rust_uses(source: Path) -> dict[Module, set[Module]]:
    """Module → the modules of the crate that its paths lead to, through names that another module
    exports again."""
    texts = {_rust_name(file, source): _code(file) for file in source.rglob("*.rs")}
    exports: dict[Module, dict[str, Module]] = {}
    # The deepest modules first: what a module exports of all of another includes what that one
    # exports again.
    for module in sorted(texts, key=len, reverse=True):
        exports[module] = dict(_exported(texts[module], module, texts, exports))
    return {
        module: {_home(path, texts, exports) for path in _paths(text, module)} - {module}
        for module, text in texts.items()
    }


def _rust_name(file: Path, source: Path) -> Module:
    parts = file.relative_to(source).with_suffix("").parts
    return ("crate", *(parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts))


def _code(file: Path) -> str:
    return TESTS.sub("", COMMENT.sub("", file.read_text(encoding="utf-8")))


def _exported(
    text: str,
    module: Module,
    texts: Mapping[Module, str],
    exports: Mapping[Module, Mapping[str, Module]],
) -> Iterator[tuple[str, Module]]:
    """Names that a module exports again, with where they lead."""
    for leaf in (
        leaf for written in REEXPORT.findall(text) for leaf in _leaves(" ".join(written.split()))
    ):
        path, _, alias = leaf.partition(" as ")
        parts = path.split("::")
        target = _absolute(parts, module) if parts[0] in ABOVE else (*module, *parts)
        source = _longest(target, texts)
        if parts[-1] == "*":
            yield from exports.get(source, {}).items()
            yield from ((name, (*source, name)) for name in DEFINITION.findall(texts[source]))
        elif source != module:
            yield alias or parts[-1], target


def _leaves(written: str) -> Iterator[str]:
    """`a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`."""
    head, brace, rest = written.strip().partition("{")
    if not brace:
        yield head.strip()
        return
    depth, start = 0, 0
    inside = rest[: rest.rindex("}")]
    for at, letter in enumerate(inside + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part := inside[start:at].strip():
                yield from (head + leaf for leaf in _leaves(part))
            start = at + 1


def _paths(text: str, module: Module) -> Iterator[Module]:
    for match in PATH.finditer(text):
        written = match[1]
        if match[2]:
            written += "::" + _braces(text, match.end() - 1)
        for leaf in _leaves(" ".join(written.split())):
            yield _absolute(leaf.partition(" as ")[0].split("::"), module)


def _braces(text: str, start: int) -> str:
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start : at + 1]
    raise ValueError(text[start : start + 80])


def _absolute(parts: list[str], module: Module) -> Module:
    at: Module = module
    for i, part in enumerate(parts):
        match part:
            case "crate":
                at = ("crate",)
            case "self":
                pass
            case "super":
                at = at[:-1] or at
            case _:
                return (*at, *parts[i:])
    return at


def _home(
    path: Module, modules: Iterable[Module], exports: Mapping[Module, Mapping[str, Module]]
) -> Module:
    """The module in which the name at the end of this path is defined."""
    for _ in range(8):
        module = _longest(path, modules)
        name = path[len(module)] if len(path) > len(module) else None
        if name is None or name not in exports.get(module, {}):
            return module
        path = exports[module][name]
    return _longest(path, modules)
