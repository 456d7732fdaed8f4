"""The simulator as a WebAssembly module: built by `make whatif`, and shipped with its version."""

import json
from functools import cache
from importlib import resources

from tailrace.errors import RunRefusedError

ASSETS = resources.files("tailrace.whatif") / "assets"


@cache
def packed() -> bytes:
    """The module, as gzip. Raises `RunRefusedError` without one."""
    file = ASSETS / "simulator.wasm.gz"
    if not file.is_file():
        raise RunRefusedError(
            "the simulator's WebAssembly module is missing (hint: make whatif builds it)"
        )
    return file.read_bytes()


def version() -> str:
    """The version of the simulator from which the module was built."""
    return str(json.loads((ASSETS / "simulator.json").read_text(encoding="utf-8"))["version"])
