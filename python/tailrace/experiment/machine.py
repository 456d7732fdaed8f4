"""The machine and the versions that produced a result."""

import os
import platform
import sys
from pathlib import Path
from typing import Any

from tailrace.experiment.native import simulator_build, simulator_version


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, kernel, Python; no host name."""
    return {
        "cpu": _cpu_model(),
        "cores": available_cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Versions of the software that produced a result."""
    python = sys.version.split()[0]
    return {"tailrace": simulator_version(), "simulator_build": simulator_build(), "python": python}


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        "unknown",
    )
