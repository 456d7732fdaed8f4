"""Receive offload of exact runs: without it a kernel acknowledges segments, with it rows of
them."""

import subprocess
from pathlib import Path
from typing import Any

from machine import TAILRACE
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("gro.yaml")
LIMIT_S = 300


def frames(out: Path, arm: str) -> tuple[int, int]:
    """Frames to the sink, and from it: acknowledgements."""
    outcome: dict[str, Any] = read_trial(out / "trials" / arm / "1.json")
    sent = {
        port["towards"]: sum(queue["tx_frames"] for queue in port["queues"])
        for port in outcome["ports"]
    }
    return sent["sink"], sent["source"]


def test_without_merging_a_kernel_acknowledges_every_second_segment_and_more(
    tmp_path: Path,
) -> None:
    command = [*TAILRACE, "run", str(SCENARIO), "--exact", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    (merged, merged_acks), (single, single_acks) = (
        frames(tmp_path / "run", arm) for arm in ("merged", "single")
    )
    assert single == merged
    assert single_acks / single > 1 / 2
    assert merged_acks / merged < 1 / 3
