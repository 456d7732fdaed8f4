"""The program as a user runs it."""

import os
import subprocess

import forks

LIMIT_S = 600
"""Ends a command that hangs."""


def tailrace(*words: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own; whatever it says, no traceback is part of it."""
    done = forks.shared().run(words, LIMIT_S, os.environ)
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    return done


def used_s() -> float:
    """Processor time of all commands in forks so far, in seconds; they are no children of this
    process."""
    return forks.shared().used_s if forks.shared.cache_info().currsize else 0.0
