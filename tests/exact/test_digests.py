"""Digests of exact runs, by the key of their kernel: every machine that builds that kernel must find the same."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from tailrace.exact import program

HERE = Path(__file__).parent
GOLDEN: dict[str, dict[str, Any]] = json.loads(HERE.joinpath("digests.json").read_text(encoding="utf-8"))
LIMIT_S = 300

KERNEL = program.kernel()

pytestmark = pytest.mark.skipif(KERNEL is None, reason="there is no kernel of exact runs (make exact-deps)")


def recorded() -> dict[str, str]:
    """The digests with this kernel, by scenario; skips the test where none were recorded."""
    assert KERNEL is not None
    key = program.kernel_key(KERNEL)
    if key not in GOLDEN:
        known = ", ".join(f"{key} ({golden['kernel']})" for key, golden in GOLDEN.items())
        pytest.skip(f"nothing is compared: this kernel has the key {key}, and digests are recorded for {known}")
    digests: dict[str, str] = GOLDEN[key]["digests"]
    return digests


@pytest.mark.parametrize("name", ["small", "jumbo"])
def test_a_kernel_of_this_key_gives_the_recorded_digest(tmp_path: Path, name: str) -> None:
    expected = recorded()[name]
    out = tmp_path / "run"
    command = [*TAILRACE, "run", str(HERE / f"{name}.yaml"), "--exact", "--trials", "1", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    [trial] = out.glob("trials/*/1.json")
    assert json.loads(trial.read_text(encoding="utf-8"))["digest"] == expected
