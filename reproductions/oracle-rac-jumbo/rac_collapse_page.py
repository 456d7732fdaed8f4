"""The part of live.md about the collapse of reassembly: runs of collapse.yaml by each engine, and
rac_collapse.py.

Usage: .venv/bin/python reproductions/oracle-rac-jumbo/rac_collapse_page.py RUN ...
Reads run directories (simulated, exact, live) into collapse.json; rac_page.py then writes the page.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rac_collapse import LATER_FRAGMENTS, LOSS, OUT, expected_loss, judged
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.directory.tables import read_table

RUNS = Path(__file__).resolve().parent / "collapse.json"
BLOCK_BYTES, INTERVAL_S = 8192, 0.0005
"""Of collapse.yaml."""
PS_PER_S = 10**12
ORDER = ("simulated", "exact", "live")


def read(paths: Sequence[Path]) -> dict[str, Any]:
    """Each engine's arms."""
    runs = [Run.read(path) for path in paths]
    return {
        run.manifest.engine: {arm: _figures(run, run.valid(arm)) for arm in run.arms}
        for run in runs
    }


def _figures(run: Run, trials: Sequence[Trial]) -> dict[str, Any]:
    """Of the first trial: blocks in each second that were sent by the clock of the scenario and
    delivered."""
    trial = trials[0]
    [workload] = trial.outcome.workloads
    seconds = int(trial.outcome.end_ps // PS_PER_S)
    per_second = round(1 / INTERVAL_S)
    delivered = _delivered(run, trial, seconds)
    found = judged([per_second] * seconds, delivered)
    sent = trial.outcome.end_ps / PS_PER_S / INTERVAL_S
    return found | {
        "block_loss": 1 - workload.goodput_bytes / BLOCK_BYTES / sent,
        "delivered": delivered,
    }


def _delivered(run: Run, trial: Trial, seconds: int) -> list[int]:
    found = [0.0] * seconds
    for row in read_table(run, "workload_series").where(arm=trial.arm, trial=trial.number).rows():
        second = int(row["start_s"])
        if second < seconds:
            found[second] += row["goodput_bytes"] / BLOCK_BYTES
    return [round(blocks) for blocks in found]


def section() -> str:
    """For the page."""
    script = json.loads(OUT.read_text(encoding="utf-8"))
    runs = json.loads(RUNS.read_text(encoding="utf-8"))
    rows = [HEAD.format(loss=LOSS, later=LATER_FRAGMENTS, expected=expected_loss())]
    for engine in ORDER:
        rows += [
            _row(f"collapse.yaml, {engine}", arm, own) for arm, own in runs.get(engine, {}).items()
        ]
    rows += [_row("iptables, sockperf", arm, own) for arm, own in script["arms"].items()]
    return "\n".join([*rows, LAST])


def _row(what: str, arm: str, own: dict[str, Any]) -> str:
    cells = [
        what,
        WORDS[arm],
        f"{own['block_loss']:.1%}",
        f"{own['silence_s']} s",
        str(len(own["delivered"])),
    ]
    return "| " + " | ".join(cells) + " |"


WORDS = {"defaults": "30 s, 4 MiB", "short": "1 s, 64 MB"}

HEAD = """## The collapse of reassembly

2000 blocks of 8 KB a second over UDP, six fragments each, of which {loss:.0%} of the {later} later ones are lost: {expected:.1%} of the blocks cannot be whole. With
Linux's defaults the incomplete ones fill 4 MiB within seconds and wait 30 s; meanwhile the kernel refuses what begins a new block. The same
scenario (`collapse.yaml`) by three engines, and once more with iptables instead of the lab's own line (`rac_collapse.py`, by the kernels' counters).

| how | `ipfrag_time`, `ipfrag_high_thresh` | blocks lost | longest time without any | length, s |
|---|---|---|---|---|"""  # noqa: E501  lines of a page

LAST = """
How much is lost in all depends on how long one looks: the kernel is silent until the oldest incomplete block is 30 s old, delivers
again while they leave one after the other, and is full again.
"""  # noqa: E501  lines of a page


if __name__ == "__main__":
    RUNS.write_text(
        json.dumps(read(list(map(Path, sys.argv[1:]))), indent=1, sort_keys=True) + "\n",
        encoding="utf-8",
    )
