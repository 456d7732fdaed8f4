"""A report as elements and words."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tailrace.report import write
from trial_files import read_trial, write_trial

SIZE_BYTES_MAX = 1_000_000
VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})


class Page(HTMLParser):
    """Elements with their attributes, visible text, and whether everything that opens is closed in
    order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} closes {self.open[-3:]}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]


def page_of(path: Path) -> Page:
    text = write(path).read_text(encoding="utf-8")
    assert len(text.encode()) < SIZE_BYTES_MAX
    page = Page(text)
    assert page.open == []
    assert len(page.ids()) == len(set(page.ids()))
    return page


def edit_trials(path: Path, change: Any) -> None:
    for file in path.glob("trials/*/*.json"):
        outcome = read_trial(file)
        change(outcome)
        write_trial(file, outcome)
