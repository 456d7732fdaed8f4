"""The build backend of the package: maturin's, after the programs of live and exact runs were
built.

maturin builds one extension. The programs are executables of their own, which the wheel carries in
`tailrace/bin`, so that `pip install .` gives the same as `make build`.
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
BIN = ROOT / "python" / "tailrace" / "bin"
PROGRAMS = ("tailrace-fabric", "tailrace-exact", "tailrace-traffic")

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_editable = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_wheel
build_sdist = maturin.build_sdist


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """A wheel with the extension and the programs."""
    os.environ["CARGO_PROFILE_DIST_STRIP"] = "true"  # symbols are for debuggers and profilers
    build_programs()
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The same for `pip install --editable .`."""
    build_programs()
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


def build_programs() -> None:
    """The programs, as optimised as the extension. They need Linux; elsewhere the wheel has
    none."""
    if not sys.platform.startswith("linux"):
        return
    packages = [word for name in PROGRAMS for word in ("--package", name)]
    command = ["cargo", "build", "--profile", "dist", "--locked", *packages]
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    subprocess.run(command, cwd=ROOT, check=True)
    BIN.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        shutil.copyfile(target / "dist" / name, BIN / name)
        (BIN / name).chmod(0o755)
