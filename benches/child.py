"""Runs one plan in this process and prints what it took; without a plan, what the process takes by
itself.

The extension is loaded from its file, without the package around it: what the package's imports
leave behind in the heap would hide memory that the run uses.
"""

import importlib.util
import json
import re
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

EXTENSION = Path(__file__).resolve().parents[1] / "python" / "tailrace" / "_native.abi3.so"
STATUS = Path("/proc/self/status")


def load() -> ModuleType:
    """The simulator."""
    spec = importlib.util.spec_from_file_location("_native", EXTENSION)
    if spec is None or spec.loader is None:
        raise ImportError(f"{EXTENSION} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(native: ModuleType, file: Path) -> dict[str, Any]:
    """Clocks around reading the plan and around the run, and what came out."""
    parse_from = time.thread_time()
    trial = native.Trial(
        file.read_text()
    )  # no name for the text: its memory is free during the run
    wall, process, thread = time.perf_counter(), time.process_time(), time.thread_time()
    pieces, _, _ = trial.run()
    taken = {
        "parse_s": thread - parse_from,
        "wall_s": time.perf_counter() - wall,
        "process_cpu_s": time.process_time() - process,
        "thread_cpu_s": time.thread_time() - thread,
    }
    taken["peak_bytes"] = peak_bytes()  # without the objects that are read from the text here
    outcome = json.loads("".join(pieces))
    kept = ("digest", "packet_hops", "packets_delivered", "events")
    return taken | {key: outcome[key] for key in kept}


def peak_bytes() -> int:
    """The largest resident set of this program. `ru_maxrss` would count what the parent held before
    exec."""
    found = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
    if found is None:
        raise RuntimeError(f"{STATUS} has no VmHWM: memory is measured on Linux only")
    return int(found.group(1)) * 1024


def main(arguments: list[str]) -> int:
    """`child.py [PLAN]`."""
    native = load()
    measured = run(native, Path(arguments[0])) if arguments else {}
    measured.setdefault("peak_bytes", peak_bytes())
    print(json.dumps(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
