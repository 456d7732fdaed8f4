"""Finds a trial of a run, or says which there are instead."""

from tailrace.errors import RunRefusedError, known_arm, listed
from tailrace.results.directory.run_directory import Run, Trial


def trial_of(run: Run, arm: str | None, number: int) -> Trial:
    """Trial `number` of `arm`; without an arm, of the first one in which this trial has counters.

    Raises `RunRefusedError` when the arm does not exist or the trial has no counters.
    """
    if arm is not None:
        known_arm(arm, list(run.trials), str(run.path))
    counted = {
        name: [trial for trial in trials if trial.has_outcome]
        for name, trials in run.trials.items()
    }
    for name in run.arms if arm is None else [arm]:
        for trial in counted[name]:
            if trial.number == number:
                return trial
    where = next(iter(run.arms), "") if arm is None else arm
    raise RunRefusedError(
        f"{run.path}: {_why(run, arm, where, number)} (hint: {_instead(counted, where)})"
    )


def _why(run: Run, arm: str | None, where: str, number: int) -> str:
    of = "any arm" if arm is None else f"'{arm}'"
    found = next((trial for trial in run.trials.get(where, []) if trial.number == number), None)
    if found is None:
        return f"there is no trial {number} of {of}"
    reason = f": {found.status}, {found.reason}" if found.reason else ""
    return f"trial {number} of {of} has no counters{reason}"


def _instead(counted: dict[str, list[Trial]], where: str) -> str:
    """A hint: the trials of this arm with counters, or else the arms with such trials."""
    if numbers := [str(trial.number) for trial in counted.get(where, [])]:
        return f"trials with counters of '{where}': {listed(numbers)}"
    arms = [name for name, trials in counted.items() if trials]
    return (
        f"arms with counters: {listed(arms)}" if arms else "no trial of this run has counters yet"
    )
