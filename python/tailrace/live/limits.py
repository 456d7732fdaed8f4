"""How many frames a second this machine holds: measured once for each build of the fabric, and kept."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tailrace.experiment.machine import describe_machine
from tailrace.live import fabric
from tailrace.live.kinds import TAP

MEASURE_LIMIT_S = 180.0
SECONDS = "2"
"""Of each measurement; there are five."""
FILE = "live-limits.json"
SAME = ("cpu", "cores", "kernel")
"""What makes a machine another one."""


def path(kind: str = TAP) -> Path:
    """Where the figures are kept: the user's folder for what can be made again (XDG Base Directory Specification)."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "tailrace" / (FILE if kind == TAP else f"{kind}-{FILE}")


def measured(kind: str = TAP) -> dict[str, Any] | None:
    """The figures of this machine and build with a fabric; None where they were not measured."""
    try:
        held = json.loads(path(kind).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return held["figures"] if isinstance(held, dict) and held.get("of") == _identity() else None


def measure(kind: str = TAP) -> dict[str, Any]:
    """Measures for a quarter of a minute with nothing else to do, and keeps the figures."""
    options = [] if kind == TAP else ["--kind", kind, "--frames-only"]
    figures = fabric.ask("limits", "--seconds", SECONDS, *options, limit_s=MEASURE_LIMIT_S)
    file = path(kind)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    part.write_text(json.dumps({"of": _identity(), "figures": figures}, indent=1), encoding="utf-8")
    part.replace(file)
    return figures


def frames_per_s_max(say: Callable[[str], None], kind: str = TAP) -> float:
    """Frames a second that a scenario may ask for; measured now where it is not known."""
    figures = measured(kind)
    if figures is None:
        say("measuring what this machine can hold, once: about a quarter of a minute")
        figures = measure(kind)
    return float(figures["frames"]["frames_per_second_max"])


def _identity() -> dict[str, Any]:
    machine = describe_machine()
    return {"fabric_build": fabric.build(), **{key: machine[key] for key in SAME}}
