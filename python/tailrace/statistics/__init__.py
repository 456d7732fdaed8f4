"""Small-sample statistics: intervals, exact tests, effect sizes and the words that go with them.

Pure Python on purpose: a lab compares a handful of trials, for which exact enumeration is both feasible and right,
and importing a scientific stack would cost more time than all the arithmetic. The tests check it against one.
"""

from tailrace.statistics.bootstrap import Interval, bootstrap_interval
from tailrace.statistics.fairness import jain_index
from tailrace.statistics.histogram import Histogram
from tailrace.statistics.permutation import TestResult, permutation_test, sign_flip_test
from tailrace.statistics.rank import Shift, cliffs_delta, hodges_lehmann, mann_whitney_test
from tailrace.statistics.sample import mean, median, quantile
from tailrace.statistics.stream import named_stream
from tailrace.statistics.verdict import Effect, Verdict, compare_samples

__all__ = [
    "Effect",
    "Histogram",
    "Interval",
    "Shift",
    "TestResult",
    "Verdict",
    "bootstrap_interval",
    "cliffs_delta",
    "compare_samples",
    "hodges_lehmann",
    "jain_index",
    "mann_whitney_test",
    "mean",
    "median",
    "named_stream",
    "permutation_test",
    "quantile",
    "sign_flip_test",
]
