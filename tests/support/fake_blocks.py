"""What blocks add to the outcome of a trial."""

from pathlib import Path

from trial_files import read_trial, write_trial

MS_PS = 10**9


def add_blocks(path: Path, workload: str, arm: str = "dpp") -> None:
    """Gives every trial of an arm blocks of one of its workloads: two for each transaction."""
    for file in (path / "trials" / arm).glob("*.json"):
        outcome = read_trial(file)
        for own in outcome["workloads"]:
            if own["name"] == workload:
                own["block_counts"] = {
                    "received_blocks": 2 * own["transactions"],
                    "lost_blocks": 12,
                    "failed_blocks": 4,
                    "messages": own["transactions"],
                }
                figures = {"mean": 3, "p50": 2, "p90": 5, "p95": 6, "p99": 8, "p99_9": 9, "max": 10}
                own["block_latency"] = {f"{key}_ps": ms * MS_PS for key, ms in figures.items()}
        write_trial(file, outcome)
