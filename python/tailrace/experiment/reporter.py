"""Reports the progress of a run to people or programs. All of it goes to stderr: stdout is for
results."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from tailrace.errors import escaped
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.judge import Verdict
from tailrace.experiment.pool import Running
from tailrace.experiment.schedule import TrialKey

PLAIN_LINE_EVERY_S = 10.0
"""Seconds between lines of progress without a terminal, besides one line for every trial."""
JSON_LINE_EVERY_S = 1.0
"""Seconds between lines of progress for programs."""


class Reporter(Protocol):
    """Receives the progress of an experiment."""

    def say(self, text: str) -> None: ...
    def begin(self, what: str, estimate: TimeEstimate) -> None: ...
    def tick(self, running: Sequence[Running]) -> None: ...
    def finished(
        self, key: TrialKey, verdict: Verdict, digest: str | None, wall_s: float
    ) -> None: ...
    def end(self) -> None: ...


class Silent:
    """Reports nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def begin(self, what: str, estimate: TimeEstimate) -> None:
        """Nothing."""

    def tick(self, running: Sequence[Running]) -> None:
        """Nothing."""

    def finished(self, key: TrialKey, verdict: Verdict, digest: str | None, wall_s: float) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


class Plain:
    """Lines of text, for logs and pipes."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._estimate: TimeEstimate | None = None
        self._what = ""
        self._last_s = time.monotonic()

    def say(self, text: str) -> None:
        """Writes a message on a line."""
        print(escaped(text), file=self._out, flush=True)

    def begin(self, what: str, estimate: TimeEstimate) -> None:
        """A stage of `estimate.total` trials begins."""
        self._what, self._estimate = what, estimate
        self.say(f"{what}: {estimate.total} trial{'s' if estimate.total != 1 else ''}")

    def tick(self, running: Sequence[Running]) -> None:
        """Writes a line with the remaining time at intervals."""
        now = time.monotonic()
        if self._estimate is not None and now - self._last_s >= PLAIN_LINE_EVERY_S:
            self._last_s = now
            share, left = self._estimate.fraction(running), left_words(self._estimate, running)
            self.say(f"{self._what}: {share:.0%} done, {left}")

    def finished(self, key: TrialKey, verdict: Verdict, digest: str | None, wall_s: float) -> None:
        """Writes a line for each trial."""
        self._last_s = time.monotonic()
        done = f"{self._estimate.done}/{self._estimate.total} " if self._estimate else ""
        self.say(f"{done}{key} took {wall_s:.1f} s: {verdict.text}")

    def end(self) -> None:
        """The stage has ended."""
        self._estimate = None


class Ndjson:
    """One JSON object per line, for programs."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._estimate: TimeEstimate | None = None
        self._what = ""
        self._last_s = 0.0

    def _write(self, event: str, **fields: object) -> None:
        print(json.dumps({"event": event, **fields}), file=self._out, flush=True)

    def say(self, text: str) -> None:
        """A message."""
        self._write("message", text=text)

    def begin(self, what: str, estimate: TimeEstimate) -> None:
        """A stage of `estimate.total` trials begins."""
        self._what, self._estimate = what, estimate
        self._write("begin", stage=what, trials=estimate.total)

    def tick(self, running: Sequence[Running]) -> None:
        """Progress of the stage."""
        now = time.monotonic()
        if self._estimate is not None and now - self._last_s >= JSON_LINE_EVERY_S:
            self._last_s = now
            share, left_s = self._estimate.fraction(running), self._estimate.remaining_s(running)
            left_s = None if left_s is None else round(left_s, 1)
            at = {"phase": phase} if (phase := phase_of(running)) else {}
            self._write(
                "progress", stage=self._what, fraction=round(share, 4), remaining_s=left_s, **at
            )

    def finished(self, key: TrialKey, verdict: Verdict, digest: str | None, wall_s: float) -> None:
        """A trial has ended."""
        ending = {"status": verdict.status, "reason": verdict.reason, "digest": digest}
        self._write("trial", arm=key.arm, trial=key.number, wall_s=round(wall_s, 3), **ending)

    def end(self) -> None:
        """The stage has ended."""
        self._write("end", stage=self._what)
        self._estimate = None


class Terminal:
    """A progress bar with the remaining time."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True)
        self._progress: Any = None
        self._task: Any = None
        self._estimate: TimeEstimate | None = None

    def say(self, text: str) -> None:
        """Writes a message above the bar."""
        self._console.print(escaped(text), markup=False, highlight=False)

    def begin(self, what: str, estimate: TimeEstimate) -> None:
        """Shows a bar for a stage."""
        from rich.progress import BarColumn, Progress, TextColumn

        self._estimate = estimate
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[left]}"),
        )
        self._progress = Progress(*columns, console=self._console, transient=True)
        self._task = self._progress.add_task(what, total=1.0, left="")
        self._progress.start()

    def tick(self, running: Sequence[Running]) -> None:
        """Moves the bar."""
        if self._progress is not None and self._estimate is not None:
            share, left = self._estimate.fraction(running), left_words(self._estimate, running)
            state = f"{self._estimate.done}/{self._estimate.total} trials, {left}"
            self._progress.update(self._task, completed=share, left=state)

    @contextmanager
    def status(self, what: str) -> Iterator[None]:
        """Shows the current activity and its duration until the block ends."""
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as progress:
            progress.add_task(what, total=None)
            yield

    def finished(self, key: TrialKey, verdict: Verdict, digest: str | None, wall_s: float) -> None:
        """Writes a line for a trial that is not ok; other trials only move the bar."""
        if verdict.status != "ok":
            self.say(f"{key} {verdict.text}")

    def end(self) -> None:
        """Removes the bar."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = self._estimate = None


def phase_of(running: Sequence[Running]) -> str:
    """The common phase of all running trials before or after their simulation; empty where one is
    simulating."""
    shares = {one.trial.progress() for one in running}
    return {frozenset({0.0}): "building", frozenset({1.0}): "gathering results"}.get(
        frozenset(shares), ""
    )


def left_words(estimate: TimeEstimate, running: Sequence[Running]) -> str:
    """The remaining time, or the phase of the trials where the time is unknown."""
    phase = phase_of(running)
    remaining_s = estimate.remaining_s(running)
    return (
        phase
        if phase and remaining_s is None
        else ", ".join(filter(None, [phase, to_go(remaining_s)]))
    )


def to_go(remaining_s: float | None) -> str:
    """The remaining time, rounded to its precision."""
    if remaining_s is None:
        return "remaining time unknown"
    if remaining_s < 90:
        return f"about {max(1, round(remaining_s))} s remaining"
    if remaining_s < 5400:
        return f"about {round(remaining_s / 60)} min remaining"
    return f"about {remaining_s / 3600:.1f} h remaining"


def reporter_for(*, json_lines: bool, quiet: bool = False) -> Reporter:
    """The reporter for stderr: a bar on a terminal, lines elsewhere, JSON when requested."""
    if quiet or sys.stderr is None:  # closed by the shell (2>&-)
        return Silent()
    if json_lines:
        return Ndjson()
    return Terminal() if sys.stderr.isatty() else Plain()
