"""Fixtures of the Python tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import fake_native


@pytest.fixture
def fake() -> Iterator[None]:
    """The stand-in for the simulator, in this test alone."""
    import sys

    import tailrace

    before = sys.modules.get("tailrace._native")
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
