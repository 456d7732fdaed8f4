"""The build backend of the package: maturin's, after the live fabric was built.

maturin builds one extension. The fabric is a program of its own, which the wheel carries in `tailrace/bin`, so that
`pip install .` gives the same as `make build`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin  # type: ignore[import-untyped]  # it has no annotations

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "python" / "tailrace" / "bin" / "tailrace-fabric"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_editable = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_wheel
build_sdist = maturin.build_sdist


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """A wheel with the extension and the fabric."""
    build_fabric()
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """The same for `pip install --editable .`."""
    build_fabric()
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


def build_fabric() -> None:
    """The live fabric, without the symbols that only a debugger reads. It needs Linux; elsewhere the wheel has none."""
    if not sys.platform.startswith("linux"):
        return
    command = ["cargo", "build", "--release", "--locked", "--package", "tailrace-fabric"]
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    environment = os.environ | {"CARGO_PROFILE_RELEASE_STRIP": "true"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(target / "release" / PROGRAM.name, PROGRAM)
    PROGRAM.chmod(0o755)
