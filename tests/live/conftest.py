"""What all live tests share: the capacity of the machine."""

from collections.abc import Iterator

import pytest

from tailrace.files import make_folder, write_json
from tailrace.live.lab import kinds
from tailrace.live.machine import limits

LATENESS = {"lateness_us": {"p99_9": 500.0}}
FIGURES = {
    "frames": {"frames_per_second_max": 150_000.0},
    "ports": [LATENESS | {"machine": LATENESS, "own_lateness_us": {"p99_9": 20.0}}],
}
"""Of a small virtual machine. The scenarios of the tests need a tenth of these frames."""


@pytest.fixture(scope="session", autouse=True)
def _capacity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Figures are in a cache of its own: a busy machine would measure low ones, and refuse
    scenarios."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for kind in kinds.KINDS:
            file = limits.path(kind)
            make_folder(file.parent)
            write_json(file, {"of": limits.identity(), "figures": FIGURES})
        yield
