"""Names that meant something else in each module are not used: `docs/glossary.md` lists names of
types, and words that no name contains."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "tailrace"
DECLARED = re.compile(
    r"^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|type|union) (\w+)", re.MULTILINE
)
FUNCTION = re.compile(
    r"^\s*pub(?:\([a-z: ]+\))? (?:const )?(?:async )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)",
    re.MULTILINE,
)
MODULE = re.compile(r"^\s*(?:pub(?:\([a-z: ]+\))? )?mod (\w+)", re.MULTILINE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
NAMES_MIN = 1000
"""Types of this project, at least."""
OTHER_NAMES_MIN = 10_000
"""Functions, modules, fields and files, at least."""
NOT_YET_IN_RUST = frozenset(("Place", "told", "tell", "place", "places"))
"""Checked in Python only: Rust still uses these. Remove an entry once Rust does not."""
KEYS_OF_FILES = frozenset(("told_by",))
"""Fields whose name is a key of a file that users have."""
OF_PROTOCOLS = frozenset(
    (
        "crates/capture",
        "crates/programs/src",
        "crates/blockdev",
        "crates/fabric/src/lab",
        "crates/lab/src/netlink",
        "crates/exact",
    )
)
"""Where a request is that of a protocol."""


def not_used() -> tuple[set[str], set[str]]:
    """The first column of the table: names of types, and words of other names."""
    table = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").partition("## Not names")[2]
    rows = table.partition("\n## ")[0].splitlines()
    names = {
        name.strip()
        for row in rows
        if row.startswith("| ") and "| Name |" not in row
        for name in row.split("|")[1].split(",")
    }
    return {name for name in names if name[0].isupper()}, {
        name for name in names if name[0].islower()
    }


def types() -> Iterator[tuple[str, str]]:
    """Every type, with its file."""
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        for name in DECLARED.findall(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), name
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield str(path.relative_to(ROOT)), node.name


def names() -> Iterator[tuple[str, str]]:
    """Every type, module and file, every public function of Rust, and every function and field of
    Python, with its file."""
    yield from types()
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        text = path.read_text(encoding="utf-8")
        for name in (path.stem, *FUNCTION.findall(text), *MODULE.findall(text)):
            yield str(path.relative_to(ROOT)), name
    for path in sorted(PACKAGE.rglob("*.py")):
        file = str(path.relative_to(ROOT))
        yield file, path.stem
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield file, node.name
            elif isinstance(node, ast.ClassDef):
                for each in node.body:
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                        yield file, each.target.id


def is_checked(file: str, name: str) -> bool:
    """Whether a name or word of the table is checked in the language of a file."""
    return name not in NOT_YET_IN_RUST or not file.endswith(".rs")


def test_a_type_has_a_name_of_one_meaning() -> None:
    found = list(types())
    assert len(found) > NAMES_MIN
    banned, _ = not_used()
    assert {"Told", "Letter", "Request"} <= banned
    hits = [
        f"{file}: {name}"
        for file, name in found
        if name in banned and not is_of_a_protocol(file, name) and is_checked(file, name)
    ]
    assert not hits, "\n".join(hits)


def test_a_name_contains_no_word_of_the_table() -> None:
    found = list(names())
    assert len(found) > OTHER_NAMES_MIN
    _, banned = not_used()
    assert {"told", "place"} <= banned
    hits = [
        f"{file}: {name}"
        for file, name in found
        if name not in KEYS_OF_FILES
        for word in WORD.findall(name)
        if word.lower() in banned and is_checked(file, word.lower())
    ]
    assert not hits, "\n".join(hits)


def is_of_a_protocol(file: str, name: str) -> bool:
    """Whether the type is a request of a protocol, in the module of that."""
    return name == "Request" and any(file.startswith(place) for place in OF_PROTOCOLS)
