"""Replay: feeds the ingress log of a live trial to the same data plane again, which must produce
the same events."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgspec

from tailrace.errors import reason_of
from tailrace.files import parse_json
from tailrace.live.lab.fabric import FabricError, ask
from tailrace.plan.types import Plan
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.run_directory import Run, Trial

REPLAY_LIMIT_S = 300.0
"""A log of a minute is replayed in seconds."""
INGRESS = "ingress"
"""Folder of the logs, below the live folder of a run."""


@dataclass(frozen=True)
class Replayed:
    """One trial and its replay."""

    arm: str
    trial: int
    live_digest: str
    replayed_digest: str

    @property
    def is_same(self) -> bool:
        """Whether every event was the same."""
        return self.live_digest == self.replayed_digest

    @property
    def sentence(self) -> str:
        """For people."""
        verdict = "same digest" if self.is_same else f"DIFFERENT: replayed {self.replayed_digest}"
        return f"{self.arm}/{self.trial}: {self.live_digest}: {verdict}"


class ReplayLog:
    """The ingress log of a trial, with its plan beside it. The outcome names it, and may be another
    person's."""

    def __init__(self, run: Run, name: str) -> None:
        self._folder = run.files.folder
        self._names = (f"{name.rpartition('/')[0]}/plan.json", name)

    @property
    def is_there(self) -> bool:
        """Whether both files exist; raises `IrregularFileError` for one that is no regular file."""
        return all(self._folder.has(name) for name in self._names)

    def plan(self) -> dict[str, Any]:
        """The plan; raises `RunDirectoryError`."""
        path = self._folder.path / self._names[0]
        try:
            plan = parse_json(self._folder.read(self._names[0]))
            msgspec.convert(plan, Plan)
        except (OSError, ValueError) as error:
            raise RunDirectoryError(
                f"{path}: cannot be read: {reason_of(error)} (hint: run it again)"
            ) from error
        return cast(dict[str, Any], plan)

    def ask(self, *words: str) -> dict[str, Any]:
        """The fabric's result of a replay, which receives the open files; raises `FabricError`."""
        with ExitStack() as opened:
            plan, log = (
                opened.enter_context(self._folder.opened(name)).fileno() for name in self._names
            )
            files = ("--plan", f"/dev/fd/{plan}", "--log", f"/dev/fd/{log}")
            return ask("replay", *files, *words, limit_s=REPLAY_LIMIT_S, descriptors=(plan, log))


def replay(path: Path) -> list[Replayed]:
    """Replays every trial that has a log; raises `FabricError` where none has."""
    run = Run.read(path)
    logged = [
        (trial, log)
        for trials in run.trials.values()
        for trial in trials
        if (log := _log_of(run, trial))
    ]
    if not logged:
        raise FabricError(
            f"{path}: no trial has an ingress log (hint: `tailrace run --live --log-ingress`)"
        )
    return [_replay(trial, log) for trial, log in logged]


def _log_of(run: Run, trial: Trial) -> ReplayLog | None:
    name = (
        trial.outcome_or_none.fabric.replay_log
        if trial.outcome_or_none and trial.outcome_or_none.fabric
        else None
    )
    return ReplayLog(run, name) if name else None


def _replay(trial: Trial, log: ReplayLog) -> Replayed:
    digest = str(log.ask().get("digest"))
    return Replayed(trial.arm, trial.number, str(trial.outcome.digest), digest)
