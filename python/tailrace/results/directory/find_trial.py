"""Finds a trial of a run, or says which there are instead."""

from tailrace.errors import RunRefusedError, known_arm
from tailrace.results.directory.run_directory import Run, Trial


def trial_of(run: Run, arm: str | None, number: int) -> Trial:
    """Trial `number` of `arm`; without an arm, of the first one in which this trial has counters.

    Raises `RunRefusedError` when the arm does not exist or the trial has no counters.
    """
    if arm is not None:
        known_arm(arm, list(run.trials), str(run.path))
    counted = {name: [trial for trial in trials if trial.outcome] for name, trials in run.trials.items()}
    for name in run.arms if arm is None else [arm]:
        for trial in counted[name]:
            if trial.number == number:
                return trial
    where = next(iter(run.arms), "") if arm is None else arm
    raise RunRefusedError(f"{run.path}: {_why(run, arm, where, number)} (hint: {_instead(counted, where)})")


def _why(run: Run, arm: str | None, where: str, number: int) -> str:
    of = "any arm" if arm is None else f"'{arm}'"
    is_there = any(trial.number == number for trial in run.trials.get(where, []))
    return f"trial {number} of {of} has no counters" if is_there else f"there is no trial {number} of {of}"


def _instead(counted: dict[str, list[Trial]], where: str) -> str:
    """A hint: the trials of this arm with counters, or else the arms with such trials."""
    if numbers := ", ".join(str(trial.number) for trial in counted.get(where, [])):
        return f"trials with counters of '{where}': {numbers}"
    arms = [name for name, trials in counted.items() if trials]
    return f"arms with counters: {', '.join(arms)}" if arms else "no trial of this run has counters yet"
