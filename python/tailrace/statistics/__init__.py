"""Small-sample statistics: percentiles of all trials together, intervals, ratios and exact tests.

Pure Python on purpose: a lab compares a handful of trials, for which exact enumeration is feasible,
and importing a scientific stack would take longer than all the arithmetic. The tests compare the
results with SciPy's.
"""

from tailrace.statistics.change import (
    Change,
    joint_scores,
    mean_change,
    mean_latency_change,
    percentile_change,
)
from tailrace.statistics.fairness import jain_index
from tailrace.statistics.histogram import Estimate, Histogram
from tailrace.statistics.holm import holm_adjusted
from tailrace.statistics.interval import (
    LEVEL,
    LEVEL_TEXT,
    Interval,
    mean_interval,
    mean_log_interval,
    median_interval,
)
from tailrace.statistics.latencies import Latencies
from tailrace.statistics.percentile import (
    TrialsNeeded,
    mean_latency_interval,
    mean_latency_low,
    percentile_interval,
    percentile_low,
)
from tailrace.statistics.permutation import TestResult, permutation_test, sign_flip_test
from tailrace.statistics.sample import mean, median, quantile
from tailrace.statistics.scalability import Law, fit_amdahl, fit_usl
from tailrace.statistics.stream import named_stream
from tailrace.statistics.verdict import (
    STUDENT,
    Effect,
    Verdict,
    adjusted,
    bounded_verdict,
    logs_or_values,
    trials_to_decide,
    with_test,
)

__all__ = [
    "LEVEL",
    "LEVEL_TEXT",
    "STUDENT",
    "Change",
    "Effect",
    "Estimate",
    "Histogram",
    "Interval",
    "Latencies",
    "Law",
    "TestResult",
    "TrialsNeeded",
    "Verdict",
    "adjusted",
    "bounded_verdict",
    "fit_amdahl",
    "fit_usl",
    "holm_adjusted",
    "jain_index",
    "joint_scores",
    "logs_or_values",
    "mean",
    "mean_change",
    "mean_interval",
    "mean_latency_change",
    "mean_latency_interval",
    "mean_latency_low",
    "mean_log_interval",
    "median",
    "median_interval",
    "named_stream",
    "percentile_change",
    "percentile_interval",
    "percentile_low",
    "permutation_test",
    "quantile",
    "sign_flip_test",
    "trials_to_decide",
    "with_test",
]
