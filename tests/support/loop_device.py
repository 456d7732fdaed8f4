"""Loop devices for tests. Where this process is root and the kernel has them, one that cannot be
made is a failure."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MIB = 2**20
LIMIT_S = 30


@contextmanager
def loop_device(folder: Path, size_bytes: int = 16 * MIB) -> Iterator[str]:
    """A device over a file of random data; its limits are put back, because they survive it."""
    if os.geteuid() != 0:
        pytest.skip("loop devices need root")
    if not Path("/dev/loop-control").exists():
        pytest.skip("this machine lacks loop devices")
    assert shutil.which("losetup"), "losetup is missing (apt-get install mount)"
    file = folder / "disk"
    file.write_bytes(os.urandom(MIB) * (size_bytes // MIB))
    words = ["losetup", "--direct-io=on", "--find", "--show", str(file)]
    made = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert made.returncode == 0, f"no loop device: {made.stderr}"
    device = made.stdout.strip()
    limit = queue(device) / "max_sectors_kb"
    before = limit.read_text(encoding="ascii")
    try:
        yield device
    finally:
        limit.write_text(before, encoding="ascii")
        subprocess.run(["losetup", "--detach", device], timeout=LIMIT_S, check=True)


def queue(device: str) -> Path:
    """Its folder of limits."""
    return Path("/sys/block") / Path(device).name / "queue"
