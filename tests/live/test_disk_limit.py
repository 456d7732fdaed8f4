"""The rates of a device on the disk of the run directory are limits of a control group, and they
bind."""

from pathlib import Path

import pytest

import machine
from tailrace.live.lab import fabric
from tailrace.programs.envelope import disk_of
from tailrace.programs.errors import ProgramError
from trial_files import read_trial

pytestmark = pytest.mark.slow  # two trials of five seconds
SCENARIO = Path(__file__).with_name("disk-limit.yaml")
BLOCK_BYTES = 128 * 1024


def test_what_the_device_reads_and_writes_is_what_requests_get(tmp_path: Path) -> None:
    if fabric.ask("doctor")["io_limits"] is not True:
        machine.skip_lacking("a controller for limits on disks")
    try:
        disk_of(tmp_path)
    except ProgramError as error:
        machine.skip_lacking(f"a disk that can be limited: {error}")
    out = tmp_path / "run"
    machine.run_live(SCENARIO, out)
    for arm, rate_bps in (("read", 5e6), ("write", 2e6)):
        outcome = read_trial(out / "trials" / arm / "1.json")
        [disk] = outcome["workloads"]
        counted_s = (outcome["end_ps"] - disk["counted_from_ps"]) / 1e12
        # The kernel lets pieces of up to 100 ms through at a time, a half second of four requests.
        assert disk["transactions"] * BLOCK_BYTES / counted_s == pytest.approx(
            rate_bps, rel=0.15
        ), arm
        [backing] = disk["backing"]
        assert backing["measured"][f"{arm}_bps"] > 10 * rate_bps, "the disk itself is faster"
