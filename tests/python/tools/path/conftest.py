"""The program in one process, with the real simulator."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tailrace.cli import main


@dataclass(frozen=True)
class Ended:
    """What a command left."""

    code: int
    out: str
    err: str


@pytest.fixture
def tailrace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """One command."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["tailrace", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        seen = capsys.readouterr()
        return Ended(int(end.value.code or 0), seen.out, seen.err)

    return run
