"""What pausing, fair drop, notifications and policers add to the outcome of a trial."""

from pathlib import Path
from typing import Any

from trial_files import read_trial, write_trial

CIRCLE = ["s0>s1", "s1>s2", "s2>s0"]


def add_bridging(path: Path, arm: str = "dpp") -> None:
    """Gives every trial of an arm the counters of a port that takes part in all of it."""
    for file in (path / "trials" / arm).glob("*.json"):
        outcome = read_trial(file)
        bridge(outcome)
        write_trial(file, outcome)


def bridge(outcome: dict[str, Any]) -> None:
    """The first port pauses, is paused, has a storm, an elephant trap and a congestion point; the
    switch polices."""
    end_ps = outcome["end_ps"]
    port = outcome["ports"][0]
    port["pause"] = {
        "received": [0, 0, 0, 4, 0, 0, 0, 0],
        "paused_ps": [0, 0, 0, end_ps // 4, 0, 0, 0, 0],
        "storms_detected": 1,
        "storms_ended": 1,
    }
    group = {
        "xoff_sent": 3,
        "xon_sent": 2,
        "bytes_max": 90_000,
        "headroom_max_bytes": 7000,
        "drop_frames": 0,
    }
    port["groups"] = [{"priorities": 8, "depth_bytes": 81_000, **group}]
    silences = [0, 1, 9, *[0] * 13]
    port["elephants"] = {
        "found": 12,
        "evictions": 11,
        "bytes": 1000,
        "elephant_bytes": 20,
        "silences": silences,
    }
    port["queues"][-1]["qcn"] = {"notifications": 9, "feedback_sum": 99}
    port["queues"][-1]["depth_bytes"] = 4096
    port["queues"][-1]["drops"] |= {
        "afd": {"frames": 5, "bytes": 5000},
        "watchdog": {"frames": 6, "bytes": 6000},
    }
    outcome["switches"] = [
        {
            "name": "leaf1",
            "buffer_bytes": 5_000_000,
            "buffer_max_bytes": 4_900_000,
            "early_drops": {"policed": {"frames": 70, "bytes": 70_000}},
        }
    ]
    host = outcome["hosts"][0]
    stood_still = {
        "paused_ps": [0, 0, 0, end_ps // 2, 0, 0, 0, 0],
        "storms_detected": 0,
        "storms_ended": 0,
    }
    host["interface"] = {"pause": port["pause"] | stood_still}
    outcome["workloads"][0]["connection_bytes"] = [90, 100, 110]
    outcome["workloads"][0]["request_counts"] = {
        "begun": 50,
        "answered": 45,
        "failed": 5,
        "connections": 7,
        "failed_connections": 2,
        "lost_queries": 3,
        "failed_calls": 1,
        "timed_out": 2,
    }
    outcome["deadlock"] = CIRCLE
