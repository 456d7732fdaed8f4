"""Captures of known traffic give it back within 10 %, and what is written can be checked and
run."""

from pathlib import Path
from random import Random

import pytest

import traffic
from tailrace.fit.comparing import beside
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, Fitting, fit_capture
from tailrace.fit.paths import Vantage
from tailrace.fit.simulated import simulate
from tailrace.fit.workload import Fit
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.units import RATE, SIZE, TIME, parse
from traffic import Capture, Tap

pytestmark = pytest.mark.smoke

SPAN_NS = 2 * 10**9
GAP_NS = 5_000_000
TEN_GBIT_S = 10**10
PS_PER_NS = 1000
OFF_MAX = 0.1


def exponential(draws: Random) -> int:
    return round(draws.expovariate(1 / GAP_NS))


def fit_of(capture: Capture, folder: Path, vantage: Vantage | None = None) -> Fitting:
    path = capture.write(folder / "known.pcap")
    return fit_capture(path, FitOptions(line_bits_per_s=TEN_GBIT_S, vantage=vantage))


def value_of(fit: Fit, key: str) -> object:
    return next(one.value for one in fit.settings if one.key == key)


def mean_ns(fit: Fit, key: str) -> float:
    return parse_distribution(value_of(fit, key), TIME).mean / PS_PER_NS


def mean_bytes(fit: Fit, key: str) -> float:
    return parse_distribution(value_of(fit, key), SIZE).mean


def only(fitting: Fitting) -> Fit:
    [fit] = fitting.workloads.values()
    return fit


def assert_run_alike(fitting: Fitting, folder: Path) -> None:
    """The scenario runs, and its rates are those of the capture."""
    path = folder / "fitted.yaml"
    path.write_text(scenario_text(fitting))
    rows = list(beside(fitting.workloads, simulate(path), fitting.duration_ns))
    assert rows
    for row in rows:
        if not row.statistic.startswith("latency"):
            assert row.off == pytest.approx(0, abs=OFF_MAX), row


@pytest.mark.parametrize("number", [1, 8])
@pytest.mark.parametrize("tap", [Tap(2_000, 100_000), Tap(100_000, 2_000), Tap(50_000, 50_000)])
def test_users_come_back_wherever_the_capture_was_taken(
    number: int, tap: Tap, tmp_path: Path
) -> None:
    capture = Capture(tap)
    traffic.users(capture, number, SPAN_NS, exponential, [(200, 300_000, 18_000)])
    fitting = fit_of(capture, tmp_path)
    fit = only(fitting)
    assert (fit.kind, value_of(fit, "users")) == ("oltp", number)
    trips = value_of(fit, "round_trips")
    assert isinstance(trips, list)
    assert len(trips) == 1
    trip = trips[0]
    assert (trip["request"], trip["response"]) == ("200B", "18kB")
    assert parse(trip["server_time"], TIME) / PS_PER_NS == pytest.approx(300_000, rel=OFF_MAX)
    assert mean_ns(fit, "gap") == pytest.approx(GAP_NS, rel=OFF_MAX)
    assert str(value_of(fit, "gap")).startswith("exponential(")
    assert_run_alike(fitting, tmp_path)


def test_statements_of_a_transaction_are_told_from_the_pauses_between_transactions(
    tmp_path: Path,
) -> None:
    capture = Capture()
    traffic.users(
        capture, 2, SPAN_NS, exponential, [(200, 300_000, 18_000)] * 3 + [(60, 100_000, 40)]
    )
    fit = only(fit_of(capture, tmp_path))
    assert value_of(fit, "round_trips") == [
        {"request": "200B", "response": "18kB", "server_time": "300us", "repeat": 3},
        {"request": "60B", "response": "40B", "server_time": "100us"},
    ]
    assert mean_ns(fit, "gap") == pytest.approx(GAP_NS, rel=OFF_MAX)


