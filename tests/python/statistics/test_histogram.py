"""Latencies with waits that the end of a trial cut off: against worked examples, scipy, and what
was not observed."""

import random
from collections import Counter
from typing import Any

import pytest
import scipy.stats

from tailrace.outcome.types import Workload
from tailrace.statistics import Histogram
from whole import part

ORACLE: Any = scipy.stats
MS = 10**9


def workload(ended_ms: list[float], cut_off_ms: list[float]) -> Workload:
    """The outcome of a workload whose edges are its values."""

    def buckets(values: list[float]) -> list[list[int]]:
        return [
            [edge, count] for edge, count in sorted(Counter(round(v * MS) for v in values).items())
        ]

    ended = [round(v * MS) for v in ended_ms]
    latency = {
        "count": len(ended),
        "mean_ps": sum(ended) / max(1, len(ended)),
        "min_ps": min(ended, default=0),
        "max_ps": max(ended, default=0),
        "buckets": buckets(ended_ms),
    }
    longest = round(max(cut_off_ms, default=0) * MS)
    cut_off = {"count": len(cut_off_ms), "longest_ps": longest, "buckets": buckets(cut_off_ms)}
    return part(Workload, latency=latency if ended else None, cut_off=cut_off)


def histogram(ended_ms: list[float], cut_off_ms: list[float]) -> Histogram:
    found = Histogram.from_workloads([workload(ended_ms, cut_off_ms)])
    assert found is not None
    return found


def test_the_worked_example_of_kaplan_and_meier() -> None:
    # Kaplan and Meier 1958, section 2: deaths at 0.8, 3.1, 5.4, 9.2 months, losses at 1.0, 2.7,
    # 7.0, 12.1.
    found = histogram([0.8, 3.1, 5.4, 9.2], [1.0, 2.7, 7.0, 12.1])
    assert [1 - share for share in found.shares] == pytest.approx([7 / 8, 7 / 10, 21 / 40, 21 / 80])
    assert found.percentile_ms(50).ms == pytest.approx(9.2)
    beyond = found.percentile_ms(90)
    assert beyond.ms == pytest.approx(12.1)
    assert beyond.is_bound


def test_shares_are_those_of_scipy() -> None:
    drawn = random.Random(4)
    true = [drawn.expovariate(1.0) for _ in range(200)]
    limits = [drawn.expovariate(0.5) for _ in range(200)]
    ended = [round(t, 2) + 0.01 for t, limit in zip(true, limits, strict=True) if t <= limit]
    cut = [round(limit, 2) + 0.01 for t, limit in zip(true, limits, strict=True) if t > limit]
    theirs = ORACLE.ecdf(ORACLE.CensoredData(uncensored=ended, right=cut)).cdf
    ours = histogram(ended, cut)
    at = dict(
        zip((round(float(q) * MS) for q in theirs.quantiles), theirs.probabilities, strict=True)
    )
    assert ours.shares == pytest.approx([at[edge] for edge in ours.edges_ps])


def test_who_was_cut_off_when_another_ended_had_run_for_so_long() -> None:
    assert histogram([2.0], [2.0]).shares == [0.5]


def test_without_cuts_nothing_changes() -> None:
    values = [float(value) for value in range(1, 1001)]
    with_none, plain = (
        histogram(values, []),
        Histogram.from_outcomes([workload(values, []).latency]),
    )
    assert with_none == plain
    assert [with_none.percentile_ms(p).ms for p in (50, 99, 99.9)] == [500.0, 990.0, 999.0]
    assert with_none.mean_ms().ms == 500.5
    assert not with_none.max_ms().is_bound


def test_percentiles_with_and_without_cuts_agree_on_where_a_rank_is() -> None:
    values = [float(value) for value in range(1, 1001)]
    late = histogram(values, [10_000.0])
    assert late.percentile_ms(50).ms == 501.0  # of 1001
    assert late.max_ms().is_bound
    assert late.mean_ms().is_bound


def test_where_everything_was_cut_off_all_figures_are_bounds() -> None:
    found = histogram([], [3.0, 5.0])
    for figure in (found.percentile_ms(1), found.mean_ms(), found.max_ms()):
        assert figure.is_bound
    assert found.percentile_ms(50).ms == 5.0
    assert found.mean_ms().ms == 5.0
    assert found.cdf() == []


def test_users_whose_last_transaction_is_cut_off_do_not_look_fast() -> None:
    # Server time uniform to 1.9 s, trials of 1 s: the median is 950 ms, and those that ended say
    # half of that.
    drawn = random.Random(9)
    ended, cut = [], []
    for _ in range(5_000):
        left = 1000.0
        while True:
            took = round(drawn.uniform(0, 1900.0), 1) + 0.1
            if took > left:
                cut.append(round(left, 1))
                break
            ended.append(took)
            left -= took
    naive = sorted(ended)[len(ended) // 2]
    assert naive < 500
    found = histogram(ended, [wait for wait in cut if wait > 0])
    assert found.percentile_ms(50).ms == pytest.approx(950, rel=0.03)
    assert found.percentile_ms(90) == found.percentile_ms(99)
    assert found.percentile_ms(90).is_bound


def test_the_mean_is_the_area_above_the_distribution() -> None:
    assert histogram([1.0, 2.0, 3.0], [0.5]).mean_ms().ms == pytest.approx(2.0)
    bound = histogram([1.0, 3.0], [4.0, 4.0]).mean_ms()
    assert bound.ms == pytest.approx((1 + 3 + 4 + 4) / 4)
    assert bound.is_bound


def test_the_last_that_ended_does_not_stand_for_all_that_were_cut_off() -> None:
    # Twice what a server serves arrives until 1 s: who comes at t waits t, and from 0.5 s on nobody
    # is answered.
    ended = [float(t) for t in range(1, 501)]
    cut = [1000.0 - t for t in range(501, 1000)]
    found = histogram(ended, cut)
    assert found.percentile_ms(50).ms == pytest.approx(375, rel=0.01)
    assert not found.percentile_ms(50).is_bound
    assert found.percentile_ms(99.9).ms == found.max_ms().ms == 500.0
    assert all(
        figure.is_bound for figure in (found.percentile_ms(99.9), found.max_ms(), found.mean_ms())
    )


def test_a_percentile_is_a_bound_where_less_than_a_tenth_was_observed() -> None:
    # Of 100 that would last 2, so many are cut off at 1.
    assert not histogram([2.0] * 10, [1.0] * 90).percentile_ms(99).is_bound
    assert histogram([2.0] * 9, [1.0] * 91).percentile_ms(99).is_bound
    # What ended before has not been cut off: five of six were observed.
    assert not histogram([1.0] * 94 + [2.0] * 5, [1.5]).max_ms().is_bound
