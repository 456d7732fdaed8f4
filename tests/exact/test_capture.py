"""Captures of ports in exact runs: their times are those of the network, to the nanosecond."""

import subprocess
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from pcapng import Captured, read_capture
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("capture.yaml")
LIMIT_S = 200
PORTS = ["app>leaf", "leaf>app", "leaf>db", "db>leaf"]
NS_PER_BYTE = 8
DELAY_NS = 10_000
SWITCH_NS = 1_000
OVERHEAD_BYTES = 24
SHORTEST_BYTES = 60
BEGIN_NS = 1_577_836_802 * 10**9
"""2020-01-01 00:00:02 UTC: the clocks of the guests when the scenario begins."""


def run(out: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """A run with captures."""
    command = [*TAILRACE, "run", str(SCENARIO), "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.fixture(scope="module")
def captured(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, list[Captured]], dict[str, Any]]:
    """By port what was captured, and the outcome."""
    out = tmp_path_factory.mktemp("captured") / "run"
    done = run(out, "--exact", *(word for port in PORTS for word in ("--capture", port)))
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = read_trial(next(out.glob("trials/*/1.json")))
    told = outcome["exact"]["captures"]
    frames = {one["port"]: read_capture(out / one["file"]) for one in told}
    assert [(one["port"], one["frames"]) for one in told] == [
        (port, len(frames[port])) for port in PORTS
    ]
    return frames, outcome


def times(frames: Iterable[Captured], *, outbound: bool) -> dict[bytes, int]:
    """When each frame of one direction was seen; a frame is known by its bytes, which are never the
    same twice."""
    found = [(each.frame, each.at_ns) for each in frames if each.is_outbound == outbound]
    assert len(dict(found)) == len(found) > 20
    return dict(found)


def on_the_line_ns(frame: bytes) -> int:
    """How long a frame occupies its link."""
    return (max(len(frame), SHORTEST_BYTES) + OVERHEAD_BYTES) * NS_PER_BYTE


def first_come_first_served(arrivals: dict[bytes, int]) -> dict[bytes, int]:
    """When a line has sent each of these frames."""
    free_ns, sent = 0, {}
    for frame, at_ns in arrivals.items():
        free_ns = max(free_ns, at_ns) + on_the_line_ns(frame)
        sent[frame] = free_ns
    return sent


def test_every_hop_takes_what_the_links_say(
    captured: tuple[dict[str, list[Captured]], dict[str, Any]],
) -> None:
    frames, _ = captured
    for source, destination in (("app", "db"), ("db", "app")):
        sent = times(frames[f"{source}>leaf"], outbound=True)
        at_switch = times(frames[f"leaf>{source}"], outbound=False)
        forwarded = times(frames[f"leaf>{destination}"], outbound=True)
        received = times(frames[f"{destination}>leaf"], outbound=False)
        assert {frame: at - sent[frame] for frame, at in at_switch.items()} == dict.fromkeys(
            at_switch, DELAY_NS + SWITCH_NS
        )
        assert forwarded == {
            frame: at
            for frame, at in first_come_first_served(at_switch).items()
            if frame in forwarded
        }
        assert {frame: received[frame] - forwarded[frame] for frame in received} == dict.fromkeys(
            received, DELAY_NS
        )


def test_a_line_is_never_faster_than_its_rate(
    captured: tuple[dict[str, list[Captured]], dict[str, Any]],
) -> None:
    for frames in captured[0].values():
        assert [each.at_ns for each in frames] == sorted(each.at_ns for each in frames)
        assert frames[0].at_ns >= BEGIN_NS
        sent = [each for each in frames if each.is_outbound]
        gaps = [later.at_ns - earlier.at_ns for earlier, later in pairwise(sent)]
        least = [on_the_line_ns(each.frame) for each in sent[1:]]
        assert all(gap >= line for gap, line in zip(gaps, least, strict=True))
        full = [gap for gap, each in zip(gaps, sent[1:], strict=True) if len(each.frame) == 1514]
        assert not full or min(full) == (1514 + OVERHEAD_BYTES) * NS_PER_BYTE  # segments of a row


def test_captures_have_what_the_outcome_counts(
    captured: tuple[dict[str, list[Captured]], dict[str, Any]],
) -> None:
    frames, outcome = captured
    for host in outcome["hosts"]:
        assert len(times(frames[f"{host['name']}>leaf"], outbound=False)) == host["rx_frames"]
    for port in outcome["ports"]:
        sent = times(frames[f"{port['node']}>{port['towards']}"], outbound=True)
        assert (
            abs(len(sent) - sum(queue["tx_frames"] for queue in port["queues"])) <= 1
        )  # on the line at the end
    assert sum(len(times(frames[f"leaf>{host}"], outbound=False)) for host in ("app", "db")) > 20


@pytest.mark.slow
def test_a_capture_changes_nothing(
    captured: tuple[dict[str, list[Captured]], dict[str, Any]], tmp_path: Path
) -> None:
    done = run(tmp_path / "plain", "--exact")
    assert done.returncode == 0, done.stderr
    plain = read_trial(next(tmp_path.glob("plain/trials/*/1.json")))
    assert plain["digest"] == captured[1]["digest"]
    assert not (tmp_path / "plain" / "exact").exists()


@pytest.mark.slow
def test_trials_that_are_there_already_are_told_from_captured_ones(tmp_path: Path) -> None:
    assert "--capture" not in run(tmp_path / "run", "--exact", "--capture", "leaf>app").stderr
    assert "--capture" not in run(tmp_path / "run", "--exact", "--capture", "leaf > app").stderr
    done = run(tmp_path / "run", "--exact", "--capture", "leaf>db")
    assert done.returncode == 0, done.stderr
    assert "--capture: 1 trial(s) had been run without it, and are not run again" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--exact", "--capture", "leaf>web"], "has no port leaf>web"),
        (["--exact", "--capture", "leaf"], "'leaf' is not a port"),
        (["--capture", "leaf>app"], "--capture requires --exact"),
    ],
)
def test_a_port_that_cannot_be_captured_is_refused(
    tmp_path: Path, options: list[str], words: str
) -> None:
    done = run(tmp_path / "run", *options)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
