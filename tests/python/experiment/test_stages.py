"""No stage of a long command is silent: reading, plans, building, gathering, the report."""

import io
import json
import os
import pty
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import sound
from tailrace.experiment import points, reporter, stages
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.pool import Running
from tailrace.experiment.reporter import Ndjson, Plain, Silent, Terminal, left_words, phase_of
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.stages import working
from tailrace.scenario.loading import load_document
from tailrace.scenario.text.document import parse_document

KEY = TrialKey("base", 1)


class At:
    """A trial that is so far."""

    def __init__(self, share: float) -> None:
        self.share = share

    def progress(self) -> float:
        return self.share


def running(*shares: float) -> list[Running]:
    """Trials that are so far, since a minute."""
    return [
        Running(TrialKey("base", n), At(share), time.monotonic() - 60)
        for n, share in enumerate(shares, 1)
    ]


@pytest.mark.parametrize(
    ("shares", "phase"),
    [
        ((0.0,), "building"),
        ((0.0, 0.0), "building"),
        ((1.0,), "gathering results"),
        ((0.0, 1.0), ""),
        ((0.5,), ""),
    ],
)
def test_what_trials_do_before_and_after_their_simulation_is_named(
    shares: tuple[float, ...], phase: str
) -> None:
    assert phase_of(running(*shares)) == phase


def test_the_remaining_time_is_said_with_the_phase_where_both_are_known() -> None:
    estimate = TimeEstimate([KEY, TrialKey("base", 2)], jobs=1)
    assert left_words(estimate, running(0.0)) == "building"
    assert left_words(estimate, running(0.5)) == "about 3 min remaining"
    estimate.finished(KEY, 10)
    assert left_words(estimate, running(1.0)).startswith("gathering results, about ")
    assert phase_of([]) == ""


def test_a_stage_that_lasts_is_told_in_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "QUIET_S", 0.01)
    monkeypatch.setattr(stages, "PLAIN_LINE_EVERY_S", 0.01)
    out = Waiting("reading the scenario: 0 s so far\n" * 2)
    with working(Plain(out), "reading the scenario"):
        assert out.seen.wait(20)
    count = out.getvalue().count("\n")
    time.sleep(0.05)
    assert out.getvalue().count("\n") == count, "it is silent afterwards"
    assert "\x1b" not in out.getvalue()
    assert "\r" not in out.getvalue()


def test_a_short_stage_is_not_mentioned() -> None:
    out = io.StringIO()
    with working(Plain(out), "making plans"):
        pass
    assert out.getvalue() == ""


class Waiting(io.StringIO):
    """Tells when it holds a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.seen = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        if self.text in self.getvalue():
            self.seen.set()
        return count


def test_programs_are_told_the_phase_too() -> None:
    out = io.StringIO()
    lines = Ndjson(out)
    lines.begin("trials", TimeEstimate([KEY], jobs=1))
    lines.tick(running(0.0))
    assert json.loads(out.getvalue().splitlines()[-1])["phase"] == "building"


def test_a_terminal_shows_the_stage_at_once_and_leaves_no_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    main, side = pty.openpty()
    with os.fdopen(side, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        with working(reporter.reporter_for(json_lines=False), "writing the report"):
            assert isinstance(reporter.reporter_for(json_lines=False), Terminal)
            time.sleep(0.2)
        terminal.flush()
        shown = os.read(main, 65536).decode()
    os.close(main)
    assert "writing the report" in shown
    assert "\x1b[2K" in shown, "the line is erased"


@pytest.mark.usefixtures("fake", "workplace")
def test_making_the_plans_of_many_points_is_a_stage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[str] = []

    @contextmanager
    def working(_reporter: object, what: str) -> Iterator[None]:
        told.append(what)
        yield

    monkeypatch.setattr(points, "working", working)
    loaded = load_document(parse_document(json.dumps(sound()), "lab.yaml"))
    settings = [({"workloads.orders.users": users}, f"users-{users}") for users in (1, 2)]
    points.Points(loaded.document, list(loaded.arms), tmp_path, Silent()).run_ahead(settings, 1)
    assert told == ["making plans"]
    assert len(list(tmp_path.glob("points/*/trials/*/1.json"))) == 2 * len(loaded.arms)
