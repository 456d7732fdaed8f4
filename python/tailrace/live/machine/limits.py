"""Frames per second that this machine sustains: measured once for each build of the fabric, and
stored."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tailrace.experiment.machine import describe_machine
from tailrace.files import make_folder, read_json, write_json
from tailrace.live.lab import fabric
from tailrace.results.compare.fidelity import TAP

MEASURE_LIMIT_S = 180.0
SECONDS = "2"
"""Length of each of nine measurements: frames, and four ports, each after a measurement of the
machine's own timing."""
FILE = "live-limits.json"
US_PER_MS = 1000.0
SAME = ("cpu", "cores", "kernel")
"""Identifies the machine."""


def path(kind: str = TAP) -> Path:
    """File of the figures, in the user's cache directory (XDG Base Directory Specification)."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "tailrace" / (FILE if kind == TAP else f"{kind}-{FILE}")


def measured(kind: str = TAP) -> dict[str, Any] | None:
    """The figures of this machine, build and fabric; None if they were not measured."""
    try:
        held = read_json(path(kind))
    except (OSError, ValueError):
        return None
    return held["figures"] if isinstance(held, dict) and held.get("of") == identity() else None


def measure(kind: str = TAP) -> dict[str, Any]:
    """Measures for half a minute on the idle machine, and stores the figures."""
    options = [] if kind == TAP else ["--kind", kind, "--frames-only"]
    figures = fabric.ask("limits", "--seconds", SECONDS, *options, limit_s=MEASURE_LIMIT_S)
    file = path(kind)
    make_folder(file.parent)
    write_json(file, {"of": identity(), "figures": figures})
    return figures


def frames_per_s_max(say: Callable[[str], None], kind: str = TAP) -> float:
    """Frames per second that a scenario may offer; measured now if unknown."""
    figures = measured(kind)
    if figures is None:
        say("measuring the capacity of this machine, once: about half a minute")
        figures = measure(kind)
    return float(figures["frames"]["frames_per_second_max"])


def lateness_text(figures: Mapping[str, Any]) -> str:
    """Lateness of the switch at the worst port, that of a thread that only sleeps, and the part
    added by the switch."""
    ports = figures["ports"]

    def worst(of: Callable[[Mapping[str, Any]], Mapping[str, float]]) -> str:
        return f"{max(of(port)['p99_9'] for port in ports) / US_PER_MS:.2f} ms"

    machine = worst(lambda port: port["machine"]["lateness_us"])
    own = worst(lambda port: port["own_lateness_us"])
    late = worst(lambda port: port["lateness_us"])
    return f"{late} (p99.9; this machine alone: {machine}; the switch's own work: {own})"


def identity() -> dict[str, Any]:
    """The machine and the build of which figures hold."""
    machine = describe_machine()
    return {"fabric_build": fabric.build(), **{key: machine[key] for key in SAME}}
