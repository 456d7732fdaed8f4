"""Fixtures of the live tests."""

import sys
from pathlib import Path

import pytest

from tailrace.live.lab import fabric
from tailrace.live.machine import doctor
from tailrace.live.measure import probe
from tailrace.live.measure.waits import Watch
from tailrace.programs import postgres
from tailrace.programs.postgres import Installation

FAKE = Path(__file__).with_name("fake_fabric.py")


@pytest.fixture
def fake_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in for the fabric, and a machine on which every program is installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "fake-fabric"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv(fabric.ENVIRONMENT, str(program))
    monkeypatch.setattr(postgres, "installation", lambda: Installation(folder, "15"))
    monkeypatch.setattr(doctor, "path_of", lambda needed: Path("/usr/bin") / needed.program)
    monkeypatch.setattr(doctor, "version_of", lambda _needed: "1.2")
    # The stand-in does not use this machine: what others take of it decides nothing.
    monkeypatch.setattr(probe, "cpu", lambda: probe.CpuTicks(0, 0, 0))
    monkeypatch.setattr(Watch, "_kernel_threads", lambda _watch: {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
