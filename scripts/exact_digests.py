"""Print the digests of two scenarios with the kernel of exact runs of this machine, and record them
with `--record`.

`tests/exact/digests.json` has them by the key of the kernel. A kernel is a part of a result: record
those of another one when the reason for a difference is known.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tailrace.exact import program

ROOT = Path(__file__).resolve().parents[1]
SCENARIOS = ROOT / "tests" / "exact"
RECORD = SCENARIOS / "digests.json"
NAMES = ("small", "jumbo")
LIMIT_S = 300


class DigestError(Exception):
    """A scenario did not run."""


def digest(name: str, folder: Path) -> str:
    """Of the first trial of a scenario, run in a folder that is not there yet."""
    words = [sys.executable, "-m", "tailrace", "run", str(SCENARIOS / f"{name}.yaml")]
    words += ["--exact", "--trials", "1", "--out", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        raise DigestError(f"{name}.yaml: {done.stderr.strip()}")
    [trial] = folder.glob("trials/*/1.json")
    found: str = json.loads(trial.read_text(encoding="utf-8"))["outcome"]["digest"]
    return found


def recorded() -> dict[str, dict[str, Any]]:
    """By key of a kernel."""
    found: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def record(key: str, release: str, digests: dict[str, str]) -> None:
    """Adds a kernel, or replaces what was recorded of it."""
    known = recorded() | {key: {"kernel": release, "digests": digests}}
    RECORD.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main() -> int:
    """Runs both scenarios."""
    parser = argparse.ArgumentParser(prog="exact-digests", description=__doc__)
    parser.add_argument(
        "--record", action="store_true", help=f"write them into {RECORD.relative_to(ROOT)}"
    )
    arguments = parser.parse_args()
    kernel = program.required_kernel()
    key, release = program.kernel_key(kernel), program.kernel_release(kernel)
    try:
        with tempfile.TemporaryDirectory() as folder:
            digests = {name: digest(name, Path(folder) / name) for name in NAMES}
    except DigestError as error:
        print(f"exact-digests: {error}", file=sys.stderr)
        return 1
    print(json.dumps({key: {"kernel": release, "digests": digests}}, indent=2, sort_keys=True))
    if arguments.record:
        record(key, release, digests)
    return 0


if __name__ == "__main__":
    sys.exit(main())
