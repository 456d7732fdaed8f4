"""Replay: feeds the ingress log of a live trial to the same data plane again, which must produce the same events."""

from dataclasses import dataclass
from pathlib import Path

from tailrace.live.lab.fabric import FabricError, ask
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


def replay(path: Path) -> list[Replayed]:
    """Replays every trial that has a log; raises `FabricError` where none has."""
    run = Run.read(path)
    logged = [(trial, log) for trials in run.trials.values() for trial in trials if (log := _log_of(run, trial))]
    if not logged:
        raise FabricError(f"{path}: no trial has an ingress log (hint: `tailrace run --live --log-ingress`)")
    return [_replay(trial, log) for trial, log in logged]


def _log_of(run: Run, trial: Trial) -> Path | None:
    name = trial.told.fabric.replay_log if trial.told and trial.told.fabric else None
    return run.path / name if name else None


def _replay(trial: Trial, log: Path) -> Replayed:
    answer = ask("replay", "--plan", str(log.parent / "plan.json"), "--log", str(log), limit_s=REPLAY_LIMIT_S)
    return Replayed(trial.arm, trial.number, str(trial.outcome.digest), str(answer.get("digest")))
