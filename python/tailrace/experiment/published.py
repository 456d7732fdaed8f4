"""Published figures, checked before a run."""

from tailrace.errors import RunRefusedError, closest
from tailrace.scenario.checks.expectations import subjects
from tailrace.scenario.experiment import SOLO
from tailrace.scenario.loading import Loaded


def check_published(loaded: Loaded) -> None:
    """Raises, before any trial, when the published figures are unreadable or name an unknown arm or
    workload."""
    from tailrace.results.directory.published import read_published

    path = loaded.published_path
    if path is None:
        return
    workloads = list(loaded.scenario.workloads)
    arms = [*loaded.arms, *(SOLO + name for name in workloads)]
    for position, band in enumerate(read_published(path)):
        for noun, name, known in (
            ("arm", band.arm, arms),
            ("arm", band.baseline, arms),
            ("workload", band.workload, subjects(loaded.scenario, band.metric)),
        ):
            if name is not None and name not in known:
                hint = closest(name, known, f"{noun}s")
                raise RunRefusedError(
                    f"{path}: figures.{position}: there is no {noun} '{name}' (hint: {hint})"
                )
