"""Traffic at the edge of what a scenario can state: very slow, and only at the end."""

from pathlib import Path

import pytest

import traffic
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, Fitting, fit_capture
from tailrace.fit.text import _percent
from tailrace.scenario.loading import load_scenario
from traffic import NS_PER_S, Capture, Tcp


def test_a_stream_that_is_slower_than_a_scenario_allows_has_the_least_rate(tmp_path: Path) -> None:
    """Bytes one by one, as keep-alives: 3.2 bit/s."""
    capture = Capture()
    connection = Tcp(capture, "10.0.0.3", "10.0.0.2", 50_000, 179)
    connection.open(0)
    for _ in range(9):
        connection.send(0, 1)
        connection.acknowledge(0, 100_000)
        connection.now_ns += 5 * NS_PER_S // 2
    fitting = fit_capture(capture.write(tmp_path / "slow.pcap"), FitOptions())
    text = scenario_text(fitting, "slow")
    [line] = [line for line in text.splitlines() if line.lstrip().startswith("rate: 1kbit/s")]
    assert "assumed: the least of a stream; it has 3." in line
    (tmp_path / "slow.yaml").write_text(text, encoding="utf-8")
    assert list(load_scenario(tmp_path / "slow.yaml").scenario.workloads) == list(fitting.workloads)


def late(folder: Path) -> Fitting:
    """The second workload begins with the last frames."""
    capture = Capture()
    traffic.stream(capture, 10**6, 12_345_400_000)
    traffic.datagrams(capture, 100, lambda _: 12_345_300_000, 12_345_400_000)
    return fit_capture(capture.write(folder / "late.pcap"), FitOptions())


def test_what_begins_at_the_end_of_the_capture_is_in_the_trial(tmp_path: Path) -> None:
    fitting = late(tmp_path)
    assert len(fitting.workloads) == 2
    assert fitting.left_out == ()


def test_what_begins_when_a_shorter_trial_has_ended_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.fit.fitting.FRAMES_MAX", 100)
    fitting = late(tmp_path)
    assert [one for one in fitting.left_out if one.endswith("(it begins after the end of a trial)")]
    (tmp_path / "late.yaml").write_text(scenario_text(fitting, "late"), encoding="utf-8")
    assert list(load_scenario(tmp_path / "late.yaml").scenario.workloads) == list(fitting.workloads)


def test_a_rounded_zero_has_no_sign_and_a_minus_is_one() -> None:
    assert [_percent(share) for share in (-0.0001, -0.123, 0.05)] == ["0.0 %", "−12.3 %", "+5.0 %"]
