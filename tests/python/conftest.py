"""Fixtures of the Python tests."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import fake_native

SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _signal_handlers() -> Iterator[None]:
    """What the program does about signals when it runs in this process ends with the test."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def fake() -> Iterator[None]:
    """The stand-in for the simulator, in this test alone."""
    import sys

    import tailrace

    before = sys.modules.get("tailrace._native")
    assert before is None or hasattr(before, "__file__"), (
        "a test before this one left the stand-in behind"
    )
    fake_native.install()
    yield
    if before is None:
        del sys.modules["tailrace._native"]
        delattr(tailrace, "_native")
    else:
        sys.modules["tailrace._native"] = before
        setattr(tailrace, "_native", before)  # noqa: B010  a stub file types the real one


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
