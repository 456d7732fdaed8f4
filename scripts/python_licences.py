"""Gate for the packages of `uv.lock`: where they come from, and under which licence:
`scripts/checks.py`.

A lock file names no licences. `python-licences.toml` does, and this script compares it with the
lock file (every package, and no other one), with the licences that are allowed, and with what the
installed packages state.
"""

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts" / "python-licences.toml"
INDEX = "https://pypi.org/simple"
ANYWHERE = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "MPL-2.0",
        "PSF-2.0",
        "Zlib",
    }
)
"""Licences of packages that run with the program: permissive ones, and MPL-2.0, which asks for
changes of its own files alone.
"""
OF_TOOLS = ANYWHERE | {"LGPL-2.1-only"}
"""Licences of packages that only developers run."""
STATED = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "gnu library or lesser general public license (lgpl)": "LGPL-2.1-only",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
"""What older packages state in words, as SPDX has it."""
VAGUE = frozenset({"bsd license", "dfsg approved"})
"""Statements that leave a choice: the table decides."""


def main() -> int:
    """Prints what is wrong; the exit code is 1 then."""
    packages = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    table = tomllib.loads(TABLE.read_text("utf-8"))
    wrong = [
        *faults(packages, table),
        *(one for name, of in licences(table).items() for one in disagreement(name, of)),
    ]
    for line in wrong:
        print(line)
    print(f"{len(packages)} packages of uv.lock, {len(wrong)} faults")
    return 1 if wrong else 0


def licences(table: Mapping[str, Mapping[str, list[str]]]) -> dict[str, str]:
    """The licence by package."""
    return {
        name: licence
        for part in table.values()
        for licence, names in part.items()
        for name in names
    }


def faults(
    packages: list[dict[str, Any]], table: Mapping[str, Mapping[str, list[str]]]
) -> Iterator[str]:
    """What is wrong with the lock file beside the table."""
    locked = {
        package["name"]: package for package in packages if package["source"] != {"editable": "."}
    }
    listed = [name for part in table.values() for names in part.values() for name in names]
    for name in sorted(set(locked) - set(listed)):
        yield f"{name}: its licence is not in {TABLE.name} (hint: read it, and add the package)"
    for name in sorted(set(listed) - set(locked)):
        yield f"{name}: it is in {TABLE.name} and not in uv.lock"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"{name}: it is in {TABLE.name} more than once"
    for part, allowed in (("anywhere", ANYWHERE), ("tools", OF_TOOLS)):
        for licence in table.get(part, {}):
            if not is_allowed(licence, allowed):
                yield f"{licence}: this licence is not allowed [{part}]"
    needed = reached(packages)
    for name in sorted(needed & set(licences({"tools": table.get("tools", {})}))):
        yield f"{name}: it runs with the program, and its licence is for tools alone"
    for package in packages:
        yield from _source_faults(package)


def is_allowed(licence: str, allowed: frozenset[str]) -> bool:
    """Whether an SPDX expression without parentheses can be met: all of `AND`, one of `OR`, which
    binds less."""
    return any(
        all(one in allowed for one in choice.split(" AND ")) for choice in licence.split(" OR ")
    )


def reached(packages: list[dict[str, Any]]) -> set[str]:
    """The packages that the program or one of its extras requires, directly or not."""
    needs: dict[str, set[str]] = {}
    for package in packages:
        lists = [
            package.get("dependencies", []),
            *package.get("optional-dependencies", {}).values(),
        ]
        needs.setdefault(package["name"], set()).update(
            one["name"] for many in lists for one in many
        )
    found, left = set[str](), ["tailrace"]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(needs.get(name, ()))
    return found


def _source_faults(package: dict[str, Any]) -> Iterator[str]:
    if package["source"] == {"editable": "."}:
        return
    if package["source"] != {"registry": INDEX}:
        yield f"{package['name']}: it comes from {package['source']} (hint: {INDEX} alone)"
    files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
    if not files or any(
        re.fullmatch("sha256:[0-9a-f]{64}", file.get("hash", "")) is None for file in files
    ):
        yield f"{package['name']}: one of its files has no SHA-256 in uv.lock"


def disagreement(name: str, licence: str) -> Iterator[str]:
    """What an installed package states, where that is another licence."""
    try:
        stated = _stated(importlib.metadata.metadata(name))
    except importlib.metadata.PackageNotFoundError:
        return  # for another system, or for a group that is not installed
    if stated is not None and stated != licence:
        yield f"{name}: it states {stated}, and {TABLE.name} has {licence}"


def _stated(metadata: Any) -> str | None:
    """The SPDX expression of a package; None where it states nothing that decides."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classes = [
        text.split(" :: ")[-1]
        for text in metadata.get_all("Classifier") or []
        if text.startswith("License")
    ]
    words = [
        text.lower()
        for text in (*classes, metadata.get("License") or "")
        if text and "\n" not in text
    ]
    known = [STATED[text] for text in words if text in STATED]
    if known:
        return known[0]
    free = [
        text
        for text in (metadata.get("License") or "",)
        if text and "\n" not in text and len(text) < 60
    ]
    return free[0] if free and free[0].lower() not in VAGUE else None


if __name__ == "__main__":
    sys.exit(main())
