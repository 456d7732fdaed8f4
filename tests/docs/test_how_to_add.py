"""The pages on how to add something list every file that names their example, and no other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATH = re.compile(r"`((?:crates/\w+/src|python/tailrace)/[\w/.]+\.(?:rs|py))`")

#: By page, the example whose name (a regular expression) marks the files that know it.
EXAMPLES = {"add-a-switch-mechanism": "codel", "add-a-host-cost": "per_byte(?:_fs)?"}


def files_that_name(word: str) -> set[str]:
    """Source files, without tests and generated files, in which the word stands by itself."""
    sources = [*ROOT.glob("crates/*/src/**/*.rs"), *(ROOT / "python" / "tailrace").rglob("*.py")]
    generated = {ROOT / "python" / "tailrace" / kind / "types.py" for kind in ("outcome", "plan")}
    named = re.compile(rf"\b{word}\b", re.IGNORECASE)
    return {
        str(path.relative_to(ROOT))
        for path in sources
        if path not in generated and named.search(path.read_text(encoding="utf-8"))
    }


def listed(page: str) -> list[str]:
    """Source files in the items of the page's lists, up to the section about everything else."""
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text(encoding="utf-8")
    lists = text[: text.index("## What else it brings")]
    items = re.findall(r"^- (.+?)(?=^- |^$)", lists, re.MULTILINE | re.DOTALL)
    return [path for item in items for path in PATH.findall(item.split(": ")[0])]


@pytest.mark.parametrize(("page", "word"), EXAMPLES.items())
def test_the_page_lists_every_file_that_names_its_example(page: str, word: str) -> None:
    paths = listed(page)
    assert len(paths) == len(set(paths)) > 3
    assert set(paths) == files_that_name(word)
