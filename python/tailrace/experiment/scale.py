"""Scales an experiment: fewer transactions, bytes and seconds at the same rates."""

from tailrace.scenario.scenario import Scenario

SCALE_MIN = 1e-6
"""Below a millionth, every count is at its minimum."""


def scaled(scenario: Scenario, factor: float) -> Scenario:
    """`scenario` with every count, stream size and time on the experiment's clock times `factor`.

    Counts stay above zero. Gaps, delays and rates are unchanged.
    """
    if factor == 1:
        return scenario
    workloads = {name: workload.scaled(factor) for name, workload in scenario.workloads.items()}
    experiment = scenario.experiment
    calibrate = experiment.calibrate
    if calibrate is not None:
        calibrate = calibrate.model_copy(update={"to": _times(calibrate.to, factor)})
    update = {
        "duration": _times(experiment.duration, factor),
        "warm_up": round(experiment.warm_up * factor),
        "calibrate": calibrate,
    }
    return scenario.model_copy(
        update={"workloads": workloads, "experiment": experiment.model_copy(update=update)}
    )


def workload_scales(full: Scenario, small: Scenario, factor: float) -> dict[str, float]:
    """The factor by which each workload was scaled, given rounding: 240 x 0.05 is 12 exactly, 507 x
    0.05 is 25, not 25.35.

    A workload whose count is calibrated, or that has none, is scaled in time, by `factor`.
    """
    calibrate = full.experiment.calibrate
    by_clock: set[str] = set()
    if calibrate is not None and calibrate.method == "transactions":
        by_clock = set(calibrate.workloads or full.workloads)
    return {
        name: small.workloads[name].work() / work
        if (work := workload.work()) and name not in by_clock
        else factor
        for name, workload in full.workloads.items()
    }


def _times(number: int, factor: float) -> int:
    return max(1, round(number * factor))
