"""What a hypervisor adds to the outcome of a trial."""

from pathlib import Path
from typing import Any

from trial_files import read_trial, write_trial
from whole import whole

S = 10**12


def own() -> dict[str, Any]:
    """A core that polls, one that does everything else, and a neighbour on it."""
    poller = {"user_ps": 2 * S, "system_ps": 0, "softirq_ps": 0, "steal_ps": 0, "idle_ps": 0}
    other = {
        "user_ps": S,
        "system_ps": S // 4,
        "softirq_ps": S // 4,
        "steal_ps": 0,
        "idle_ps": S // 2,
    }
    tasks = [
        {"name": "db cores", "kind": "virtual-cores", "user_ps": S // 2, "system_ps": S // 8},
        {"name": "polling", "kind": "polling", "user_ps": 2 * S, "system_ps": 0},
        {"name": "busy", "kind": "neighbour", "user_ps": S // 2, "system_ps": S // 8},
    ]
    parts = {
        "name": "leaf",
        "cores": [poller, other],
        "voluntary_switches": 300,
        "involuntary_switches": 100,
        "exits": 200,
        "polled_for_frames_ps": S // 8,
        "backlog_overruns": 3,
        "tasks": tasks,
        "ports": [{"receive_overruns": 4, "send_overruns": 5}],
    }
    return whole(parts, "Hypervisor")


def add_hypervisor(path: Path, arms: tuple[str, ...] = ("fifo", "dpp")) -> None:
    """Gives every trial of these arms a hypervisor."""
    for arm in arms:
        for file in (path / "trials" / arm).glob("*.json"):
            outcome = read_trial(file)
            outcome["hypervisors"] = [own()]
            write_trial(file, outcome)
