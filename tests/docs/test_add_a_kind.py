"""The page on adding a kind of workload lists the files that name a kind, no more and no fewer."""

import re
from pathlib import Path

from tailrace.scenario.workloads.oltp import Oltp

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-workload-kind.md"
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
NAMED = re.compile(rf"\b(?:Raw)?{Oltp.__name__}\b")
COMMENT = re.compile(r"//.*|^\s*#.*", re.MULTILINE)
PACKAGE = ROOT / "python" / "tailrace"
REAL = {PACKAGE / "live", PACKAGE / "programs", PACKAGE / "exact" / "programs"}
"""The page is about simulated kinds; real programs have a page of their own."""


def listed() -> set[str]:
    """Files in the table of the page, for a kind that exists."""
    return {
        path.replace("<kind>", "oltp") for path in ROW.findall(PAGE.read_text(encoding="utf-8"))
    }


def naming() -> set[str]:
    """Sources, besides tests, that name the class of this kind."""
    sources = [
        *(file for folder in ROOT.glob("crates/*/src") for file in folder.rglob("*.rs")),
        *(ROOT / "python" / "tailrace").rglob("*.py"),
    ]
    return {
        str(file.relative_to(ROOT))
        for file in sources
        if REAL.isdisjoint(file.parents)
        and NAMED.search(COMMENT.sub("", file.read_text(encoding="utf-8")))
    }


def test_the_page_lists_the_files_that_name_a_kind() -> None:
    assert listed() == naming()


def test_a_kind_touches_six_files() -> None:
    assert len(listed()) == 6
