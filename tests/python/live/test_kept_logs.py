"""Ingress logs that a live run keeps: of its first trials, within a limit; with `--log-ingress`
all."""

from pathlib import Path
from typing import Any

import pytest

from tailrace.live import engine
from tailrace.live.engine import LiveEngine
from tailrace.outcome.types import Outcome
from whole import part

BYTES = 60


class Logged:
    """A trial that leaves a log and its plan in its folder."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self._folder = folder
        self._more = more

    def run(self) -> Outcome:
        """Its outcome."""
        self._folder.mkdir(parents=True)
        (self._folder / "ingress.log").write_bytes(b"x" * BYTES)
        (self._folder / "plan.json").write_text("{}", encoding="utf-8")
        return part(Outcome, fabric={"replay_log": "ingress.log"} | self._more)


def kept(run: Path, name: str, *, is_asked: bool = False, **more: Any) -> str | None:
    """Where the log of a trial is kept."""
    folder = run / "live" / name
    outcome = Logged(folder, **more).run()
    trial: Any = None
    found = engine._Kept(trial, folder, LiveEngine(log_ingress=is_asked))._with_kept_log(outcome)
    assert found.fabric is not None
    return found.fabric.replay_log


def test_the_first_logs_are_kept_and_all_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "KEPT_BYTES_MAX", 2 * BYTES)
    assert kept(tmp_path, "a") == "live/ingress/a/ingress.log"
    assert (tmp_path / "live" / "ingress" / "a" / "plan.json").exists()
    assert kept(tmp_path, "broken", log_error="the log has gaps") is None
    assert kept(tmp_path, "b") == "live/ingress/b/ingress.log"
    assert kept(tmp_path, "c") is None, "there is no room"
    assert kept(tmp_path, "d", is_asked=True) == "live/ingress/d/ingress.log"
