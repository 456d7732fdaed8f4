"""Random damages of a run directory (`fuzzing/damage.py`): a stage of `make nightly`.

    damages.py --minutes 20                  continues after the last damage of the last call
    damages.py --count 1000 --seed 1         so many, from this number on
    damages.py --count 1 --seed 17           one damage, such as a finding

The exit code is 1 for a finding, also one of an earlier call that is not mended.
"""

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from fuzzing.damage import Place, prepared, tried
from tailrace.files import make_folder, read_json, write_json

STATE = Path(__file__).resolve().parent.parent / "target" / "nightly"


def main() -> int:
    """Tries damages until the time is over, or so many."""
    parser = argparse.ArgumentParser(
        prog="damages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER")
    parser.add_argument("--count", type=int, metavar="N")
    parser.add_argument("--seed", type=int, metavar="N")
    options = parser.parse_args()
    make_folder(options.state)
    file = options.state / "damages.json"
    held: dict[str, Any] = read_json(file) if file.exists() else {"next": 1, "findings": {}}
    with tempfile.TemporaryDirectory(prefix="tailrace-damages-") as name:
        place, done = prepared(Path(name)), Counter[str]()
        for seed in _seeds(options, held):
            kind, found = _tried(place, seed)
            done[kind] += 1
            held["findings"].pop(str(seed), None)
            if found:
                held["findings"][str(seed)] = found
                print(f"damage {seed}: {kind}: {found}", flush=True)
            if options.seed is None:
                held["next"] = max(held["next"], seed + 1)
            write_json(file, held)
    for seed, found in held["findings"].items():
        print(f"a finding: {found}\n    scripts/damages.py --count 1 --seed {seed}")
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(done.items()))
    print(f"damages: {done.total()} ({kinds}), {len(held['findings'])} findings")
    return 1 if held["findings"] else 0


def _seeds(options: argparse.Namespace, held: dict[str, Any]) -> Iterator[int]:
    """The numbers of damages: findings first, then those that were not tried yet."""
    if options.count is not None:
        first = options.seed or held["next"]
        yield from range(first, first + options.count)
        return
    end_s = time.monotonic() + 60 * options.minutes
    yield from map(int, list(held["findings"]))
    for seed in count(held["next"]):
        yield seed
        if time.monotonic() >= end_s:
            return


def _tried(place: Place, seed: int) -> tuple[str, str]:
    """The kind of one damage, and what was found, empty for nothing."""
    damage = ["preparing"]
    try:
        tried(place, random.Random(seed), damage)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a finding
        where = (
            "".join(traceback.format_exception(error)[-3:])
            if type(error).__name__ != "FindingError"
            else ""
        )
        return damage[0], f"{damage[-1]}: {type(error).__name__}: {error}\n{where}".strip()
    return damage[0], ""


if __name__ == "__main__":
    sys.exit(main())
