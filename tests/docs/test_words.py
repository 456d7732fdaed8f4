"""Terms that the glossary replaces do not occur in documentation and messages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"

PAGES = (
    "README.md",
    "docs/**/*.md",
    "examples/*.md",
    "examples/*.yaml",
    "reproductions/*/*.md",
    "reproductions/*/*.yaml",
    "python/tailrace/report/assets/*.j2",
)

ALLOWED = {
    ("docs/glossary.md", ""): "lists the terms",
    (
        "docs/models/fabric.md",
        "punctual",
    ): "the pass over a log without lateness has this name in the fabric",
    (
        "python/tailrace/experiment/run.py",
        "spoilt",
    ): "the key in run directories of earlier versions",
    ("python/tailrace/live/trial/effect.py", "punctual"): "the key of an outcome",
    ("python/tailrace/live/trial/validity.py", "punctual"): "the key of an outcome",
    ("python/tailrace/live/programs/postgres.py", ""): "reasons of settings, in the live engine",
}
"""File and term, and the reason; an empty term stands for all of them."""


def forbidden() -> list[str]:
    """The terms of the last table of the glossary."""
    rows = GLOSSARY.read_text(encoding="utf-8").partition("## Not used")[2].splitlines()
    cells = [
        row.split("|")[1].strip() for row in rows if row.startswith("| ") and "| Term |" not in row
    ]
    return [term.strip() for cell in cells for term in cell.split(",")]


def pages() -> list[Path]:
    """Every file that users read as it stands."""
    return sorted(path for pattern in PAGES for path in ROOT.glob(pattern))


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Texts of a module that are no docstrings, with their lines."""
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documented
        ):
            yield node.lineno, node.value


def found(term: str, text: str) -> bool:
    """Whether a text has the term as whole words."""
    return re.search(rf"\b{re.escape(term)}\b", text, re.IGNORECASE) is not None


def allowed(name: str, term: str) -> bool:
    """Whether a file may have this term."""
    return (name, term) in ALLOWED or (name, "") in ALLOWED


def test_the_glossary_lists_terms_that_are_not_used() -> None:
    assert {"luck", "spoilt", "books", "nobody"} <= set(forbidden())


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_terms_of_the_glossary(page: Path) -> None:
    name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    hits = [term for term in forbidden() if found(term, text) and not allowed(name, term)]
    assert not hits, f"{name}: {', '.join(hits)} (hint: docs/glossary.md names the terms to use)"


def test_messages_use_the_terms_of_the_glossary() -> None:
    hits = [
        f"{path.relative_to(ROOT)}:{line}: {term}"
        for path in sorted((ROOT / "python" / "tailrace").rglob("*.py"))
        for line, text in messages(path.read_text(encoding="utf-8"))
        for term in forbidden()
        if found(term, text) and not allowed(str(path.relative_to(ROOT)), term)
    ]
    assert not hits, "\n".join(hits)
