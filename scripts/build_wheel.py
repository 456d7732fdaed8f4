"""`make wheel`: the source distribution and, from it, a wheel that older Linux systems run as well,
into `dist/`.

The wheel is built from the unpacked source distribution, so that the sources are proved to be
complete. Both the extension and the programs of live and exact runs are linked by zig against the C
library of the stated manylinux level: they run wherever that or a newer one is.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import bootstrap
from build import PROGRAMS

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TOOLS = ROOT / ".bootstrap" / "wheel"
"""The environment of the lock file's group `wheel`."""
TARGET = ROOT / "target" / "manylinux"
GLIBC = (2, 17)
"""CentOS 7, Debian 8 and everything after them: the oldest that Rust's standard library runs on."""


def main() -> int:
    """Build both and print their paths."""
    if platform.system() != "Linux":
        print(
            f"make wheel: manylinux wheels are built on Linux, and this is {platform.system()}",
            file=sys.stderr,
        )
        return 1
    try:
        bootstrap.install_locked(bootstrap.find_uv(), TOOLS, "--only-group", "wheel")
    except bootstrap.SetUpError as error:
        print(f"make wheel: {error}", file=sys.stderr)
        return 1
    shutil.rmtree(DIST, ignore_errors=True)
    run(ROOT, "maturin", "sdist", "--out", str(DIST))
    [sdist] = DIST.glob("*.tar.gz")
    source = unpacked(sdist)
    build_programs(source)
    level = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"
    options = (
        "--profile",
        "dist",
        "--locked",
        "--zig",
        "--compatibility",
        level,
        "--interpreter",
        sys.executable,
    )
    run(source, "maturin", "build", *options, "--out", str(DIST))
    for made in sorted(DIST.iterdir()):
        print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")
    return 0


def unpacked(sdist: Path) -> Path:
    """The folder of an unpacked source distribution."""
    place = TARGET / "source"
    shutil.rmtree(place, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    [folder] = place.iterdir()
    # The archive dates all files long ago: cargo would take what was built of an earlier version
    # for theirs.
    for path in folder.rglob("*"):
        path.touch()
    return folder


def build_programs(source: Path) -> None:
    """The programs of these sources, where the wheel takes them from."""
    triple = f"{platform.machine()}-unknown-linux-gnu"
    level = f"{triple}.{GLIBC[0]}.{GLIBC[1]}"
    packages = [word for name in PROGRAMS for word in ("--package", name)]
    run(source, "cargo", "zigbuild", "--profile", "dist", "--locked", *packages, "--target", level)
    place = source / "python" / "tailrace" / "bin"
    place.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        shutil.copyfile(TARGET / triple / "dist" / name, place / name)
        (place / name).chmod(0o755)


def run(folder: Path, *command: str) -> None:
    """One command with the tools of the group before those of the machine."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")
    }
    environment |= {
        "PATH": f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_PROFILE_DIST_STRIP": "true",
    }
    subprocess.run(command, cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
