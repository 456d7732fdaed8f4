"""Which tests are collected: those with real programs only where `scripts/live_checks.py` runs
them."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tailrace.cli.start

pytest_plugins = ["durations"]

collect_ignore = [] if os.environ.get("TAILRACE_LIVE_TESTS") == "1" else ["live"]


# How long a case takes says nothing on a busy machine.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m smoke`, files without such a test are not imported: that would take longer than the
    tests."""
    if config.option.markexpr != "smoke" or not collection_path.match("test_*.py"):
        return None
    return None if "mark.smoke" in collection_path.read_text(encoding="utf-8") else True


# A program that ignores a signal hands that down to what it starts: tests that were started in the
# background of a shell, or by nohup(1), would send theirs in vain.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(
            _number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL
        )


@pytest.fixture(autouse=True)
def _interrupted_programs_return() -> Iterator[None]:
    """The program ends its process after an interrupt: where a test calls it, that is the process
    of the tests.

    Not with the fixture `monkeypatch`, which would be undone after the fixtures of a test instead
    of before them.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tailrace.cli.start, "_end_at_once", lambda: None)
        yield
