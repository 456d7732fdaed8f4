"""Links between pages lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "reproductions", "benches", "examples")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The places inside a page that a link can name, as GitHub makes them from the headings."""
    names = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in names}


def broken(page: Path) -> list[str]:
    """Links of a page to files or headings that do not exist."""
    wrong = []
    for link in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        is_missing = not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target))
        if is_missing:
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title\n[here](#a-title) [there](other.md) [nowhere](#b) `[code](x.md)`\n")
    assert broken(page) == ["other.md", "#b"]


def test_every_model_page_is_listed() -> None:
    index = (ROOT / "docs" / "models" / "README.md").read_text()
    pages = [page.name for page in (ROOT / "docs" / "models").glob("*.md") if page.name != "README.md"]
    assert [name for name in pages if f"]({name})" not in index] == []
