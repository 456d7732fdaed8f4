"""How much longer a workload takes beside the others than alone."""

from collections.abc import Sequence

from msgspec.structs import asdict

from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.definitions import metric_of_trials
from tailrace.results.metrics.sample_summary import sample_with
from tailrace.results.summary.workload import Slowdown
from tailrace.scenario.experiment import SOLO
from tailrace.statistics import Interval, mean, mean_log_interval


def summarise_slowdown(run: Run, arm: str, workload: str) -> Slowdown | None:
    """Completion in an arm over the mean completion alone; None for solo arms and without a solo
    run.

    The interval includes the spread of the solo trials where there are enough of them; otherwise
    their mean is taken as exact.
    """
    solo = f"{SOLO}{workload}"
    if arm.startswith(SOLO) or not run.valid(solo):
        return None
    alone_s = metric_of_trials(run.valid(solo), [workload], "completion_s")
    times_s = metric_of_trials(run.valid(arm), [workload], "completion_s")
    if not alone_s or not times_s:
        return None
    alone = mean(alone_s)
    sample = sample_with(
        [time_s / alone for time_s in times_s], slowdown_interval(times_s, alone_s)
    )
    return Slowdown(**asdict(sample), solo_completion_s=alone, solo_trials=len(alone_s))


def slowdown_interval(times_s: Sequence[float], alone_s: Sequence[float]) -> Interval | None:
    """Interval of the mean of the times over the mean of those alone."""
    alone = mean(alone_s)
    both = mean_log_interval(times_s, below=[alone_s])
    return both or (mean_log_interval([time_s / alone for time_s in times_s]) if alone else None)
