"""Names of types that meant something else in each module are not used: `docs/glossary.md` lists
them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "tailrace"
DECLARED = re.compile(
    r"^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|type|union) (\w+)", re.MULTILINE
)
NAMES_MIN = 1000
"""Types of this project, at least."""
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


def not_used() -> list[str]:
    """The first column of the table."""
    table = (
        (ROOT / "docs" / "glossary.md")
        .read_text(encoding="utf-8")
        .partition("## Not names of types")[2]
    )
    rows = table.partition("\n## ")[0].splitlines()
    return [
        row.split("|")[1].strip() for row in rows if row.startswith("| ") and "| Name |" not in row
    ]


def declared() -> Iterator[tuple[str, str]]:
    """Every type, with its file."""
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        for name in DECLARED.findall(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), name
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield str(path.relative_to(ROOT)), node.name


def test_a_type_has_a_name_of_one_meaning() -> None:
    found = list(declared())
    assert len(found) > NAMES_MIN
    names = set(not_used())
    assert {"Told", "Letter", "Request"} <= names
    hits = [
        f"{file}: {name}"
        for file, name in found
        if name in names and not is_of_a_protocol(file, name)
    ]
    assert not hits, "\n".join(hits)


def is_of_a_protocol(file: str, name: str) -> bool:
    """Whether the type is a request of a protocol, in the module of that."""
    return name == "Request" and any(file.startswith(place) for place in OF_PROTOCOLS)
