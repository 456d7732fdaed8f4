"""Every write of a live run fails once, on the stand-in for the fabric: no success, and a rerun
completes it."""

import errno
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from counts import cases
from faulty_files import Disk, watched
from lab import sound
from tailrace.cli.app import app
from tailrace.cli.codes import INVALID_TRIAL
from trial_files import read_trial

pytestmark = pytest.mark.usefixtures("fake_lab")

FAULTS = (errno.ENOSPC, errno.EIO, errno.EACCES)
NUMBERS = re.compile(r"\.\d+\.part$|[0-9a-f]{12}")
SMALL = sound(
    experiment__trials=1,
    workloads__backup=...,
    workloads__orders__transactions=3,
    arms={"fifo": {}},
)


def run(scenario: Path, out: Path) -> tuple[int, str]:
    """Exit code, and what was said: the last line is an error for people."""
    result = CliRunner().invoke(app, ["run", str(scenario), "--live", "--out", str(out)])
    told = str(result.exception) if isinstance(result.exception, Exception) else ""
    return result.exit_code, result.output + told


def test_every_write_of_a_live_run_may_fail(tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(json.dumps(SMALL), encoding="utf-8")
    disk = Disk(tmp_path / "good")
    with watched(disk):
        assert run(scenario, tmp_path / "good")[0] == 0
    left = {str(file.relative_to(tmp_path / "good")) for file in (tmp_path / "good").rglob("*")}
    assert any(name.startswith("live/templates") for _, name in disk.done)
    # Each kind of operation on each file once, of those that a simulated run does not have.
    places = {
        (what, NUMBERS.sub("", name)): number for number, (what, name) in enumerate(disk.done, 1)
    }
    places = {
        (what, name): number for (what, name), number in places.items() if name.startswith("live")
    }
    assert len(places) > 15
    for (what, name), failing in list(places.items())[:: cases(1, 3)]:
        out = tmp_path / f"run-{failing}"
        faulty = Disk(out, failing, FAULTS[failing % len(FAULTS)])
        with watched(faulty):
            code, said = run(scenario, out)
        assert faulty.failed is not None
        assert code not in (0, 130), (what, name, said)
        file = NUMBERS.sub("", Path(faulty.failed[1]).name).removeprefix(".")
        if (out / "trials/fifo/1.json").exists():
            kept = read_trial(out / "trials/fifo/1.json")
            assert (code, kept["status"]) == (INVALID_TRIAL, "failed")
            said += kept["reason"]
        assert file in said, (what, name, said)
        state = (
            json.loads((out / "manifest.json").read_text())["state"]
            if (out / "manifest.json").exists()
            else None
        )
        assert state != "finished" or (out / "trials/fifo/1.json").exists()
        code, said = run(scenario, out)
        assert code == 0, (what, name, said)
        assert {str(found.relative_to(out)) for found in out.rglob("*")} == left, (what, name)
