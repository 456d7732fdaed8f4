"""Commands of Slurm that run jobs as processes of this machine, for tests without Slurm; all end
with the block."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

END_S = 30
SBATCH = """#!/bin/bash
[ "$1" = --test-only ] && exit 0
cp "$1" "{folder}/script.$$"
setsid bash "{folder}/script.$$" > "{folder}/log.$$" 2>&1 < /dev/null &
echo $! > "{folder}/job.$$"
echo "Submitted batch job $$"
"""
SCANCEL = """#!/bin/bash
for job; do kill -- "-$(cat "{folder}/job.$job")" 2> /dev/null; done
"""


@contextmanager
def fake_slurm(folder: Path) -> Iterator[Path]:
    """A folder for the PATH, with `sbatch`, `squeue` and `scancel`; the logs of the jobs are in
    it."""
    folder.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL), ("squeue", "#!/bin/bash\n")):
        (folder / name).write_text(text.format(folder=folder), "utf-8")
        (folder / name).chmod(0o755)
    try:
        yield folder
    finally:
        for file in folder.glob("job.*"):
            with suppress(ProcessLookupError):
                os.killpg(int(file.read_text("utf-8")), signal.SIGKILL)


def logs(folder: Path) -> str:
    """What all jobs have said."""
    return "\n".join(file.read_text("utf-8") for file in folder.glob("log.*"))


def wait_for(is_so: object, folder: Path) -> None:
    """Returns when something is so; tells the logs of the jobs when it does not become so."""
    assert callable(is_so)
    until_s = time.monotonic() + END_S
    while not is_so():
        assert time.monotonic() < until_s, logs(folder)
        time.sleep(0.05)
