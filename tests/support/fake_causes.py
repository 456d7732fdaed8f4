"""Records of explained trials beside the trials of a fake run."""

from pathlib import Path

from report_page import edit_trials
from tailrace.results import Run
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.record import write_record

MS = 10**9


def transaction(latency_ps: int, wait_ps: int, *, part: str = "server_work") -> Transaction:
    """It waits in a queue behind `backup`; the rest of its latency is this part."""
    parts = {"switch_queue": wait_ps, part: latency_ps - wait_ps}
    kept = {name: time for name, time in parts.items() if time}
    return Transaction(
        0, 0, latency_ps, kept, 0, 0, 0, {"leaf1>client": wait_ps}, {"backup <b>": wait_ps}
    )


def add_causes(path: Path, workload: str, *, arms: int | None = None) -> list[str]:
    """Explains the first trial of the first arms: 1000 transactions, slower in each arm; returns
    the arms."""
    edit_trials(path, lambda outcome: outcome.update(digest="aa"))
    run = Run.read(path)
    chosen = run.arms[:arms]
    for position, arm in enumerate(chosen, start=1):
        steps = range(1, 1001)
        of = [
            transaction(number * position * MS, number * MS // 2, part="pause_of_a_class")
            for number in steps
        ]
        write_record(run.with_outcome(arm)[0], {workload: of}, {})
    return chosen
