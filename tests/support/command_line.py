"""The program as a user runs it."""

import subprocess
import sys

LIMIT_S = 180


def tailrace(*words: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own; whatever it says, no traceback is part of it."""
    command = [sys.executable, "-m", "tailrace", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    return done
