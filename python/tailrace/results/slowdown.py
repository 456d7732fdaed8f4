"""How much longer a workload takes beside the others than alone."""

from operator import truediv
from typing import Any

from tailrace.results.metrics import metric_of_trials
from tailrace.results.run_directory import SOLO, Run
from tailrace.results.sample_summary import interval_dict, summarise_sample
from tailrace.statistics import bootstrap_interval, mean, named_stream


def summarise_slowdown(run: Run, arm: str, workload: str) -> dict[str, Any] | None:
    """Completion in an arm over the mean completion alone; None for solo arms and without a solo run.

    The interval includes the spread of the solo trials where there are enough of them; else their mean is exact.
    """
    solo = f"{SOLO}{workload}"
    if arm.startswith(SOLO) or not run.valid(solo):
        return None
    alone_s = metric_of_trials(run.valid(solo), workload, "completion_s")
    times_s = metric_of_trials(run.valid(arm), workload, "completion_s")
    if not alone_s or not times_s:
        return None
    address = f"{arm}/{workload}/slowdown"
    summary = summarise_sample([time_s / mean(alone_s) for time_s in times_s], seed=run.seed, address=address)
    luck = named_stream(run.seed, f"statistics/{address}")
    interval = bootstrap_interval([times_s, alone_s], luck, reduce=mean, combine=truediv)
    if interval is not None:
        summary["interval"] = interval_dict(interval.low, interval.high, interval.level, interval.method)
    return summary | {"solo_completion_s": mean(alone_s), "solo_trials": len(alone_s)}
