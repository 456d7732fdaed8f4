"""Priority of this process during a measurement."""

import os
import subprocess
import sys

import pytest

from tailrace.live.lab.priority import ahead_of_programs


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may raise its own priority")
def test_this_process_goes_before_programs_and_is_as_before_afterwards() -> None:
    before = _scheduling()
    with ahead_of_programs():
        assert os.sched_getscheduler(0) == os.SCHED_RR | os.SCHED_RESET_ON_FORK
        asked = [
            sys.executable,
            "-c",
            "import os; print(os.sched_getscheduler(0) == os.SCHED_OTHER)",
        ]
        child = subprocess.run(asked, capture_output=True, text=True, check=True)
        assert child.stdout == "True\n", "what it starts is not favoured"
    assert _scheduling() == before


def test_an_ordinary_user_goes_on_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refused)
    monkeypatch.setattr(os, "sched_setscheduler", refused)
    before = _scheduling()
    with ahead_of_programs():
        assert _scheduling() == before


def _scheduling() -> tuple[int, int]:
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