def test_requests_of_different_sizes_have_distributions(tmp_path: Path) -> None:
    capture = Capture()
    for response in (1_000, 50_000):
        traffic.users(capture, 4, SPAN_NS, exponential, [(200, 300_000, response)])
        capture.client_port_first += 100
    fitting = fit_of(capture, tmp_path)
    fit = only(fitting)
    assert (fit.kind, value_of(fit, "users")) == ("requests", 8)
    assert mean_bytes(fit, "response") == pytest.approx(25_500, rel=OFF_MAX)
    assert mean_ns(fit, "gap") == pytest.approx(GAP_NS, rel=OFF_MAX)
    assert_run_alike(fitting, tmp_path)


def test_a_stream_has_its_rate_and_its_sender(tmp_path: Path) -> None:
    capture = Capture()
    traffic.stream(capture, 200_000_000, SPAN_NS // 2)
    fitting = fit_of(capture, tmp_path)
    fit = only(fitting)
    assert (fit.kind, value_of(fit, "connections")) == ("stream", 1)
    assert (value_of(fit, "source"), value_of(fit, "destination")) == ("client", "server")
    assert parse(value_of(fit, "rate"), RATE) == pytest.approx(200_000_000, rel=OFF_MAX)
    assert_run_alike(fitting, tmp_path)


def test_flows_have_their_sizes_and_arrivals(tmp_path: Path) -> None:
    capture = Capture()
    sizes = [1_000, 20_000, 100_000, 500_000]
    traffic.flows(capture, 2_000_000, sizes, SPAN_NS)
    fitting = fit_of(capture, tmp_path)
    fit = only(fitting)
    assert fit.kind == "flows"
    assert mean_bytes(fit, "sizes") == pytest.approx(sum(sizes) / len(sizes), rel=OFF_MAX)
    assert mean_ns(fit, "interarrival") == pytest.approx(2_000_000, rel=OFF_MAX)
    assert_run_alike(fitting, tmp_path)


def test_datagrams_have_their_sizes_and_gaps(tmp_path: Path) -> None:
    capture = Capture()
    traffic.datagrams(capture, 500, exponential, SPAN_NS)
    fitting = fit_of(capture, tmp_path)
    fit = only(fitting)
    assert (fit.kind, value_of(fit, "sizes")) == ("datagrams", "500B")
    assert mean_ns(fit, "interarrival") == pytest.approx(GAP_NS, rel=OFF_MAX)
    assert str(value_of(fit, "interarrival")).startswith("exponential(")
    assert_run_alike(fitting, tmp_path)


def test_answered_datagrams_are_requests(tmp_path: Path) -> None:
    capture = Capture()
    traffic.datagrams(capture, 60, exponential, SPAN_NS, port=53, answer=(180, 200_000))
    fitting = fit_of(capture, tmp_path)
    fit = only(fitting)
    assert (fit.kind, value_of(fit, "protocol")) == ("requests", "udp")
    assert (value_of(fit, "request"), value_of(fit, "response")) == ("60B", "180B")
    assert mean_ns(fit, "arrivals") == pytest.approx(GAP_NS, rel=OFF_MAX)
    assert_run_alike(fitting, tmp_path)


def test_the_delay_of_links_is_what_hosts_leave_of_a_round_trip(tmp_path: Path) -> None:
    capture = Capture(Tap(2_000, 398_000))
    traffic.users(capture, 1, SPAN_NS // 4, exponential, [(200, 0, 200)])
    delay = fit_of(capture, tmp_path).timing.delay
    assert delay.value / PS_PER_NS == pytest.approx(100_000 - 20_000 / 4, rel=0.02)


def test_traffic_of_several_kinds_has_a_workload_each(tmp_path: Path) -> None:
    capture = Capture()
    traffic.users(capture, 8, SPAN_NS, exponential, [(200, 300_000, 18_000)])
    traffic.stream(capture, 200_000_000, SPAN_NS)
    traffic.flows(capture, 2_000_000, [1_000, 100_000], SPAN_NS)
    traffic.datagrams(capture, 500, exponential, SPAN_NS)
    fitting = fit_of(capture, tmp_path)
    assert {name: fit.kind for name, fit in fitting.workloads.items()} == {
        "tcp5432": "oltp",
        "tcp5001": "stream",
        "tcp9000": "flows",
        "udp4000": "datagrams",
    }
    assert sorted(fitting.hosts.listed) == ["client1", "client2", "client3", "client4", "server"]
    assert_run_alike(fitting, tmp_path)
