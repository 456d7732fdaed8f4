"""Captures of few events: each is simulated at its time, and rates are over the time in which it
was active."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import traffic
from parts import part
from tailrace.cli.capture_arguments import FitArguments
from tailrace.cli.fitting import fit_file
from tailrace.fit.compared import fit_compared
from tailrace.fit.comparing import Beside, beside
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, Fitting
from tailrace.fit.kinds.closed import _turns
from tailrace.fit.kinds.latencies import latencies_seen
from tailrace.fit.text import fit_text
from tailrace.fit.workload import Active, Fit
from tailrace.results.summary.base import Sample
from tailrace.results.summary.summary import ArmSummary
from tailrace.results.summary.workload import WorkloadSummary
from traffic import Capture, Tcp

MS = 1_000_000
NS_PER_S = 10**9
LINE = 10**10


def ask(capture: Capture, at_ns: int, client_port: int, server_port: int) -> None:
    """One request of 100 bytes and its response of 1000, on a connection of its own."""
    connection = Tcp(capture, "10.0.0.1", "10.0.0.2", client_port, server_port)
    connection.open(at_ns)
    connection.send(0, 100)
    connection.now_ns += 2 * MS
    connection.send(1, 1000)
    connection.acknowledge(0, 1000)


def fitted(capture: Capture, folder: Path) -> tuple[Fitting, list[Beside]]:
    return fit_compared(capture.write(folder / "few.pcap"), FitOptions(line_bits_per_s=LINE))


def value_of(fit: Fit, key: str) -> object:
    return next((one.value for one in fit.settings if one.key == key), None)


def rows(compared: list[Beside], workload: str) -> dict[str, Beside]:
    return {one.statistic: one for one in compared if one.workload == workload}


def test_three_requests_are_three_and_the_first_is_at_its_time(tmp_path: Path) -> None:
    capture = Capture()
    for number in range(3):
        ask(capture, 5 * NS_PER_S * number, 40_000 + number, 5432)
    fitting, compared = fitted(capture, tmp_path)
    fit = fitting.workloads["tcp5432"]
    assert (value_of(fit, "requests"), value_of(fit, "first_at_start")) == (3, True)
    rate = rows(compared, "tcp5432")["rate_per_s"]
    assert rate.captured == pytest.approx(0.3, rel=0.001)
    assert rate.simulated == pytest.approx(rate.captured, rel=0.01)
    assert fit.active.span_ns == pytest.approx(10 * NS_PER_S, rel=0.001)
    assert "  ends: duration" in scenario_text(fitting)
    assert fitting.duration_ns >= fitting.span_ns


def test_a_service_with_one_request_is_simulated_once(tmp_path: Path) -> None:
    capture = Capture()
    for number in range(5):
        ask(capture, 2 * NS_PER_S * number, 40_000 + number, 5432)
    ask(capture, 3 * NS_PER_S, 50_000, 6379)
    fitting, compared = fitted(capture, tmp_path)
    assert value_of(fitting.workloads["tcp6379"], "start") == "3s"
    seen = rows(compared, "tcp6379")
    assert (seen["count"].captured, seen["count"].simulated) == (1, 1)
    assert "rate_per_s" not in seen, "one event has no rate"
    assert not any(one.is_far for one in compared), compared
    assert rows(compared, "tcp5432")["latency_p50_ns"].off == pytest.approx(0, abs=0.05)


def test_a_short_transfer_has_its_bytes_and_does_not_end_the_trial(tmp_path: Path) -> None:
    capture = Capture()
    traffic.users(capture, 1, 10 * NS_PER_S, lambda _: 50 * MS, [(100, 2 * MS, 500)])
    connection = Tcp(capture, "10.0.0.1", "10.0.0.2", 50_000, 5432)
    connection.open(3 * NS_PER_S)
    connection.send(1, 22)
    connection.acknowledge(0, 22)
    _, compared = fitted(capture, tmp_path)
    transfer = next(one for one in compared if one.statistic == "payload_bytes")
    assert transfer.captured == 22
    assert transfer.simulated == pytest.approx(22)
    assert all(abs(one.off or 0) < 0.1 for one in compared), compared


def test_users_who_come_and_go_pause_between_their_connections(tmp_path: Path) -> None:
    """Ten connections of five requests, 6 s apart: without the idle time there would be thousands
    of requests."""
    capture = Capture()
    for number in range(10):
        connection = Tcp(capture, "10.0.0.1", "10.0.0.2", 40_000 + number, 5432)
        connection.open(6 * NS_PER_S * number)
        for _ in range(5):
            connection.send(0, 100)
            connection.now_ns += 2 * MS
            connection.send(1, 500)
            connection.now_ns += MS
    fitting, compared = fitted(capture, tmp_path)
    fit = fitting.workloads["tcp5432"]
    assert value_of(fit, "users") == 1
    rate = rows(compared, "tcp5432")["rate_per_s"]
    assert rate.captured == pytest.approx(10 / 54, rel=0.01), (
        "a connection is a transaction of five statements"
    )
    assert rate.simulated == pytest.approx(rate.captured, rel=0.5)


def test_users_who_have_ended_do_not_go_on(tmp_path: Path) -> None:
    capture = Capture()
    traffic.stream(capture, 10**6, 10 * NS_PER_S)
    traffic.users(capture, 2, NS_PER_S, lambda _: 10 * MS, [(100, 2 * MS, 500)])
    fitting, compared = fitted(capture, tmp_path)
    name = next(name for name, fit in fitting.workloads.items() if fit.kind != "stream")
    fit = fitting.workloads[name]
    assert fit.active.span_ns < 1.1 * NS_PER_S
    assert value_of(fit, "transactions") is not None
    rate = rows(compared, name)["rate_per_s"]
    assert rate.simulated == pytest.approx(rate.captured, rel=0.1)


def test_a_statistic_that_is_far_is_a_warning_at_the_top_and_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = Capture()
    for number in range(3):
        ask(capture, 5 * NS_PER_S * number, 40_000 + number, 5432)
    path = capture.write(tmp_path / "few.pcap")
    fitting, compared = fit_compared(path, FitOptions(line_bits_per_s=LINE))
    assert not fit_text(fitting, compared).startswith("warning")
    far = [Beside("tcp5432", "rate_per_s", 0.3, 0.1, 10 * NS_PER_S), *compared]
    text = fit_text(fitting, far)
    assert text.startswith("warning: tcp5432: rate differs by −66.7 % from the capture (limit 50%)")
    monkeypatch.setattr("tailrace.cli.fitting.fit_compared", lambda *_: (fitting, far))
    assert fit_file(FitArguments(path=path, out=tmp_path / "a.yaml"), json_=False) == 0
    assert (
        fit_file(FitArguments(path=path, out=tmp_path / "b.yaml"), json_=False, is_strict=True) == 1
    )


def test_the_99th_percentile_needs_100_values() -> None:
    assert set(latencies_seen([1] * 99)) == {"latency_p50_ns"}
    assert set(latencies_seen([1] * 100)) == {"latency_p50_ns", "latency_p99_ns"}


def test_a_connection_is_the_next_one_of_the_user_who_has_ended_last() -> None:
    def connection(begin_s: int, end_s: int) -> Any:
        exchange = SimpleNamespace(
            request_start_ns=begin_s * NS_PER_S, response_end_ns=end_s * NS_PER_S
        )
        return SimpleNamespace(exchanges=[exchange])

    early, late, following = connection(0, 1), connection(0, 3), connection(4, 5)
    group: Any = SimpleNamespace(connections=[following, early, late])
    assert _turns(group) == [[early], [late, following]]


def test_datagrams_that_end_have_their_rate_over_the_time_of_the_capture() -> None:
    fit = Fit(
        "datagrams",
        (),
        seen={"rate_per_s": 100.0},
        active=Active(NS_PER_S, NS_PER_S),
        is_finite=True,
    )
    own = part(WorkloadSummary, transactions=part(Sample, mean=100.0))
    [found] = beside({"feed": fit}, part(ArmSummary, workloads={"feed": own}), 10 * NS_PER_S)
    assert found.simulated == pytest.approx(100.0)
    [endless] = beside(
        {"feed": replace(fit, is_finite=False)},
        part(ArmSummary, workloads={"feed": own}),
        11 * NS_PER_S,
    )
    assert endless.simulated == pytest.approx(10.0), "of one without end, to the end of the trial"
