"""Run directories: each of their files is a format, and everything that reads run directories reads
it."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing.program import answered, known_errors, own_seeds, program, scratch
from tailrace.cli import codes
from tailrace.outcome.journal import JOURNAL
from tailrace.outcome.run_files import MANIFEST
from tailrace.results.directory.run_directory import Run
from tailrace.results.directory.tables import TABLES, read_trial_table

BASE: dict[str, Any] = {
    "tailrace": 1,
    "name": "base",
    "network": {
        "link": {"rate": "1Gbit/s"},
        "topology": {"kind": "star", "switch": "leaf", "hosts": ["a", "b", "c"]},
    },
    "switches": {"leaf": {"buffer": "1MB", "policy": "fifo"}},
    "workloads": {
        "orders": {
            "kind": "oltp",
            "client": "a",
            "server": "b",
            "users": 4,
            "transactions": 5,
            "round_trips": [{"request": "200B", "response": "8kB"}],
            "gap": "exponential(200us)",
        },
        "copy": {"kind": "stream", "source": "c", "destination": "a", "size": "200kB"},
    },
    "arms": {"small": {}, "large": {"switches.leaf.buffer": "4MB"}},
    "experiment": {"trials": 3, "duration": "50ms"},
    "observe": {"windows": "1ms", "interfaces": "1ms", "series_bins": 20},
    "expect": [
        {
            "metric": "rate_ratio",
            "workload": "orders",
            "arm": "large",
            "baseline": "small",
            "at_least": 0.1,
            "kind": "bound",
        }
    ],
    "headline": [{"workload": "orders", "metric": "latency_p99_ms"}],
}
"""A scenario of which everything is recorded, in a tenth of a second."""


@cache
def base_scenario() -> Path:
    """The scenario as a file."""
    path = scratch() / "base.yaml"
    path.write_text(json.dumps(BASE), encoding="utf-8")
    return path


@cache
def base_run() -> Path:
    """Its run directory."""
    path = scratch() / "base-run"
    shutil.rmtree(path, ignore_errors=True)
    answer = program("run", str(base_scenario()), "--out", str(path), "--explain", "--jobs", "1")
    if answer.code not in (codes.DONE, codes.EXPECTATION_FAILED):
        raise RuntimeError(f"the run directory cannot be made: {answer.err}")
    (path / "published.yaml").write_bytes(own_seeds("published")[0])
    forget_identities(path)
    return path


def member(name: str) -> Callable[[], list[bytes]]:
    """The contents of a file of the run directory; `name` may be a pattern."""
    return lambda: [path.read_bytes() for path in sorted(base_run().glob(name))]


def in_run(name: str) -> Callable[[Path], str]:
    """Reads the run directory with the input in place of this file."""
    return lambda file: read_run(file, name)


def read_run(file: Path, name: str) -> str:
    """Everything that reads run directories."""
    run = file.parent / "runs" / "changed"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(base_run(), run)
    (run / name).write_bytes(file.read_bytes())
    said = [
        answered(run, "report", str(run)),
        answered(run, "compare", str(base_run()), str(run)),
        answered(run, "list", "--runs", str(run.parent)),
        answered(run, "show", "queues", str(run)),
        answered(run, "show", "interfaces", str(run)),
        answered(run, "run", str(base_scenario()), "--out", str(run), "--dry-run"),
        known_errors(lambda: read_tables(run)),
    ]
    return "; ".join(said)


def forget_identities(run: Path) -> None:
    """A run as of an earlier version: what is changed is read, and not refused by its SHA-256."""
    (run / JOURNAL).unlink()
    manifest = run / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"journal": ', b'"former": '))


def read_tables(run: Path) -> None:
    """Every table of every trial."""
    read = Run.read(run)
    for arm in read.trials:
        for trial in read.valid(arm):
            for name in TABLES:
                if trial.has_table(name):
                    list(read_trial_table(trial, name).rows())


def interfaces() -> list[bytes]:
    """What `show interfaces --json` prints."""
    return [program("show", "interfaces", str(base_run()), "--json").out.encode()]


def read_interfaces(file: Path) -> str:
    """`show interfaces --since`: without a fabric it ends after the file was read."""
    from tailrace.cli.interfaces import _read  # what the command reads before it asks a fabric

    return known_errors(lambda: _read(file))
