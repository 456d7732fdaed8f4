"""The page of the kernel's timelines says what the tests replay."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "models" / "tcp-packetdrill.md"
TESTS = ROOT / "crates" / "transport" / "tests" / "tcp"
ROW = re.compile(r"^\| `([^`]+)` \| (passes|in part)", re.MULTILINE)
NAME = re.compile(r"`([\w/.-]+)`")
PASSING_MIN = 40
NOT_REPLAYED = {"zerocopy/batch"}


def replayed() -> set[str]:
    """Last parts of all names that stand in the comments of the tests; `...-x` is short for the
    name before it."""
    comments = [
        line
        for path in TESTS.glob("kernel_*.rs")
        for line in path.read_text().splitlines()
        if line.startswith("///")
    ]
    return {name.split("/")[-1] for name in NAME.findall("\n".join(comments))}


def test_what_passes_is_replayed() -> None:
    names = replayed()
    rows = dict(ROW.findall(PAGE.read_text()))
    short = {name.split("-")[-1] for name in names if name.startswith("...")}
    missing = [
        name
        for name in rows
        if name not in NOT_REPLAYED
        and (last := name.split("/")[-1]) not in names
        and last.split("-")[-1] not in short
    ]
    assert missing == []


def test_at_least_forty_pass() -> None:
    rows = ROW.findall(PAGE.read_text())
    assert sum(state == "passes" for _, state in rows) >= PASSING_MIN
