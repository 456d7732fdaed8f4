"""Storage beside bulk traffic: the kernels' own ends and the simulated ones have the same
latencies."""

from pathlib import Path

import pytest

import storage_parity
import tailrace
from tailrace.programs.fio import FIO
from tailrace.programs.kernel_storage import ISCSISTART
from tailrace.programs.needed import path_of
from tailrace.results import Run

SCENARIO = Path(__file__).parents[2] / "examples" / "exact" / "storage-beside-bulk.yaml"
ARMS = ("iscsi-write", "nvme-read")


@pytest.mark.slow
def test_a_write_passes_the_queue_twice_and_a_read_once_as_in_kernels(tmp_path: Path) -> None:
    missing = [each.program for each in (FIO, ISCSISTART) if path_of(each) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for folder, is_exact in (("simulated", False), ("exact", True)):
        tailrace.run(SCENARIO, arms=ARMS, out=tmp_path / folder, exact=is_exact)
    medians = {
        arm: [
            storage_parity.us(Run.read(tmp_path / folder), arm, "p50_ps")
            for folder in ("simulated", "exact")
        ]
        for arm in ARMS
    }
    for arm, (ours, theirs) in medians.items():
        assert ours is not None, arm
        assert ours == pytest.approx(theirs, rel=0.05), arm
    write, read = (medians[arm][0] or 0.0 for arm in ARMS)
    assert 0 < 1.5 * read < write
