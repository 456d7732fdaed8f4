"""Requests that failed stand beside the percentiles, in which they are not."""

from parts import part
from summaries import summary_of
from tailrace.results.summary.base import Sample
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import RequestMeans, WorkloadSummary
from tailrace.results.text.failures import failures_text


def summary(failed_percent: float | None) -> Summary:
    counts = part(RequestMeans, failed=3.0, lost_queries=12.0, timed_out=4.0)
    dns = part(
        WorkloadSummary, failed_percent=part(Sample, mean=failed_percent), request_counts=counts
    )
    bulk = part(WorkloadSummary)
    return summary_of({"slow": {"dns": dns, "bulk": bulk}}, ["dns", "bulk"])


def test_failed_requests_are_told_by_workload_and_arm() -> None:
    text = failures_text(summary(25.0))
    assert [line.split() for line in text.splitlines()[1:2]] == [
        ["dns", "slow", "25.00", "3.000", "12.00", "4.000"]
    ]
    assert "no latency" in text


def test_where_none_failed_nothing_is_told() -> None:
    assert failures_text(summary(0.0)) == failures_text(summary(None)) == ""
