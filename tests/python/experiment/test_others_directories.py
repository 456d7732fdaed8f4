"""Run directories of other people: nothing outside of them is read or written, whatever stands in
them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_run import FakeRun
from lab import sound
from tailrace.errors import TailraceError
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.folder import Folder, IrregularFileError
from tailrace.live.engine import LiveEngine
from tailrace.outcome.journal import JOURNAL, Journal
from tailrace.results import Run, RunDirectoryError
from tailrace.results.directory.names import is_arm
from tailrace.scenario.loading import load_scenario

VICTIM = "another file\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file outside of the run directory."""
    file = tmp_path / "victim"
    file.write_text(VICTIM, encoding="utf-8")
    return file


@pytest.fixture
def out(tmp_path: Path, workplace: Path) -> Path:
    """A run directory, complete."""
    run(tmp_path / "run")
    return tmp_path / "run"


def run(out: Path) -> None:
    """The command that made it."""
    ExperimentRun(load_scenario(sound(experiment__trials=1)), Options(out=out, jobs=1)).run()


def test_a_lock_that_is_a_link_does_not_empty_its_target(out: Path, victim: Path) -> None:
    (out / "run.lock").unlink()
    (out / "run.lock").symlink_to(victim)
    with pytest.raises(
        IrregularFileError, match=r"run\.lock: it is a link, .* \(hint: remove it\)"
    ):
        run(out)
    assert victim.read_text(encoding="utf-8") == VICTIM


def test_a_lock_keeps_its_content(tmp_path: Path) -> None:
    (tmp_path / "run.lock").write_text(VICTIM, encoding="utf-8")
    with (
        Folder(tmp_path).locked("run.lock"),
        pytest.raises(BlockingIOError),
        Folder(tmp_path).locked("run.lock"),
    ):
        pass
    assert (tmp_path / "run.lock").read_text(encoding="utf-8") == VICTIM


@pytest.mark.parametrize("folder", ["trials", "trials/dpp", "plans"])
def test_a_linked_folder_is_not_written_through(out: Path, tmp_path: Path, folder: str) -> None:
    (out / folder).rename(tmp_path / "elsewhere")
    (out / folder).symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.joinpath("elsewhere").rglob("*"))
    for call in (run, summarise_and_report):
        with pytest.raises(TailraceError, match=rf"{folder}.*: it is a link"):
            call(out)
    assert sorted(tmp_path.joinpath("elsewhere").rglob("*")) == before


@pytest.mark.parametrize("name", ["result.json", "report.html"])
def test_what_a_reader_writes_takes_the_place_of_a_link(out: Path, victim: Path, name: str) -> None:
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(victim)
    summarise_and_report(out)
    assert not (out / name).is_symlink()
    assert victim.read_text(encoding="utf-8") == VICTIM


def test_a_trial_that_is_a_link_is_not_read(out: Path, tmp_path: Path) -> None:
    file = out / "trials" / "dpp" / "1.json"
    file.rename(tmp_path / "mine.json")
    file.symlink_to(tmp_path / "mine.json")
    with pytest.raises(
        TailraceError, match=r"dpp/1\.json: cannot be read: it is a link, .*remove the file"
    ):
        Run.read(out)
    run(out)
    assert not file.is_symlink()
    assert Run.read(out).trials["dpp"][0].has_outcome


def test_a_file_that_is_appended_to_has_one_name(tmp_path: Path, victim: Path) -> None:
    os.link(victim, tmp_path / JOURNAL)
    with pytest.raises(IrregularFileError, match=r"journal\.jsonl: it has a second name elsewhere"):
        Journal(Folder(tmp_path)).add("trials/fifo/1", {"json": b"{}"})
    assert victim.read_text(encoding="utf-8") == VICTIM


