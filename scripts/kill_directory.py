"""A run directory that is killed and resumed until it is complete."""

import hashlib
import sys
from pathlib import Path
from typing import Any

from tailrace.experiment.storage import KEPT
from tailrace.files import read_json

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "tests" / "live" / "small.yaml"
TRIALS = 3
"""Of the scenario: two arms, and the orders alone."""


class Directory:
    """A run directory that is killed and resumed until it is complete."""

    trials = TRIALS

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept: dict[str, str] = {}

    def command(self) -> list[str]:
        """`tailrace run --live` into it."""
        words = ["run", "--live", str(SCENARIO), "--out", str(self.path), "--log-ingress"]
        return [*program(), *words]

    def problems(self) -> list[str]:
        """What happened to trials that had been finished, and which are broken."""
        now, found = self._finished(), []
        for name, digest in self.kept.items():
            if now.get(name) != digest:
                found.append(f"{name} is {'changed' if name in now else 'gone'}")
        for name in now:
            if name.endswith(".json"):
                held = read_object(self.path / name) or {}
                if not (held.get("outcome") or held).get(
                    "digest"
                ):  # that of an explanation stands by itself
                    found.append(f"{name} cannot be read or has no digest")
        self.kept = now
        return found

    def _finished(self) -> dict[str, str]:
        """Digests of the files of finished trials."""
        found = {}
        for file in sorted(self.path.glob("trials/*/[0-9]*.json")):
            if (read_object(file) or {}).get("status", "ok") in KEPT:
                for each in [file, *file.parent.glob(f"{file.stem}.*.parquet")]:
                    name = str(each.relative_to(self.path))
                    found[name] = hashlib.sha256(each.read_bytes()).hexdigest()
        return found

    @property
    def trials_left(self) -> float:
        """Share of the trials that are not there."""
        outcomes = [
            name
            for name in self.kept
            if name.endswith(".json") and not name.endswith(".causes.json")
        ]
        return 1 - len(outcomes) / self.trials


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None when it is missing or incomplete."""
    try:
        content = read_json(path)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def program() -> list[str]:
    """`tailrace`, as this Python has it."""
    return [sys.executable, "-c", "from tailrace.cli import main; main()"]
