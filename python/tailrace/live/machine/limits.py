"""How many frames a second this machine holds: measured once for each build of the fabric, and kept."""

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
"""Of each measurement; there are nine: frames, and four ports with the machine's own punctuality before each."""
FILE = "live-limits.json"
US_PER_MS = 1000.0
SAME = ("cpu", "cores", "kernel")
"""What makes a machine another one."""


def path(kind: str = TAP) -> Path:
    """Where the figures are kept: the user's folder for what can be made again (XDG Base Directory Specification)."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "tailrace" / (FILE if kind == TAP else f"{kind}-{FILE}")


def measured(kind: str = TAP) -> dict[str, Any] | None:
    """The figures of this machine and build with a fabric; None where they were not measured."""
    try:
        held = read_json(path(kind))
    except (OSError, ValueError):
        return None
    return held["figures"] if isinstance(held, dict) and held.get("of") == _identity() else None


def measure(kind: str = TAP) -> dict[str, Any]:
    """Measures for half a minute with nothing else to do, and keeps the figures."""
    options = [] if kind == TAP else ["--kind", kind, "--frames-only"]
    figures = fabric.ask("limits", "--seconds", SECONDS, *options, limit_s=MEASURE_LIMIT_S)
    file = path(kind)
    make_folder(file.parent)
    write_json(file, {"of": _identity(), "figures": figures})
    return figures


def frames_per_s_max(say: Callable[[str], None], kind: str = TAP) -> float:
    """Frames a second that a scenario may ask for; measured now where it is not known."""
    figures = measured(kind)
    if figures is None:
        say("measuring the capacity of this machine, once: about half a minute")
        figures = measure(kind)
    return float(figures["frames"]["frames_per_second_max"])


def lateness_text(figures: Mapping[str, Any]) -> str:
    """How late the switch was, beside a thread that only sleeps and what the switch added to that: the worst port."""
    ports = figures["ports"]

    def worst(of: Callable[[Mapping[str, Any]], Mapping[str, float]]) -> str:
        return f"{max(of(port)['p99_9'] for port in ports) / US_PER_MS:.2f} ms"

    machine = worst(lambda port: port["machine"]["lateness_us"])
    own = worst(lambda port: port["own_lateness_us"])
    late = worst(lambda port: port["lateness_us"])
    return f"{late} (p99.9; this machine alone: {machine}; the switch's own work: {own})"


def _identity() -> dict[str, Any]:
    machine = describe_machine()
    return {"fabric_build": fabric.build(), **{key: machine[key] for key in SAME}}
