"""What requests of storage add to the outcome of a trial."""

from pathlib import Path

from trial_files import read_trial, write_trial

MS_PS = 10**9
PARTS = ("turn", "processor", "entry", "network", "r2t", "queue", "device")


def add_storage(path: Path, workload: str, arm: str = "dpp") -> None:
    """Gives every trial of an arm requests of storage of one of its workloads: half of its
    transactions read."""
    figures = {"mean": 3, "min": 1, "p50": 2, "p90": 5, "p95": 6, "p99": 8, "p99_9": 9, "max": 10}
    for file in (path / "trials" / arm).glob("*.json"):
        outcome = read_trial(file)
        for own in outcome["workloads"]:
            if own["name"] == workload:
                count = own["transactions"] // 2
                of_op = {
                    "count": count,
                    "bytes": 4096 * count,
                    "latency": {f"{key}_ps": ms * MS_PS for key, ms in figures.items()},
                    "waits_s": dict.fromkeys(PARTS, 0.5),
                }
                devices = {"count": 1, "pieces": 2 * count, "pieces_wait_s": 1.5, "busy_s": 0.5}
                own["storage_requests"] = dict.fromkeys(("read", "write", "flush"), of_op) | {
                    "devices": devices
                }
        write_trial(file, outcome)
