"""What is built for an installed package: the wheel carries the fabric, and the sources are whole."""

import tomllib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BACKEND = ROOT / "scripts" / "packaging" / "fabric_backend.py"
CARGO = """#!/bin/sh
mkdir -p "$CARGO_TARGET_DIR/release"
echo "$* $CARGO_PROFILE_RELEASE_STRIP" > "$CARGO_TARGET_DIR/release/tailrace-fabric"
"""


def test_the_backend_builds_the_fabric_where_the_wheel_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(CARGO)
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cargo.parent}:/usr/bin:/bin")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    build_fabric, program = backend(tmp_path / "package" / "tailrace-fabric")
    build_fabric()
    assert program.read_text() == "build --release --locked --package tailrace-fabric true\n"
    assert program.stat().st_mode & 0o111 == 0o111


def backend(program: Path) -> tuple[Callable[[], None], Path]:
    """The backend's own step, with the program somewhere else."""
    spec = spec_from_file_location("fabric_backend", BACKEND)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["PROGRAM"] = program
    build: Callable[[], None] = vars(module)["build_fabric"]
    return build, program


def test_the_project_names_the_backend_and_the_fabric() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    system, maturin = project["build-system"], project["tool"]["maturin"]
    assert (ROOT / system["backend-path"][0] / f"{system['build-backend']}.py") == BACKEND
    assert {"path": "python/tailrace/bin/tailrace-fabric", "format": "wheel"} in maturin["include"]
    assert maturin["sdist-generator"] == "git"
