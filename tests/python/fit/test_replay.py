"""A capture's requests, kept one by one: sizes exactly, times within the network's."""

from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest

import simulated_capture
import traffic
from tailrace.cli.capture_arguments import FitArguments
from tailrace.cli.fitting import fit_file
from tailrace.errors import RunRefusedError
from tailrace.experiment.native import make_trial, run_trial, values
from tailrace.fit import fitting as fitting_module
from tailrace.fit.document import recordings_of, scenario_text
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.fit.paths import Vantage
from tailrace.fit.simulated import simulate
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.recording import Recorded, read_recording
from traffic import Capture, Tap

SPAN_NS = 10**9
GAP_NS = 5_000_000
LINE = 10**10
HOSTS = {"defaults": {"nic": {"rx_coalesce": "0s", "rx_jitter": "0s"}}}
FRAME_NS = 1_231
"""A whole frame on the line."""
RESPONSE_NS = 28 * FRAME_NS
"""The largest response."""
WIRES = ("client>switch", "switch>client")
SIZES = [(200, 300_000, 18_000), (60, 100_000, 40)]


def exponential(draws: Random) -> int:
    return round(draws.expovariate(1 / GAP_NS))


def replayed(
    capture: Path, folder: Path, vantage: Vantage | None = None
) -> tuple[Path, list[list[Recorded]]]:
    """The scenario of a capture with one workload, and its recording."""
    fitting = fit_capture(
        capture, FitOptions(line_bits_per_s=LINE, vantage=vantage, is_replay=True)
    )
    for name, text in recordings_of(fitting, "mine").items():
        (folder / name).write_text(text)
    path = folder / "mine.yaml"
    path.write_text(scenario_text(fitting, "mine"))
    [fit] = fitting.workloads.values()
    assert fit.kind == "replay"
    return path, [list(one) for one in fit.recording]


@pytest.mark.parametrize("tap", [Tap(2_000, 100_000), Tap(100_000, 2_000), Tap(50_000, 50_000)])
def test_every_request_keeps_its_size_pause_and_server_time_wherever_it_was_captured(
    tap: Tap, tmp_path: Path
) -> None:
    capture = Capture(tap)
    traffic.users(capture, 3, SPAN_NS, exponential, SIZES)
    path, recording = replayed(capture.write(tmp_path / "known.pcap"), tmp_path)
    again = read_recording(tmp_path / "mine-tcp5432.csv").connections
    assert [list(one) for one in again] == recording
    assert len(recording) == 3
    for requests in recording:
        for at, one in enumerate(requests):
            request, service_ns, response = SIZES[at % 2]
            assert (one.request_bytes, one.server_ns, one.response_bytes) == (
                request,
                service_ns,
                response,
            )
            if at % 2:
                assert one.think_ns == 0
    draws = Random(7)
    opened_ns = [exponential(draws)]
    assert recording[0][0].start_ns - recording[0][0].think_ns <= opened_ns[0]
    arm = simulate(path)
    assert arm.workloads["tcp5432"].transactions.mean == sum(map(len, recording))


def original(folder: Path) -> dict[str, Any]:
    """Users with drawn sizes and pauses, on hosts without interrupt moderation."""
    return {
        "tailrace": 1,
        "name": "original",
        "network": {
            "link": {"rate": "10Gbit/s", "delay": "10us"},
            "topology": {"kind": "star", "hosts": ["client", "server"]},
        },
        "hosts": HOSTS,
        "workloads": {
            "shop": {
                "kind": "oltp",
                "client": "client",
                "server": "server",
                "users": 4,
                "gap": "exponential(3ms)",
                "round_trips": [
                    {"request": "100B", "response": "300B", "server_time": "exponential(500us)"},
                    {"request": "1200B", "response": "40kB", "server_time": "200us"},
                ],
            }
        },
        "experiment": {"trials": 1, "duration": "300ms"},
        "observe": {"transactions": 10_000},
    }


