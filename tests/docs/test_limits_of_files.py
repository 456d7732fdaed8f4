"""The limits of files that docs/security.md states are those of the code, and are applied."""

from pathlib import Path

import pytest
from ruamel.yaml.error import YAMLError

from tailrace.files import BYTES_MAX, DEPTH_MAX
from tailrace.importers.records.lines import LINE_BYTES_MAX
from tailrace.importers.storage.source import IMPORTED_BYTES_MAX
from tailrace.scenario.text import document, yaml
from tailrace.scenario.workloads import recording
from tailrace.tools.blast import frames

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())


def grouped(number: int) -> str:
    """As the documentation writes it: `20 000`."""
    return f"{number:,}".replace(",", " ")


@pytest.mark.parametrize(
    "words",
    [
        f"{document.FILE_BYTES_MAX // 10**6} MB as a scenario or published figures",
        f"{IMPORTED_BYTES_MAX // 10**6} MB as a configuration",
        f"{frames.FILE_BYTES_MAX // 10**6} MB as frames",
        f"{recording.BYTES_MAX // 10**6} MB as a recording",
        f"lines of at most {LINE_BYTES_MAX // 10**6} MB",
        f"at most {grouped(yaml.ENTRIES_MAX)} lines and commas",
        f"{DEPTH_MAX} levels, and {grouped(document.VALUES_MAX)} values after aliases",
        f"JSON has {DEPTH_MAX} levels",
        f"more than {BYTES_MAX >> 30} GiB",
    ],
)
def test_the_page_states_the_limit_of_the_code(words: str) -> None:
    assert words in WORDS


@pytest.mark.parametrize("entry", ["- 1\n", "- 1\r", "- 1\r\n", "x,"], ids=repr)
@pytest.mark.parametrize("is_marked", [False, True])
def test_each_line_and_each_comma_of_yaml_counts(
    entry: str, is_marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml, "ENTRIES_MAX", 100)
    begin, end = ("[", "]") if entry.endswith(",") else ("", "")
    count = 50 if entry.endswith("\r\n") else 100
    assert len(yaml.load_yaml(begin + entry * count + end, is_marked=is_marked)) == count
    with pytest.raises(YAMLError, match="lines and commas"):
        yaml.load_yaml(begin + entry * (count + 1) + end, is_marked=is_marked)
