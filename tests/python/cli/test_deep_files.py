"""Files that are nested without end: every reader refuses them at a bounded depth, and says so."""

import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml.scanner import Scanner

from tailrace.cli import main
from tailrace.errors import ScenarioError
from tailrace.experiment.storage import RunDirectory
from tailrace.files import DEPTH_MAX
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.published import read_published
from tailrace.results.directory.run_directory import Run
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.loading import parse_assignment
from tailrace.scenario.text.document import parse_document, read_document

BYTES = 100_000
DEEP = {
    "lists": "[" * BYTES,
    "mappings": "{a: " * (BYTES // 4),
    "both": '[{"a": ' * (BYTES // 7),
    "blocks": "- " * (BYTES // 2),
    "keys": "? " * (BYTES // 2),
    "indented": "\n".join(f"{' ' * depth}a:" for depth in range(440)),
    "aliases": "a0: &a0 [1]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 2000)),
}
SAID = f"nested deeper than {DEPTH_MAX} levels"


@pytest.fixture(params=DEEP)
def deep(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of 100 kB."""
    file = tmp_path / "deep.yaml"
    file.write_text(DEEP[request.param], encoding="utf-8")
    return file


def test_a_scenario_and_host_parameters_have_a_depth(deep: Path) -> None:
    with pytest.raises(ScenarioError, match=SAID):
        read_document(deep)
    with pytest.raises(ScenarioError, match=SAID):
        host_parameters(deep, [deep])


def test_the_work_is_bounded_and_not_only_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    really = Scanner.fetch_flow_collection_start

    def counted(self: Scanner, *arguments: Any) -> None:
        opened.append(1)
        really(self, *arguments)

    monkeypatch.setattr(Scanner, "fetch_flow_collection_start", counted)
    with pytest.raises(ScenarioError, match=r"deep\.yaml:1: YAML: it is"):
        parse_document(DEEP["lists"], "deep.yaml")
    assert len(opened) <= DEPTH_MAX


def test_an_override_has_a_depth() -> None:
    with pytest.raises(ScenarioError, match=SAID):
        parse_assignment("workloads.orders.users=" + DEEP["lists"])


def test_a_scenario_may_be_as_deep_as_that() -> None:
    depth = DEPTH_MAX - 2  # below the key
    place: Any = parse_document(f"name: {'[' * depth}{']' * depth}", "x").data["name"]
    for _ in range(depth - 1):
        [place] = place
    assert place == []


@pytest.mark.parametrize("kind", [kind for kind in DEEP if kind not in ("indented", "aliases")])
def test_published_figures_have_a_depth(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "published.yaml"
    file.write_text(DEEP[kind], encoding="utf-8")
    with pytest.raises(RunDirectoryError, match=SAID):
        read_published(file)


def test_a_run_directory_with_deep_files_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    file.write_text(DEEP["lists"], encoding="utf-8")
    with pytest.raises(RunDirectoryError, match=f"manifest.json: cannot be read: {SAID}"):
        Run.read(tmp_path)
    assert RunDirectory(tmp_path).manifest() is None


@pytest.mark.parametrize("vendor", ["nxos", "sonic"])
@pytest.mark.parametrize("kind", ["lists", "both"])
def test_an_import_of_deep_files_ends_with_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    vendor: str,
    kind: str,
) -> None:
    file = tmp_path / "deep.json"
    file.write_text(DEEP[kind], encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tailrace", "import", vendor, str(file)])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code in ((2,) if vendor == "sonic" else (0, 1, 2))
    assert "itself failed" not in said.err
    assert "Traceback" not in said.err
