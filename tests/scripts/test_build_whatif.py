"""The WebAssembly module that the package ships is of these sources, and the recipe notices when it is not."""

import json
from pathlib import Path

import pytest

import build_whatif


def test_the_module_is_of_these_sources() -> None:
    assert build_whatif.check() == 0, "after a change of the simulator: make whatif"


def test_another_module_and_other_sources_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = json.loads(build_whatif.RECORD.read_text(encoding="utf-8"))
    (tmp_path / "record.json").write_text(json.dumps(record | {"sources": "0"}), encoding="utf-8")
    monkeypatch.setattr(build_whatif, "RECORD", tmp_path / "record.json")
    with pytest.raises(build_whatif.BuildError, match="other sources"):
        build_whatif.check()
    (tmp_path / "record.json").write_text(json.dumps(record | {"module": "0"}), encoding="utf-8")
    with pytest.raises(build_whatif.BuildError, match="is not the module"):
        build_whatif.check()
    monkeypatch.setattr(build_whatif, "MODULE", tmp_path / "none")
    with pytest.raises(build_whatif.BuildError, match="no module yet"):
        build_whatif.check()


def test_all_crates_that_the_simulator_is_made_of_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build_whatif.sources()
    import shutil

    for name in ("Cargo.lock", "crates"):
        source = build_whatif.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    monkeypatch.setattr(build_whatif, "ROOT", tmp_path)
    assert build_whatif.sources() == before, "the place does not matter"
    for crate, counts in (("dataplane", True), ("units", True), ("web", True), ("fabric", False), ("bindings", False)):
        file = tmp_path / "crates" / crate / "src" / "lib.rs"
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "// another line\n", encoding="utf-8")
        assert (build_whatif.sources() != before) is counts, crate
        file.write_text(text, encoding="utf-8")