def rows(
    scenario: Path | dict[str, Any], changes: dict[str, Any] | None = None
) -> dict[int, list[tuple[int, int]]]:
    """Start and end in ns of what each user completed."""
    loaded = load_scenario(scenario, {"observe.transactions": 10_000, **(changes or {})})
    table = values(
        run_trial(make_trial(canonical_json(lower(loaded.scenario, "base", 1)))).tables[
            "transactions"
        ]
    )
    found: dict[int, list[tuple[int, int]]] = {}
    for user, start, latency in zip(
        table["user"], table["start_ps"], table["latency_ps"], strict=True
    ):
        found.setdefault(user, []).append((start // 1000, (start + latency) // 1000))
    return found


def test_the_capture_of_a_simulated_run_gives_its_requests_back(tmp_path: Path) -> None:
    first = simulated_capture.capture(original(tmp_path), tmp_path / "first.pcap", WIRES)
    path, recording = replayed(first, tmp_path, Vantage.CLIENT)
    sizes = [(one.request_bytes, one.response_bytes) for requests in recording for one in requests]
    assert set(sizes) == {(100, 300), (1_200, 40_000)}
    # The same once more: what the replay sends is captured and read again.
    (folder := tmp_path / "again").mkdir()
    same_network = {"network.link.delay": "10us", "hosts": HOSTS}
    second = simulated_capture.capture(path, folder / "second.pcap", WIRES, same_network)
    _, repeated = replayed(second, folder, Vantage.CLIENT)
    assert [len(one) for one in repeated] == [len(one) for one in recording]
    longer_ns = []
    for before, after in zip(recording, repeated, strict=True):
        for one, other in zip(before, after, strict=True):
            assert (one.request_bytes, one.response_bytes) == (
                other.request_bytes,
                other.response_bytes,
            )
            assert other.think_ns == pytest.approx(one.think_ns, abs=1_000)
            longer_ns.append(other.server_ns - one.server_ns)
    # Round trips are those of short frames: what longer ones, and frames of others before them,
    # take more on the links counts as the server's time.
    assert 0 < median(longer_ns) < 3 * FRAME_NS
    assert max(map(abs, longer_ns)) < 3 * RESPONSE_NS, "the responses of all other users"
    # Pauses and latencies are near those of the run that was captured; a transaction there had two
    # requests.
    asked = rows(original(tmp_path))
    off: list[float] = []
    by_start = sorted(asked.values(), key=lambda one: one[0][0])
    for transactions, requests in zip(
        by_start, sorted(rows(path, same_network).values(), key=lambda one: one[0][0]), strict=True
    ):
        pairs = list(zip(requests[::2], requests[1::2], strict=False))
        for (start, end), ((begin, _), (_, finish)) in zip(transactions, pairs, strict=False):
            off.append((finish - begin) / (end - start) - 1)
        for (earlier, later), (first_pair, next_pair) in zip(
            pairwise(transactions), pairwise(pairs), strict=False
        ):
            assert next_pair[0][0] - first_pair[1][1] == pytest.approx(
                later[0] - earlier[1], abs=3_000
            )
    assert abs(median(off)) < 0.01
    assert max(map(abs, off)) < 0.25


def test_the_command_writes_recordings_beside_the_scenario_and_overwrites_none(
    tmp_path: Path,
) -> None:
    capture = Capture()
    traffic.users(capture, 1, SPAN_NS, exponential, SIZES)
    file = capture.write(tmp_path / "known.pcap")
    out = tmp_path / "mine.yaml"
    (tmp_path / "mine-tcp5432.csv").write_text("mine")
    with pytest.raises(RunRefusedError, match=r"mine-tcp5432\.csv: this file exists"):
        fit_file(FitArguments(path=file, out=out, line="10Gbit/s", is_replay=True), json_=True)
    assert not out.exists()
    (tmp_path / "mine-tcp5432.csv").unlink()
    fit_file(FitArguments(path=file, out=out, line="10Gbit/s", is_replay=True), json_=True)
    assert "file: mine-tcp5432.csv" in out.read_text()
    assert load_scenario(out).scenario.workloads["tcp5432"].work() > 0


def test_pipelined_requests_and_connections_without_a_beginning_are_noted(tmp_path: Path) -> None:
    capture = Capture()
    connection = traffic.Tcp(capture, "10.0.0.1", "10.0.0.2", 1_000, 80)
    connection.now_ns = 1_000
    for _ in range(4):
        connection.exchange(100, 1_000_000, 5_000)
        connection.think(20_000_000)
    fitting = fit_capture(
        capture.write(tmp_path / "known.pcap"), FitOptions(line_bits_per_s=LINE, is_replay=True)
    )
    [fit] = fitting.workloads.values()
    assert any("1 of 1 connections were open before the capture" in note for note in fit.notes)
    first = fit.recording[0][0]
    assert first.think_ns == first.start_ns


def test_too_many_requests_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting_module, "REQUESTS_MAX", 10)
    capture = Capture()
    traffic.users(capture, 1, SPAN_NS, exponential, SIZES)
    with pytest.raises(RunRefusedError, match="a replay has at most 10 on"):
        fit_capture(
            capture.write(tmp_path / "known.pcap"), FitOptions(line_bits_per_s=LINE, is_replay=True)
        )
