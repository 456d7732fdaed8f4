"""A smaller experiment of the same rates: fewer transactions, bytes and seconds."""

from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.workload import Datagrams, Flows, Oltp, Stream

SCALE_MIN = 1e-6
"""Below a millionth nothing is left of any count."""


def scaled(scenario: Scenario, factor: float) -> Scenario:
    """`scenario` with every count, stream size and time on the experiment's clock times `factor`.

    Counts stay above zero. Gaps, delays and rates are what they are.
    """
    if factor == 1:
        return scenario
    workloads = {name: _workload(workload, factor) for name, workload in scenario.workloads.items()}
    experiment = scenario.experiment
    calibrate = experiment.calibrate
    if calibrate is not None:
        calibrate = calibrate.model_copy(update={"to": _times(calibrate.to, factor)})
    update = {
        "duration": _times(experiment.duration, factor),
        "warm_up": round(experiment.warm_up * factor),
        "calibrate": calibrate,
    }
    return scenario.model_copy(update={"workloads": workloads, "experiment": experiment.model_copy(update=update)})


def workload_scales(full: Scenario, small: Scenario, factor: float) -> dict[str, float]:
    """What each workload was really scaled by: 240 x 0.05 is 12 exactly, 507 x 0.05 is 25, not 25.35.

    A workload whose number calibration chooses, or that has none, goes by the clock: it is scaled by `factor`.
    """
    calibrate = full.experiment.calibrate
    by_clock: set[str] = set()
    if calibrate is not None and calibrate.method == "transactions":
        by_clock = set(calibrate.workloads or full.workloads)
    return {
        name: work_of(small.workloads[name]) / work if (work := work_of(workload)) and name not in by_clock else factor
        for name, workload in full.workloads.items()
    }


def work_of(workload: Oltp | Stream | Flows | Datagrams) -> int:
    """Transactions, bytes, flows or datagrams that a workload has to do; 0 when it has no end."""
    match workload:
        case Oltp():
            return workload.transactions or 0
        case Stream():
            return workload.size or 0
        case Flows():
            return workload.flows or 0
        case Datagrams():
            return workload.count or 0


def _workload(workload: Oltp | Stream | Flows | Datagrams, factor: float) -> Oltp | Stream | Flows | Datagrams:
    match workload:
        case Oltp():
            warmup = int(workload.warmup_transactions * factor)
            update = {"transactions": _maybe(workload.transactions, factor), "warmup_transactions": warmup}
        case Stream():
            update = {"size": _maybe(workload.size, factor), "start": round(workload.start * factor)}
        case Flows():
            update = {"flows": _maybe(workload.flows, factor), "start": round(workload.start * factor)}
        case Datagrams():
            update = {"count": _maybe(workload.count, factor), "start": round(workload.start * factor)}
    return workload.model_copy(update=update)


def _maybe(number: int | None, factor: float) -> int | None:
    return None if number is None else _times(number, factor)


def _times(number: int, factor: float) -> int:
    return max(1, round(number * factor))
