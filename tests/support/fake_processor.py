"""What a processor of a host adds to the outcome of a trial."""

from pathlib import Path
from typing import Any

from trial_files import read_trial, write_trial
from whole import whole

S = 10**12


def core(user: int, idle: int, softirq: int = 0) -> dict[str, int]:
    """Times of one core."""
    return {"user_ps": user, "system_ps": 0, "softirq_ps": softirq, "steal_ps": 0, "idle_ps": idle}


def processor(workload: str = "orders", **changes: Any) -> dict[str, Any]:
    """Two cores in two seconds: one works for a workload, the other in soft interrupts, each half
    of the time."""
    switches = {"voluntary_switches": 300, "involuntary_switches": 100}
    parts = {
        "cores": [core(S, S), core(0, S, S)],
        **switches,
        "migrations": 10,
        "interrupts": 1000,
        "ksoftirqd_wakeups": 2,
        "datagram_drops": 0,
        "runnable_area_ps": str(3 * S),
        "runnable_max": 5,
        "groups": [{"name": "g", "periods": 20, "throttled": 10, "throttled_ps": S // 2}],
        "workloads": [{"name": workload, "user_ps": S, "system_ps": 0, **switches}],
    }
    return whole(parts | changes, "Processor")


def add_processor(path: Path, workload: str, arm: str = "dpp") -> None:
    """Gives the first host of every trial of an arm a processor."""
    for file in (path / "trials" / arm).glob("*.json"):
        outcome = read_trial(file)
        outcome["hosts"][0]["processor"] = processor(workload)
        write_trial(file, outcome)
