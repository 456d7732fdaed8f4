"""Latencies, series and verdicts of live trials have the simulator's shape and its precision."""

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.live.lab.fabric import FabricError
from tailrace.live.measure import settings
from tailrace.live.trial.validity import reasons
from tailrace.outcome.types import HostSettings, NetworkOutcome, Outcome
from tailrace.programs.latency import latency_outcome
from tailrace.programs.series import Bins, Moved, Row, goodput_table, transactions_table
from tailrace.scenario.live import Live
from whole import part

GOOD: dict[str, Any] = {
    "fabric": {
        "lateness_us": {"p99_9": 900.0},
        "rate_error_ppm": {"leaf>a": -4000.0},
        "frames_lost_outside": {"a": {"tx_dropped": 0, "rx_dropped": 0, "write_failed": 0}},
        "foreign_frames": 0,
    },
    "live": {"steal_share": 0.01, "idle_share": 0.05, "generator_lag_us": {"XS": 1500.0}},
}


def spoilt(section: str, **values: object) -> dict[str, Any]:
    """A good outcome with something else in one section."""
    return GOOD | {section: GOOD[section] | values}


@given(st.lists(st.integers(1, 10**13), min_size=1, max_size=50))
def test_percentiles_are_within_a_thousandth(values: list[int]) -> None:
    found = latency_outcome(values)
    assert found is not None
    middle = sorted(values)[(len(values) + 1) // 2 - 1]
    assert middle - 1 <= found.p50_ps <= middle * 1.001 + 1000
    assert found.max_ps == max(values)
    assert sum(count for _, count in found.buckets) == found.count == len(values)
    assert found.mean_ps == pytest.approx(sum(values) / len(values))


def test_no_latency_is_none() -> None:
    assert latency_outcome([]) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 9 * 10**12), st.integers(1, 10**12), st.integers(0, 10**9)),
        max_size=20,
    ),
    st.integers(2, 40),
)
def test_bytes_are_spread_and_never_lost(parts: list[tuple[int, int, int]], bins_max: int) -> None:
    moved = [Moved(start, start + span, size) for start, span, size in parts]
    bins = Bins(10**9, bins_max)
    filled = bins.fill(moved, 10**13)
    assert len(filled) <= bins_max
    assert sum(filled) == pytest.approx(sum(size for _, _, size in parts), abs=len(filled) + 1)


def test_what_came_after_the_end_does_not_count() -> None:
    part = Moved(10, 30, 400)
    assert [part.until(end) for end in (40, 15, 5)] == [part, Moved(10, 15, 100), Moved(10, 10, 0)]


def test_tables_have_the_columns_of_the_simulator() -> None:
    rows = [[Row(0, 5, 7), Row(1, 6, 8)], [Row(0, 9, 9)]]
    kind, data = transactions_table(rows, 1)["start_ps"]
    assert (kind, list(array("Q", data))) == ("u64", [5, 9])
    table = goodput_table([[Moved(0, 10**9, 80)], []], 2 * 10**9, 10**9, 100)
    assert list(array("Q", table["goodput_bytes"][1])) == [80, 0, 0, 0]
    assert list(array("I", table["workload"][1])) == [0, 0, 1, 1]


EFFECT = {
    "frames": 10_000,
    "drain_ms": 4.0,
    "mean_ms": 0.1,
    "p99_ms": 0.3,
    "drops": 300,
    "punctual_drops": 300,
    "slope": 1.0,
    "slope_drops": 2,
}


def test_a_late_load_generator_spoils_short_transactions_and_not_long_ones() -> None:
    late = spoilt("live", generator_lag_us={"L1": 2500.0})
    short = {**late, "workloads": [{"name": "L1", "latency": {"mean_ps": 90 * 10**9}}]}
    long = {**late, "workloads": [{"name": "L1", "latency": {"mean_ps": 600 * 10**9}}]}
    assert reasons(part(Outcome, **short), Live()) == [
        "the load generator of L1 was 2,500 us late on average, allowed are 2,000"
    ]
    assert reasons(part(Outcome, **long), Live()) == []


def test_what_frames_waited_in_the_kernel_is_told_and_decides_nothing() -> None:
    assert (
        reasons(part(Outcome, **spoilt("live", kernel_wait_share={"ksoftirqd/0": 0.2})), Live())
        == []
    )


