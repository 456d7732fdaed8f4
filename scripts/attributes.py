"""Which `#[inline]` and `#[cold]` attributes of the Rust crates are worth keeping.

attributes.py              count instructions without them, and find the files that need theirs
attributes.py FILE...      the same for these files alone
attributes.py --write ...  and remove from the tree what costs nothing

Attributes are removed in a copy of the tree, first those of all files together; while that costs
more than COST_MAX on some job, those of each half. Instructions are those of
`benches/instructions.py`: they do not depend on the load of the machine. Every step builds the
program of the benches anew, which takes minutes.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches"))

import instructions  # noqa: E402  it lies beside the benches
import jobs  # noqa: E402

#: What the instructions of a job may grow by for want of an attribute: half of what a change of the
#: code may cost unnoticed.
COST_MAX = 0.005
#: The jobs that count, of those of the benches.
JOBS = ("W1", "W2", "W3")
ATTRIBUTE = re.compile(r"^\s*#\[(?:inline|cold)(?:\(\w+\))?\]\n", re.MULTILINE)
#: Instructions per packet-hop, by job.
Counts = dict[str, float]


def main() -> int:
    """Counts, bisects, prints each file whose attributes are worth their lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="files to try; all by default")
    parser.add_argument("--write", action="store_true", help="remove what costs nothing")
    options = parser.parse_args()
    if not instructions.is_possible():
        print("attributes.py counts with callgrind: install valgrind", file=sys.stderr)
        return 2
    files = options.files or sources()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        kept = trial.needed(files)
    print(f"{len(kept)} of {len(files)} files need theirs")
    if options.write:
        for file in set(files) - set(kept):
            strip(ROOT / file)
    return 0


def sources() -> list[str]:
    """The files with attributes, those of one crate side by side."""
    found = sorted((ROOT / "crates").glob("*/src/**/*.rs"))
    return [str(file.relative_to(ROOT)) for file in found if ATTRIBUTE.search(file.read_text())]


def strip(file: Path) -> None:
    """Removes the attributes of a file."""
    file.write_text(ATTRIBUTE.sub("", file.read_text()))


class Trial:
    """A copy of the crates without some attributes, and what it costs."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.target = folder / "target"
        self.root.mkdir()
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy2(ROOT / name, self.root)
        shutil.copytree(ROOT / "crates", self.root / "crates")
        self.before = self.count()
        print("with all:", self.before, flush=True)

    def needed(self, files: list[str]) -> list[str]:
        """Of these files, those whose attributes cost too much to do without. The attributes of
        the others stay removed in the copy."""
        for file in files:
            strip(self.root / file)
        counts = self.count()
        cost = max(counts[job] / self.before[job] - 1 for job in JOBS)
        print(f"{100 * cost:+.2f} % without those of {' '.join(files)}: {counts}", flush=True)
        if cost <= COST_MAX:
            return []
        for file in files:
            shutil.copy2(ROOT / file, self.root / file)
        if len(files) == 1:
            return files
        middle = len(files) // 2
        return self.needed(files[:middle]) + self.needed(files[middle:])

    def count(self) -> Counts:
        """Instructions per packet-hop of the copy as it stands."""
        command = "cargo build --profile dist --locked --quiet -p tailrace-sim --example run_plan"
        subprocess.run(
            command.split(),
            cwd=self.root,
            check=True,
            timeout=instructions.BUILD_LIMIT_S,
            env={**os.environ, "CARGO_TARGET_DIR": str(self.target)},
        )
        instructions.PROGRAM = self.target / "dist" / "examples" / "run_plan"
        return {job.name: instructions.per_hop(job) for job in jobs.JOBS if job.name in JOBS}


if __name__ == "__main__":
    sys.exit(main())
