"""What is built for an installed package: the wheel carries the programs, and the sources are
whole."""

import tomllib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BACKEND = ROOT / "scripts" / "packaging" / "programs_backend.py"
CARGO = """#!/bin/sh
mkdir -p "$CARGO_TARGET_DIR/dist"
for name in fabric exact traffic; do
  echo "$name: $*" > "$CARGO_TARGET_DIR/dist/tailrace-$name"
done
"""
PROGRAMS = ("tailrace-fabric", "tailrace-exact", "tailrace-traffic")


def test_the_backend_builds_the_programs_where_the_wheel_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(CARGO)
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cargo.parent}:/usr/bin:/bin")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    backend(tmp_path / "package")()
    packages = " ".join(f"--package {name}" for name in PROGRAMS)
    for name in PROGRAMS:
        program = tmp_path / "package" / name
        short = name.removeprefix("tailrace-")
        assert program.read_text() == f"{short}: build --profile dist --locked {packages}\n"
        assert program.stat().st_mode & 0o111 == 0o111


def backend(place: Path) -> Callable[[], None]:
    """The backend's own step, with the programs somewhere else."""
    spec = spec_from_file_location("programs_backend", BACKEND)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["BIN"] = place
    build: Callable[[], None] = vars(module)["build_programs"]
    return build


def test_the_project_names_the_backend_and_the_programs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    system, maturin = project["build-system"], project["tool"]["maturin"]
    assert (ROOT / system["backend-path"][0] / f"{system['build-backend']}.py") == BACKEND
    for name in PROGRAMS:
        assert {"path": f"python/tailrace/bin/{name}", "format": "wheel"} in maturin["include"]
    assert maturin["sdist-generator"] == "git"
