"""Recordings: what a file may hold, what a plan has of it, and that a simulated trial keeps its
sizes and times."""

import json
from pathlib import Path
from typing import Any

import pytest

from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.experiment.native import Ran, dropped_by, explain_trial, make_trial, run_trial, values
from tailrace.live.refuse import refuse
from tailrace.results.causes.causes import Causes
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.division import Divisor
from tailrace.scenario.workloads.recording import (
    HEADER,
    REQUESTS_MAX,
    Recorded,
    recording_text,
)
from tailrace.scenario.workloads.replay import Replay

FIRST = [
    Recorded(5_000_000, 1_000_000, 200, 300_000, 18_000),
    Recorded(9_000_000, 2_000_000, 60, 0, 40),
]
SECOND = [Recorded(0, 0, 1, 100_000, 100_000), Recorded(400_000, 250_000, 3_000, 10_000, 1)]
PS_PER_NS = 1000


def scenario(folder: Path, text: str, **changes: Any) -> Path:
    """A scenario file beside a recording with this text."""
    (folder / "recorded.csv").write_text(text)
    lines = {"kind": "replay", "client": "a", "server": "b", "file": "recorded.csv"} | changes
    data = {
        "tailrace": 1,
        "name": "s",
        "network": {"topology": {"kind": "star", "hosts": ["a", "b"]}},
        "workloads": {"recorded": lines},
        "experiment": {"trials": 1, "duration": "100ms"},
        "observe": {"transactions": 100},
    }
    path = folder / "s.yaml"
    path.write_text(json.dumps(data, indent=1))
    return path


def body(path: Path) -> dict[str, Any]:
    plan = lower(load_scenario(path).scenario, "base", 1)
    found: dict[str, Any] = plan["workloads"][0]["body"]["replay"]
    return found


def ran(path: Path) -> Ran:
    return run_trial(make_trial(canonical_json(lower(load_scenario(path).scenario, "base", 1))))


def rows(path: Path) -> dict[int, list[tuple[int, int]]]:
    """Start and end of each request in ps, by connection."""
    table = values(ran(path).tables["transactions"])
    found: dict[int, list[tuple[int, int]]] = {}
    for user, start, latency in zip(
        table["user"], table["start_ps"], table["latency_ps"], strict=True
    ):
        found.setdefault(user, []).append((start, start + latency))
    return found


