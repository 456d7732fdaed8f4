"""Build the kernel of exact runs from Debian's source package, once, into the user's cache: `make exact-deps`.

The kernel is User-Mode Linux with a clock that the engine owns; its configuration is `crates/exact/kernel/config`.
Nothing of it is committed or shipped. A build that was interrupted goes on where it was.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import live_deps

ROOT = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "crates" / "exact" / "kernel"
CONFIG = KERNEL / "config"
PATCHES = sorted(KERNEL.glob("*.patch"))
SOURCE_PACKAGE = "linux-source-6.1"
PACKAGES = (SOURCE_PACKAGE, "flex", "bison", "bc", "libelf-dev", "gcc", "make", "patch", "xz-utils")
PROGRAMS = ("fio", "open-iscsi", "tshark")
"""Packages of what guests run for storage, and of what decodes its captures in the tests; installed by root only."""
NICENESS = 10
KEY_DIGITS = 16


class BuildError(Exception):
    """A step failed."""


def cache() -> Path:
    """The folder of kernels; the engine looks for the file `linux` in it (`crates/exact/src/kernel.rs`)."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".cache"
    return base / "tailrace" / "exact"


def missing_packages(packages: tuple[str, ...] = PACKAGES) -> list[str]:
    """Packages that are not installed."""
    return [name for name in packages if not version_of(name)]


def version_of(package: str) -> str:
    """The installed version of a package; empty when it is not installed."""
    words = ["dpkg-query", "--show", "--showformat=${db:Status-Abbrev} ${Version}", package]
    try:
        answer = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return ""
    status, _, version = answer.stdout.partition(" ")
    return version.strip() if status.strip() == "ii" else ""


def key_of(version: str) -> str:
    """The name of a kernel: it changes with the source, the configuration and the patches."""
    digest = hashlib.sha256(version.encode())
    for path in (CONFIG, *PATCHES):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:KEY_DIGITS]


def build(archive: Path, folder: Path) -> Path:
    """Builds in a folder, where an earlier build may have got as far as it did; returns the kernel."""
    tree = folder / "source"
    log = folder / "build.log"
    if not (folder / "unpacked").exists():
        print("exact-deps: unpacking the source", flush=True)
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        run(["tar", "--extract", "--strip-components=1", f"--file={archive}"], tree, log)
        for patch in PATCHES:
            run(["patch", "-p1", f"--input={patch}"], tree, log)
        (folder / "unpacked").touch()
    configure(tree, log)
    print("exact-deps: building the kernel (five minutes on two idle cores)", flush=True)
    jobs = os.cpu_count() or 1
    run(["nice", "-n", str(NICENESS), "make", "ARCH=um", f"-j{jobs}", "linux"], tree, log)
    return tree / "linux"


def configure(tree: Path, log: Path) -> None:
    """Makes the configuration, and finds what it cannot have."""
    run(["make", "ARCH=um", "allnoconfig"], tree, log)
    run(["scripts/kconfig/merge_config.sh", "-m", ".config", str(CONFIG)], tree, log)
    run(["make", "ARCH=um", "olddefconfig"], tree, log)
    made = set((tree / ".config").read_text(encoding="utf-8").splitlines())
    wanted = [line for line in CONFIG.read_text(encoding="utf-8").splitlines() if line.startswith("CONFIG_")]
    if lacking := [line for line in wanted if line not in made]:
        raise BuildError(f"this source cannot have {', '.join(lacking)} (hint: see {CONFIG.relative_to(ROOT)})")


def run(words: list[str], folder: Path, log: Path) -> None:
    """A step of the build; its output goes into the log."""
    with log.open("ab") as output:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(words[:3])} failed with status {done.returncode} (hint: see {log})")


def point_to(kernel: Path, link: Path) -> None:
    """The engine takes this kernel from now on."""
    new = link.with_suffix(".new")
    new.unlink(missing_ok=True)
    new.symlink_to(kernel.relative_to(link.parent))
    new.replace(link)


def ensure(archive: Path, version: str) -> Path:
    """The kernel of this source, built if it is not there."""
    home = cache()
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kernel = home / key_of(version) / "linux"
        if not kernel.exists():
            partial = home / f"{key_of(version)}.partial"
            partial.mkdir(exist_ok=True)
            built = build(archive, partial)
            kernel.parent.mkdir(exist_ok=True)
            shutil.copy2(built, kernel.with_suffix(".new"))
            kernel.with_suffix(".new").replace(kernel)
        point_to(kernel, home / "linux")
        shutil.rmtree(home / f"{key_of(version)}.partial", ignore_errors=True)
    return kernel


def main() -> int:
    """Installs what the build needs, and builds."""
    parser = argparse.ArgumentParser(prog="exact-deps", description=__doc__)
    parser.add_argument(
        "--source", type=Path, help=f"an archive of another Linux source, instead of Debian's {SOURCE_PACKAGE}"
    )
    arguments = parser.parse_args()
    needed = PACKAGES if arguments.source is None else PACKAGES[1:]
    is_root = os.geteuid() == 0
    if lacking := missing_packages(needed) + (missing_packages(PROGRAMS) if is_root else []):
        if not is_root:
            print(f"exact-deps: as root, apt-get install {' '.join(lacking)}", file=sys.stderr)
            return 1
        print(f"exact-deps: {' '.join(lacking)}", flush=True)
        if complaint := live_deps.install(lacking):
            print(f"exact-deps: {complaint}", file=sys.stderr)
            return 1
    if arguments.source is None:
        archive, version = Path("/usr/src") / f"{SOURCE_PACKAGE}.tar.xz", version_of(SOURCE_PACKAGE)
    else:
        archive = arguments.source.resolve()
        version = hashlib.sha256(archive.read_bytes()).hexdigest()
    try:
        kernel = ensure(archive, version)
    except (BuildError, OSError) as error:
        print(f"exact-deps: {error}", file=sys.stderr)
        return 1
    print(f"exact-deps: {kernel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
