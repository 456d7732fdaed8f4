"""A run keeps the recordings of its scenario, and can be repeated without the files that the
scenario named."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import tailrace
from command_line import tailrace as command
from tailrace.cli.advising import scenario_of
from tailrace.errors import RunRefusedError
from tailrace.experiment.recordings import copy_recordings, recordings_of
from tailrace.files import read_json
from tailrace.outcome.run_files import RunFiles
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.workloads.recording import Recorded, recording_text
from trial_files import read_trial

REQUESTS = [Recorded(0, 0, 200, 300_000, 18_000), Recorded(2_000_000, 1_000_000, 60, 0, 40)]
OTHERS = [Recorded(0, 0, 10, 0, 100)]
TEXT = """\
tailrace: 1
name: kept                            # the capture of a night
network: {topology: {kind: star, hosts: [a, b]}}
workloads:
  one: {kind: replay, client: a, server: b, file: &file night.csv}  # as recorded
  two:
    kind: replay
    client: b
    server: a
    file: *file
arms:
  base: {}
  later: {workloads.one.file: "more/night.csv"}
experiment: {trials: 1, duration: 20ms}
"""


def scenario(folder: Path) -> Path:
    (folder / "more").mkdir()
    (folder / "night.csv").write_text(recording_text([REQUESTS]))
    (folder / "more" / "night.csv").write_text(recording_text([OTHERS]))
    path = folder / "s.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose scenario and recordings are gone."""
    folder = tmp_path_factory.mktemp("recorded")
    place = tailrace.run(scenario(folder), out=tmp_path_factory.mktemp("runs") / "kept").path
    shutil.rmtree(folder)
    return place


def test_each_recording_is_there_once_with_its_hash(run: Path) -> None:
    told = read_json(run / "manifest.json")["recordings"]
    for one, requests in zip(told, (REQUESTS, OTHERS), strict=True):
        content = (run / one["file"]).read_bytes()
        assert content.decode() == recording_text([requests])
        assert hashlib.sha256(content).hexdigest() == one["sha256"]
        assert one["source"].endswith("night.csv")
    assert len(list((run / "recordings").iterdir())) == 2


def test_the_scenario_of_the_run_names_them_and_is_otherwise_as_written(run: Path) -> None:
    first, second = (one["file"] for one in read_json(run / "manifest.json")["recordings"])
    expected = TEXT.replace('"more/night.csv"', f'"{second}"').replace(
        "&file night.csv", f'&file "{first}"'
    )
    assert (run / "scenario.yaml").read_text() == expected


@pytest.mark.parametrize("name", ["", "scenario.yaml", "scenario.json"])
def test_the_run_is_repeated_without_the_capture(name: str, run: Path, tmp_path: Path) -> None:
    done = command("run", str(run / name), "--out", str(tmp_path / "again"))
    assert done.returncode == 0, done.stderr
    for arm in ("base", "later"):
        first, again = (
            read_trial(place / "trials" / arm / "1.json")["digest"]
            for place in (run, tmp_path / "again")
        )
        assert first == again
    assert (
        read_json(run / "manifest.json")["identity"]
        == read_json(tmp_path / "again" / "manifest.json")["identity"]
    )
    names = {file.name for file in (run / "recordings").iterdir()}
    assert {file.name for file in (tmp_path / "again" / "recordings").iterdir()} == names


def test_advice_about_the_run_has_the_recording(run: Path) -> None:
    assert scenario_of([run], None).scenario.workloads["one"].work() == len(REQUESTS)


def test_a_recording_that_has_changed_is_refused(tmp_path: Path) -> None:
    kept = recordings_of(load_scenario(scenario(tmp_path)))
    (tmp_path / "night.csv").write_text(recording_text([OTHERS]))
    with pytest.raises(
        RunRefusedError, match=r"night\.csv: the file has changed since it was read"
    ):
        copy_recordings(kept, RunFiles(tmp_path / "run"))


def test_runs_without_recordings_have_no_folder_for_them(tmp_path: Path) -> None:
    data = {
        "tailrace": 1,
        "name": "none",
        "network": {"topology": {"kind": "star", "hosts": ["a", "b"]}},
        "workloads": {"one": {"kind": "stream", "source": "a", "destination": "b", "size": "1kB"}},
        "experiment": {"trials": 1, "duration": "20ms"},
    }
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps(data))
    place = tailrace.run(path, out=tmp_path / "run").path
    assert not (place / "recordings").exists()
    assert "recordings" not in read_json(place / "manifest.json")
    assert (place / "scenario.yaml").read_bytes() == path.read_bytes()