def test_bounds_that_are_asked_for_hold_on_lateness_and_idle_cores() -> None:
    late = spoilt("fabric", lateness_us={"p99_9": 1001.0})
    assert reasons(part(Outcome, **late), Live()) == []
    assert reasons(part(Outcome, **late), Live.model_validate({"max_lateness": "1ms"})) == [
        "the switch was late: p99.9 is 1,001 us, allowed are 1,000"
    ]
    busy = spoilt("live", idle_share=0.01)
    assert reasons(part(Outcome, **busy), Live()) == []
    assert reasons(part(Outcome, **busy), Live.model_validate({"min_idle": "2%"})) == [
        "the cores were idle for 1.0%, required are 2.0%"
    ]


def test_a_good_trial_has_no_reason_against_it() -> None:
    assert reasons(part(Outcome, **GOOD), Live()) == []


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (
            spoilt("fabric", effect={"leaf>a": {**EFFECT, "mean_ms": 0.22}}),
            "lateness changed the mean delay at port leaf>a by 0.22 ms: 5.5% of the 4 ms in which "
            "its queue drains, allowed are 5.0%",
        ),
        (
            spoilt(
                "fabric",
                effect={"leaf>a": {**EFFECT, "p99_ms": -1.1}},
                own_lateness_us={"p99_9": 60.0},
                stalls={"count": 12, "total_us": 34_100.0, "max_us": 9_000.0},
            ),
            "lateness changed the 99th percentile of the delay at port leaf>a by -1.10 ms: 27.5% "
            "of the 4 ms in which its queue drains, allowed are 25.0% (the machine did not run it "
            "12 times, 34 ms in all; p99.9 of its own work is 60 us)",
        ),
        (
            spoilt("fabric", effect={"leaf>a": {**EFFECT, "drops": 311}}),
            "port leaf>a dropped 311 frames, a switch without lateness 300: a difference of 0.11% "
            "of its frames, allowed are 0.10%",
        ),
        (
            spoilt(
                "live",
                core_waits={"XS": {"wait_s": 1.3, "stolen_s": 0.0, "of_s": 12.0, "share": 0.108}},
            ),
            "the programs of XS waited 1.30 s for a core: 10.8% of its "
            "users' time, allowed are 10.0%",
        ),
        (
            spoilt(
                "live",
                core_waits={"XS": {"wait_s": 1.0, "stolen_s": 0.3, "of_s": 12.0, "share": 0.108}},
            ),
            "the programs of XS waited 1.00 s for a core and 0.30 s taken by the hypervisor: 10.8% "
            "of its users' time, allowed are 10.0%",
        ),
        (
            spoilt("fabric", rate_error_ppm={"leaf>a": -6000.0}),
            "port leaf>a was 0.60% off its rate, allowed are 0.50%",
        ),
        (spoilt("fabric", pool_exhausted=4), "the switch ran out of memory for frames 4 times"),
        (spoilt("fabric", foreign_frames=2), "2 frames came from outside the lab"),
        (
            spoilt("fabric", frames_lost_outside={"a": {"tx_dropped": 2, "rx_dropped": 1}}),
            "host a lost 3 frames outside of the modelled queues",
        ),
        (
            spoilt("live", steal_by_core=[None, 0.02, 0.13]),
            "the hypervisor took 13.0% of core 2, allowed are 10.0%",
        ),
        (
            spoilt("live", generator_lag_us={"XS": 2500.0}),
            "the load generator of XS was 2,500 us late on average, allowed are 2,000",
        ),
    ],
)
def test_what_the_machine_did_wrong_is_named_with_its_bound(
    outcome: dict[str, Any], reason: str
) -> None:
    assert reasons(part(Outcome, **outcome), Live()) == [reason]


def test_a_foreign_switch_may_overrun_a_host_but_not_lose_what_a_host_sends() -> None:
    lost = {"a": {"tx_dropped": 0, "rx_dropped": 7}}
    assert (
        reasons(part(Outcome, **spoilt("fabric", kind="bridge", frames_lost_outside=lost)), Live())
        == []
    )
    assert (
        reasons(part(Outcome, **spoilt("fabric", kind="tap", frames_lost_outside=lost)), Live())
        != []
    )
    lost["a"]["tx_dropped"] = 2
    [reason] = reasons(
        part(Outcome, **spoilt("fabric", kind="bridge", frames_lost_outside=lost)), Live()
    )
    assert reason == "host a lost 2 frames outside of the modelled queues"


def test_frames_in_the_network_before_a_trial_are_an_error() -> None:
    clean = {"db": part(HostSettings)}
    settings.require_clean(clean, part(NetworkOutcome, conservation={}))
    with pytest.raises(FabricError, match="2 frames are in the network before the trial"):
        settings.require_clean(clean, part(NetworkOutcome, conservation={"in_network": 2}))
