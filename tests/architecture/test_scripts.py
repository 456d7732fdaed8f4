"""Every script is used: a target of make, a test, a page or another script refers to it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
FOLDERS = ("tests", "docs", "benches", "scripts", "reproductions", "examples", "crates")
FILES = ("Makefile", "README.md", "CONTRIBUTING.md", "pyproject.toml")
SUFFIXES = frozenset({".py", ".md", ".rs", ".toml", ".yaml"})
STUDIES = ROOT / "studies"


def readers() -> Iterator[Path]:
    """Files that may refer to a script; this test names none."""
    yield from (ROOT / name for name in FILES)
    for folder in FOLDERS:
        yield from (
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in SUFFIXES and path != Path(__file__)
        )


def is_referred_to(script: Path, texts: dict[Path, str]) -> bool:
    """Whether another file has the script's name, imports it, or names it to a function that runs
    scripts."""
    name, stem = re.escape(script.name), re.escape(script.stem)
    reference = re.compile(
        rf"(?<![\w-]){name}(?![\w-])|^\s*(?:from|import) {stem}\b|[\"/]{stem}[\"/]", re.MULTILINE
    )
    return any(
        path != script
        and script not in path.parents
        and script.stem in text
        and reference.search(text)
        for path, text in texts.items()
    )


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in readers() if path.is_file()}


@pytest.mark.parametrize(
    "script",
    sorted(path for path in SCRIPTS.iterdir() if path.name != "__pycache__"),
    ids=lambda path: path.name,
)
def test_a_script_is_referred_to(script: Path, texts: dict[Path, str]) -> None:
    assert is_referred_to(script, texts), "delete it, or move it to studies/"


def test_the_index_of_the_studies_has_each() -> None:
    index = (STUDIES / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^- `([^`]+)`", index, re.MULTILINE))
    assert listed == {path.name for path in STUDIES.glob("*.py")}