def problem(folder: Path, text: str, **changes: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        load_scenario(scenario(folder, text, **changes))
    return str(error.value)


def test_a_plan_has_the_sizes_and_times_of_a_recording(tmp_path: Path) -> None:
    found = body(scenario(tmp_path, recording_text([FIRST, SECOND])))
    assert found["pace"] == "think"
    assert found["connections"][0] == {
        "connect_ps": 4_000_000_000,
        "begin_ps": [5_000_000_000, 2_000_000_000],
        "request_bytes": [200, 60],
        "server_ps": [300_000_000, 0],
        "response_bytes": [18_000, 40],
    }
    timed = body(scenario(tmp_path, recording_text([FIRST]), pace="time"))
    assert timed["connections"][0]["begin_ps"] == [5_000_000_000, 9_000_000_000]
    assert Replay.work_in(found) == 4


def test_a_simulated_trial_keeps_pauses_and_sizes_exactly(tmp_path: Path) -> None:
    path = scenario(tmp_path, recording_text([FIRST, SECOND]))
    done = rows(path)
    assert done[0][0][0] == FIRST[0].start_ns * PS_PER_NS
    for user, requests in ((0, FIRST), (1, SECOND)):
        assert len(done[user]) == len(requests)
        assert done[user][1][0] - done[user][0][1] == requests[1].think_ns * PS_PER_NS
        for (start, end), request in zip(done[user], requests, strict=True):
            assert end - start > request.server_ns * PS_PER_NS
    [of] = ran(path).outcome.workloads
    assert of.goodput_bytes == sum(one.response_bytes for one in FIRST + SECOND)
    assert of.completion_ps == max(end for user in done.values() for _, end in user)


def test_latencies_are_explained_as_those_of_other_requests(tmp_path: Path) -> None:
    path = scenario(tmp_path, recording_text([FIRST, SECOND]))
    plan = lower(load_scenario(path).scenario, "base", 1)
    explained = explain_trial(make_trial(canonical_json(plan)))
    assert isinstance(explained, Ran)
    assert explained.outcome.digest == ran(path).outcome.digest
    causes = Causes(
        {name: values(columns) for name, columns in explained.tables.items()}, plan, dropped_by()
    )
    found = causes.by_workload["recorded"]
    assert all(sum(one.parts.values()) == one.latency_ps for one in found)
    served = sorted(one.parts.get("server_work", 0) for one in found)
    assert served == sorted(one.server_ns * PS_PER_NS for one in FIRST + SECOND)


def test_timed_requests_begin_at_their_times_and_a_late_one_counts_from_its_own(
    tmp_path: Path,
) -> None:
    slow = [
        Recorded(1_000_000, 1_000_000, 100, 5_000_000, 100),
        Recorded(2_000_000, 0, 100, 0, 100),
    ]
    [done] = rows(scenario(tmp_path, recording_text([slow]), pace="time")).values()
    assert [start for start, _ in done] == [one.start_ns * PS_PER_NS for one in slow]
    assert done[1][1] - done[1][0] > 4_000_000 * PS_PER_NS


def test_requests_of_connections_may_mix_in_a_file(tmp_path: Path) -> None:
    lines = recording_text([FIRST, SECOND]).splitlines()
    mixed = "\n".join([lines[0], lines[3], lines[1], lines[4], lines[2]])
    assert body(scenario(tmp_path, mixed)) == body(
        scenario(tmp_path, recording_text([FIRST, SECOND]))
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "recorded.csv:1: this is not the header of a recording"),
        ("a,b\n", "recorded.csv:1: this is not the header of a recording"),
        (f"{HEADER}\n", "has no requests"),
        (f"{HEADER}\n0,1,1,1,1\n", "recorded.csv:2: 5 values in '0,1,1,1,1', not 6"),
        (f"{HEADER}\n0,1,1,1,1,1\n0,2,1,0,1,1\n", "recorded.csv:3: `request_bytes` is '0'"),
        (f"{HEADER}\n0,1,1,1,-1,1\n", "recorded.csv:2: `server_ns` is '-1'"),
        (f"{HEADER}\n0,1,1,1,1e3,1\n", "recorded.csv:2: `server_ns` is '1e3'"),
        (
            f"{HEADER}\n0,99999999999999999,1,1,1,1\n",
            "recorded.csv:2: `start_ns` is '99999999999999999'",
        ),
        (
            f"{HEADER}\n0,5,1,1,1,1\n0,4,1,1,1,1\n",
            "recorded.csv:3: `start_ns` is below that of the request before",
        ),
        (f"{HEADER}\n7,5,6,1,1,1\n", "recorded.csv:2: connection 7 would open before the start"),
        (
            f"{HEADER}\n" + "0,1,1,1,1,1\n" * (REQUESTS_MAX + 1),
            f"more than {REQUESTS_MAX} requests",
        ),
        (f"{HEADER}\n0,200000000,0,1,1,1\n", "its first request begins 0.2 s after the start"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    said = problem(tmp_path, text)
    assert message in said
    assert "s.yaml:" in said
    assert "workloads.recorded.file" in said


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "other.csv cannot be read: No such file" in problem(tmp_path, "", file="other.csv")
    assert "is not the name of a file" in problem(tmp_path, "", file=3)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\n")
    assert "binary.csv is not text" in problem(tmp_path, "", file="binary.csv")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = scenario(tmp_path, recording_text([FIRST]))
    before = body(path)
    (tmp_path / "recorded.csv").write_text(recording_text([SECOND]))
    assert body(path) != before


def test_a_trial_that_ends_before_the_last_request_is_warned_about(tmp_path: Path) -> None:
    late = [Recorded(0, 0, 1, 0, 1), Recorded(300_000_000, 300_000_000, 1, 0, 1)]
    [warning] = load_scenario(scenario(tmp_path, recording_text([late]))).warnings
    assert "at least 0.3 s at its recorded pace" in str(warning)


def test_work_is_scaled_by_its_first_requests_and_never_divided(tmp_path: Path) -> None:
    replay = load_scenario(
        scenario(tmp_path, recording_text([[FIRST[0]] * 8, SECOND]))
    ).scenario.workloads["recorded"]
    assert isinstance(replay, Replay)
    assert (replay.work(), replay.scaled(0.5).work()) == (10, 5)
    with pytest.raises(RunRefusedError, match="recorded requests, which cannot be divided"):
        replay.divided("recorded", {}, Divisor(2, 1.0))


def test_a_live_replay_has_fewer_connections(tmp_path: Path) -> None:
    loaded = load_scenario(scenario(tmp_path, recording_text([FIRST] * 5_000)))
    refuse(loaded, loaded.arms)
    loaded = load_scenario(scenario(tmp_path, recording_text([FIRST] * 5_001)))
    with pytest.raises(ScenarioError, match="5001 connections, and a live replay has at most 5000"):
        refuse(loaded, loaded.arms)
