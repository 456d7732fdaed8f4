"""Small-sample statistics: intervals, exact tests and effect sizes.

Pure Python on purpose: a lab compares a handful of trials, for which exact enumeration is feasible, and importing a
scientific stack would take longer than all the arithmetic. The tests compare the results with SciPy's.
"""

from tailrace.statistics.fairness import jain_index
from tailrace.statistics.histogram import Estimate, Histogram
from tailrace.statistics.holm import holm_adjusted
from tailrace.statistics.interval import LEVEL, LEVEL_TEXT, Interval, mean_interval, median_interval
from tailrace.statistics.permutation import TestResult, permutation_test, sign_flip_test
from tailrace.statistics.rank import Shift, cliffs_delta, hodges_lehmann, mann_whitney_test
from tailrace.statistics.sample import mean, median, quantile
from tailrace.statistics.scalability import Law, fit_amdahl, fit_usl
from tailrace.statistics.stream import named_stream
from tailrace.statistics.verdict import (
    PAIRS_MIN,
    Effect,
    Verdict,
    adjusted,
    change_interval,
    compare_samples,
    told_verdict,
    with_bounds,
)

__all__ = [
    "LEVEL",
    "LEVEL_TEXT",
    "PAIRS_MIN",
    "Effect",
    "Estimate",
    "Histogram",
    "Interval",
    "Law",
    "Shift",
    "TestResult",
    "Verdict",
    "adjusted",
    "change_interval",
    "cliffs_delta",
    "compare_samples",
    "fit_amdahl",
    "fit_usl",
    "hodges_lehmann",
    "holm_adjusted",
    "jain_index",
    "mann_whitney_test",
    "mean",
    "mean_interval",
    "median",
    "median_interval",
    "named_stream",
    "permutation_test",
    "quantile",
    "sign_flip_test",
    "told_verdict",
    "with_bounds",
]