@pytest.mark.parametrize(
    ("edited", "what"),
    [
        ({"arms": ["../../out"]}, r"'\.\./\.\./out' is no name - at `\$\.arms`"),
        ({"arms": ["fifo\n"]}, r"'fifo\\n' is no name - at `\$\.arms`"),
        ({"workloads": ["\x1b[31mred"]}, r"is no name - at `\$\.workloads`"),
        ({"plan_hashes": {"a/b": ""}}, r"'a/b' is no name - at `\$\.plan_hashes`"),
        ({"order": ["/etc/passwd"]}, r"'/etc/passwd' is no name - at `\$\.order`"),
        ({"groups": {"all": [".."]}}, r"'\.\.' is no name - at `\$\.groups`"),
    ],
)
def test_names_of_a_manifest_are_those_of_a_scenario(
    tmp_path: Path, edited: dict[str, object], what: str
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    held = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    (path / "manifest.json").write_text(json.dumps(held | edited), encoding="utf-8")
    with pytest.raises(RunDirectoryError, match=rf"manifest\.json: .*{what} \(hint: "):
        Run.read(path)


@pytest.mark.parametrize(
    "name", ["fifo", "solo:shop", "fifo@buffer=1MB,users=4", "solo:shop@a=1.5(2)-0a1b2c3d"]
)
def test_names_of_arms_are_accepted(name: str) -> None:
    assert is_arm(name)


@pytest.mark.parametrize(
    "name", ["", "fifo@", "@a=1", "fifo@../x", "a b", "solo:", "fifo@a=1\n", "." * 3, "x" * 65]
)
def test_other_names_are_none(name: str) -> None:
    assert not is_arm(name)


def _pipe(file: Path, _victim: Path) -> None:
    os.mkfifo(file)


def _link(file: Path, victim: Path) -> None:
    file.symlink_to(victim)


def _device(file: Path, _victim: Path) -> None:
    file.symlink_to("/dev/zero")


def _folder(file: Path, _victim: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize("make", [_pipe, _link, _device, _folder])
def test_what_is_no_file_is_refused_in_a_sentence(
    tmp_path: Path, victim: Path, make: Callable[[Path, Path], None]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    make(run / "manifest.json", victim)
    for call in (Run.read, summarise_and_report):
        with pytest.raises(TailraceError, match=r"manifest\.json: .*it is a (pipe|link|folder)"):
            call(run)


@pytest.mark.parametrize(
    "name",
    ["../victim", "a/../../victim", "/etc/passwd", "a//b", ".", "a/./b", "", "a\x00b", "a\n"],
)
def test_a_name_leads_nowhere_else(tmp_path: Path, victim: Path, name: str) -> None:
    (tmp_path / "run" / "a").mkdir(parents=True)
    folder = Folder(tmp_path / "run")
    for call in (
        folder.read,
        folder.has,
        folder.remove,
        folder.make_empty,
        lambda name: folder.write(name, b"x"),
    ):
        with pytest.raises(IrregularFileError, match="it is no name of a file in a run directory"):
            call(name)
    assert victim.read_text(encoding="utf-8") == VICTIM


@pytest.mark.parametrize("engine", [LiveEngine, ExactEngine])
def test_engines_neither_follow_links_nor_use_templates_that_they_find(
    tmp_path: Path, engine: Callable[[], LiveEngine | ExactEngine]
) -> None:
    name, elsewhere = engine().name, tmp_path / "elsewhere"
    (elsewhere / "templates" / "Postgres").mkdir(parents=True)
    run = tmp_path / "run"
    run.mkdir()
    (run / name).symlink_to(elsewhere)
    with pytest.raises(IrregularFileError, match="it is a link"):
        engine().open(run)
    (run / name).unlink()
    (run / name / "templates" / "Postgres").mkdir(parents=True)
    engine().open(run)
    assert not (run / name / "templates" / "Postgres").exists()
    (run / name).joinpath("trial").symlink_to(elsewhere)
    Folder(run).make_empty(f"{name}/trial")
    assert not (run / name / "trial").is_symlink()
    assert (elsewhere / "templates" / "Postgres").is_dir()
