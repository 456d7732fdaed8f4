"""Links between pages lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "reproductions", "benches", "examples")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
)
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
        is_missing = not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        )
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
    pages = [
        page.name for page in (ROOT / "docs" / "models").glob("*.md") if page.name != "README.md"
    ]
    assert [name for name in pages if f"]({name})" not in index] == []


def unknown_sources(page: str) -> list[str]:
    """Rust files that a page names, whole paths or ends of them, and that do not exist."""
    known = [f"/{source.relative_to(ROOT)}" for source in (ROOT / "crates").rglob("*.rs")]
    named = re.findall(r"`([\w/]+\.rs)`", page)
    return [name for name in named if not any(path.endswith(f"/{name}") for path in known)]


def test_the_sources_that_a_page_names_exist() -> None:
    pages = (ROOT / "docs").rglob("*.md")
    assert {
        page.name: wrong for page in pages if (wrong := unknown_sources(page.read_text()))
    } == {}


def test_a_source_that_does_not_exist_is_noticed() -> None:
    assert unknown_sources("`crates/dataplane/src/switch.rs`, `switch.rs` and `no_switch.rs`") == [
        "no_switch.rs"
    ]


def functions() -> set[str]:
    """Names of all functions of the project, tests included."""
    sources = [*(ROOT / "crates").rglob("*.rs"), *(ROOT / "tests").rglob("*.py")]
    return {
        name for source in sources for name in re.findall(r"\b(?:fn|def) (\w+)", source.read_text())
    }


def unknown_tests(page: str, known: set[str]) -> list[str]:
    """Tests that the validation of a model page names and that do not exist."""
    validation = page.partition("## Validation")[2]
    return [
        name
        for name in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){2,})`", validation)
        if name not in known
    ]


def test_the_tests_that_a_model_page_names_exist() -> None:
    known = functions()
    pages = [page for page in (ROOT / "docs" / "models").glob("*.md") if page.name != "README.md"]
    assert {
        page.name: wrong for page in pages if (wrong := unknown_tests(page.read_text(), known))
    } == {}


def test_a_test_that_does_not_exist_is_noticed() -> None:
    page = "`not_looked_at_here`\n## Validation\n- `a_test_that_is`, `a_test_that_is_not`\n"
    assert unknown_tests(page, {"a_test_that_is"}) == ["a_test_that_is_not"]
