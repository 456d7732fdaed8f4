"""Whether the examples give the same outcomes, figures and tables as before a change of the code.

`outcome_baseline.py FILE` runs every example (simulated, a small scale, two trials, the seed of the
example) and writes hashes of what it gave: of each trial's outcome, of `result.json`, and of the
text in a terminal. `outcome_baseline.py --compare FILE` runs them again and prints each example and
key path that differs; it ends with exit code 1 when one does. `--ignore PATH` leaves out a path
that a change is meant to add or alter, such as `outcome.version`. Times of the machine, its name
and places of files are left out.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

import tailrace
from tailrace.files import read_json, write_json
from tailrace.results.sweep.text import format_result

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
SCALE = 0.05
TRIALS = 2
HASH_DIGITS = 16
OUTCOME = "outcome"
HEAD = ("arm", "plan_hash", "reason", "status", "trial")
SHOWN_MAX = 20
"""Paths of an example that are printed."""
OF_THE_MACHINE = {
    "outcome.wall_s",
    "result.run.command",
    "result.run.finished",
    "result.run.machine",
    "result.run.started",
    "result.run.versions",
}
"""Key paths whose values differ from run to run, with all that is below them."""
WALL_TIME = ".wall_s"
"""The end of the paths of wall-clock times, per arm."""

Hashes = dict[str, str]
"""Key path → hash of its values, in their order. An element of a list is `[]`."""


def main(arguments: Sequence[str]) -> int:
    """Run the examples; write or compare. Returns an exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the hashes")
    parser.add_argument(
        "--compare", action="store_true", help="compare with FILE instead of writing it"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="PATH", help="a key path to leave out"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="an example; by default all"
    )
    options = parser.parse_args(arguments)
    names = options.only or sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
    found = {name: hashes_of(name) for name in names}
    if not options.compare:
        write_json(options.file, {"scale": SCALE, "trials": TRIALS, "examples": found})
        return 0
    before = read_json(options.file)["examples"]
    differing = [
        name
        for name in names
        if print_differences(name, before.get(name, {}), found[name], options.ignore)
    ]
    print(f"{len(names) - len(differing)} of {len(names)} examples are equal", flush=True)
    return 1 if differing else 0


def hashes_of(name: str) -> Hashes:
    """Runs an example; the hashes of everything that it gave."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", tailrace.ScenarioWarning
        )  # some examples show what is warned of
        run = tailrace.run(
            EXAMPLES / f"{name}.yaml", trials=TRIALS, scale=SCALE, out=Path(place) / "run"
        )
        trials = [
            json.loads(path.read_text())
            for path in sorted(run.path.glob("trials/*/*.json"))
            if is_trial(path)
        ]
        values = [value for trial in trials for value in flat(told(trial), OUTCOME)]
        values += flat(json.loads(json.dumps(msgspec.to_builtins(run.summary))), "result")
        values.append(("text", format_result(run.summary)))
    return hashed(values)


def is_trial(path: Path) -> bool:
    """Whether a file is an outcome, and not the causes beside it."""
    return path.stem.isdigit()


def told(trial: Any) -> Any:
    """What is compared of a stored trial: its outcome, and what is known of it besides."""
    return {key: trial[key] for key in HEAD} | (trial["outcome"] or {})


def flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value below `path` with the path of its key; an empty object is a value, and the length
    of a list.

    A key of an outcome that is null is as one that is absent.
    """
    if path in OF_THE_MACHINE or path.endswith(WALL_TIME):
        return
    if isinstance(value, dict) and value:
        for key, below in value.items():
            if below is not None or not path.startswith(OUTCOME):
                yield from flat(below, f"{path}.{key}")
    elif isinstance(value, list):
        yield path, len(value)
        for below in value:
            yield from flat(below, f"{path}[]")
    else:
        yield path, value


def hashed(values: Iterable[tuple[str, Any]]) -> Hashes:
    """The hash of all values of each path. A float is not the integer of the same value."""
    digests: dict[str, Any] = {}
    for path, value in values:
        text = json.dumps(value)
        digests.setdefault(path, hashlib.sha256()).update(f"{text}\n".encode())
    return {path: digest.hexdigest()[:HASH_DIGITS] for path, digest in sorted(digests.items())}


def print_differences(name: str, before: Hashes, after: Hashes, ignored: Sequence[str]) -> bool:
    """Prints the paths that differ; whether any does."""
    paths = sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
    shown = [path for path in paths if path not in ignored]
    for path in shown[:SHOWN_MAX]:
        state = "is new" if path not in before else "is gone" if path not in after else "differs"
        print(f"{name}: {path} {state}", flush=True)
    if len(shown) > SHOWN_MAX:
        print(f"{name}: and {len(shown) - SHOWN_MAX} more", flush=True)
    return bool(shown)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
