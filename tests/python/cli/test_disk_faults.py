"""Every write of a run fails once: the run says so, never claims to be complete, and the same
command completes it."""

import errno
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from counts import cases
from faulty_files import Disk, watched
from lab import sound
from tailrace.cli import main
from trial_files import read_trial

FAULTS = (errno.ENOSPC, errno.EIO, errno.EACCES)
OURS = re.compile(r"\.(?P<name>.+)\.\d+\.part$")
"""A file that is being written."""
HAPPENED = frozenset(
    {"wall_s", "started", "finished", "machine", "command", "path", "report", "jobs"}
)
"""What differs from run to run, whatever their results."""

SMALL = sound(
    experiment__trials=1,
    workloads__backup=...,
    arms={"fifo": {"switches.leaf.policy": "fifo"}, "dpp": {}},
)
Run = Callable[[Path, int], tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the scenario of this test into a folder with so many jobs; gives the exit code and what
    was said."""
    (tmp_path / "lab.yaml").write_text(json.dumps(SMALL), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def command(out: Path, jobs: int) -> tuple[int, str]:
        words = ["tailrace", "run", "lab.yaml", "--out", str(out), "--jobs", str(jobs), "--json"]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().err

    return command


def content(out: Path) -> dict[str, Any]:
    """Everything that a run left, without what differs from run to run."""
    left: dict[str, Any] = {}
    for file in sorted(out.rglob("*")):
        name = str(file.relative_to(out))
        if file.suffix == ".json":
            left[name] = _without(json.loads(file.read_text(encoding="utf-8")))
        elif file.suffix == ".parquet":
            left[name] = file.read_bytes()
        elif file.is_file():
            left[name] = ""
    return left


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items() if key not in HAPPENED}
    return [_without(item) for item in value] if isinstance(value, list) else value


def check_told(code: int, said: str, failed: tuple[str, str]) -> None:
    """A failure that names the file and does not end with success."""
    assert code not in (0, 130), (failed, said)
    assert "Traceback" not in said, failed
    assert "tailrace itself failed" not in said, failed
    what, file = failed
    match = OURS.search(Path(file).name)
    name = match["name"] if match else Path(file).name
    assert name in said, (what, file, said)


def check_honest(out: Path, planned: set[str]) -> None:
    """A manifest that says `finished` has every trial beside it."""
    manifest = out / "manifest.json"
    if not manifest.exists():
        return
    said: Mapping[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    there = {str(file.relative_to(out)) for file in out.glob("trials/*/*.json")}
    assert said["state"] != "finished" or there == planned, (said["state"], planned - there)
    for file in out.glob("trials/*/*.json"):
        assert read_trial(file)["status"] == "ok"
        assert len(list(file.parent.glob(f"{file.stem}.*.parquet"))) == 4, (
            "an outcome is there when its tables are"
        )


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_write_of_a_simulated_run_may_fail(run: Run, tmp_path: Path, jobs: int) -> None:
    disk = Disk(tmp_path / "good")
    with watched(disk):
        assert run(tmp_path / "good", jobs)[0] == 0
    good = content(tmp_path / "good")
    planned = {name for name in good if name.startswith("trials/") and name.endswith(".json")}
    written = {OURS.sub(r"\g<name>", name) for _, name in disk.done}
    assert written >= {name for name in good if not name.endswith(".lock")}, (
        "a file was written past the disk"
    )
    assert len(disk.done) > 50
    # By default both parameters together try two thirds of them.
    for failing in range(cases(1, jobs), len(disk.done) + 1, cases(1, 3)):
        out = tmp_path / f"run-{failing}"
        faulty = Disk(out, failing, FAULTS[(failing + jobs) % len(FAULTS)])
        with watched(faulty):
            code, said = run(out, jobs)
        assert faulty.failed is not None
        check_told(code, said, faulty.failed)
        check_honest(out, planned)
        code, said = run(out, jobs)
        assert code == 0, (faulty.failed, said)
        assert content(out) == good, faulty.failed


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_table_writer_that_panics_ends_the_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    class PanicException(BaseException):
        """What a library in Rust raises: no `Exception`."""

    left = iter([0, 0])  # two tables are written, then one panics

    def panics(columns: object) -> memoryview:
        if next(left, None) is None:
            raise PanicException(
                "called `Result::unwrap()` on an `Err` value: No space left on device"
            )
        return parquet(columns)  # type: ignore[arg-type]

    from tailrace.experiment import storage
    from tailrace.experiment.storage import parquet

    monkeypatch.setattr(storage, "parquet", panics)
    code, said = run(tmp_path / "mine", jobs)
    assert code == 70
    assert "PanicException: called `Result::unwrap()`" in said
    manifest = json.loads((tmp_path / "mine/manifest.json").read_text(encoding="utf-8"))
    assert manifest["state"] == "interrupted"


@pytest.mark.usefixtures("fake")
def test_a_trial_that_vanishes_is_not_finished(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tailrace.experiment.storage import RunDirectory

    write = RunDirectory.write_trial

    def forgetful(self: RunDirectory, key: Any, stored: Any, tables: Any) -> None:
        if str(key) != "dpp/1":
            write(self, key, stored, tables)

    monkeypatch.setattr(RunDirectory, "write_trial", forgetful)
    code, said = run(tmp_path / "mine", 1)
    assert (code, "1 trial has no outcome: dpp/1 (hint: run the same command again)" in said) == (
        2,
        True,
    ), said
    manifest = json.loads((tmp_path / "mine/manifest.json").read_text(encoding="utf-8"))
    assert manifest["state"] == "interrupted"


@pytest.mark.usefixtures("fake")
def test_a_log_that_cannot_be_written_hides_no_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("nothing to divide")

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tailrace.experiment.run.manifest_of", broken)
    monkeypatch.setattr("tempfile.mkstemp", full)
    code, said = run(tmp_path / "mine", 1)
    assert code == 70
    assert (
        "ZeroDivisionError: nothing to divide (hint: the details could "
        "not be written: No space left" in said
    )
