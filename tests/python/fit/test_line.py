"""The speed of links, from captures in which both directions are busy."""

from pathlib import Path

import pytest

import traffic
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.fit.network import line_of
from tailrace.fit.workload import Origin
from tailrace.profile.capture import ProfileOptions, profile_capture
from traffic import Capture, Tap, Tcp

TEN_GBIT_S = 10**10
BURST_BYTES = 4_000_000


def both_ways(folder: Path) -> Path:
    """Two connections that each send at the speed of a line of 10 Gbit/s, in opposite directions,
    at the same time."""
    capture = Capture(Tap(2_000, 2_000))
    for client, server in (("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")):
        connection = Tcp(capture, client, server, 40_000, 5_001)
        connection.open(0)
        connection.send(0, BURST_BYTES)
        connection.now_ns += 20_000_000
        connection.send(0, 1_000)
    return capture.write(folder / "both.pcap")


def test_both_directions_of_a_link_have_its_whole_speed(tmp_path: Path) -> None:
    fitting = fit_capture(both_ways(tmp_path), FitOptions(delay_ps=0))
    assert (fitting.line.value, fitting.line.origin) == (TEN_GBIT_S, Origin.ESTIMATED)
    profile = profile_capture(tmp_path / "both.pcap", ProfileOptions())
    [short, long] = profile.data["busiest_hosts"]
    assert (short["width_ns"], long["width_ns"]) == (100_000, 1_000_000)
    assert long["line_bytes"] * 8 * 1000 == pytest.approx(TEN_GBIT_S, rel=0.01)
    together = max(one["max_bps"] for one in profile.data["rates"]["all"]["intervals"])
    assert together > 1.9 * TEN_GBIT_S


@pytest.mark.parametrize(
    ("line", "estimated"), [(0.1e9, 10**8), (1.02e9, 10**9), (1.1e9, 2_500_000_000)]
)
def test_times_may_be_a_few_percent_off(line: float, estimated: int, tmp_path: Path) -> None:
    capture = Capture()
    connection = Tcp(capture, "10.0.0.1", "10.0.0.2", 40_000, 5_001)
    connection.open(0)
    for _ in range(1_500):
        connection.send(0, traffic.MSS_BYTES)
        connection.now_ns += round((traffic.MSS_BYTES + 78) * 8 * 1e9 / line)
    profile = profile_capture(capture.write(tmp_path / "one.pcap"), ProfileOptions())
    assert line_of(profile, None).value == estimated
