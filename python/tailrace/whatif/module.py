"""The simulator as a WebAssembly module: built by `make whatif`, and shipped with what it was built from."""

from functools import cache
from importlib import resources

from tailrace.errors import RunRefusedError


@cache
def packed() -> bytes:
    """The module, as gzip. Raises `RunRefusedError` without one."""
    file = resources.files("tailrace.whatif") / "assets" / "simulator.wasm.gz"
    if not file.is_file():
        raise RunRefusedError("the simulator's WebAssembly module is missing (hint: make whatif builds it)")
    return file.read_bytes()
