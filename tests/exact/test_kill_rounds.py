"""A few of the rounds that `scripts/exact_kill_rounds.py` can do by the dozen."""

import subprocess
import sys

import pytest

from machine import ROOT

LIMIT_S = 280


@pytest.mark.slow
def test_a_run_that_loses_a_part_leaves_nothing_and_goes_on() -> None:
    words = [
        sys.executable,
        str(ROOT / "scripts" / "exact_kill_rounds.py"),
        "--rounds",
        "3",
        "--seed",
        "2",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
