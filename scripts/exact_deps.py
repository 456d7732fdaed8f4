"""Build the kernel of exact runs from Debian's source package, once, into the user's cache: `make
exact-deps`.

The kernel is User-Mode Linux with a clock that the engine owns; its configuration is
`crates/exact/kernel/config`. Nothing of it is committed or shipped. A build that was interrupted
goes on where it was.

A kernel is known by the content of its sources, its configuration and its patches: another revision
of Debian's package with the same files is the same kernel, and is not built again.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bootstrap
import live_deps

ROOT = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "crates" / "exact" / "kernel"
CONFIG = KERNEL / "config"
PATCHES = sorted(KERNEL.glob("*.patch"))
SOURCE_PACKAGE = "linux-source-6.1"
RECORDED_VERSION = "6.1.192-3"
"""Installed where no version is and this one is offered: `tests/exact/digests.json` has the digests
of its kernel."""
PACKAGES = (SOURCE_PACKAGE, "flex", "bison", "bc", "libelf-dev", "gcc", "make", "patch", "xz-utils")
PROGRAMS = ("fio", "iputils-ping", "open-iscsi", "tshark")
"""Packages of what guests run for storage, and of what decodes its captures in the tests; installed
by root only."""
NICENESS = 10
KEY_DIGITS = 16
LEFT_OUT = (
    *(f"*/{name}/*.*" for name in ("Documentation", "LICENSES", "rust")),
    *(f"*/tools/{name}/*" for name in ("testing", "perf")),
    *(
        f"*/drivers/{name}/*.[chS]"
        for name in ("gpu", "media", "staging", "net/ethernet", "net/wireless", "infiniband")
    ),
    *(f"*/drivers/{name}/*.[chS]" for name in ("iio", "usb", "hid", "clk", "pinctrl", "video")),
    *(f"*/{name}/*.[ch]" for name in ("samples", "sound")),
    *(f"*/arch/{name}/*.*" for name in ("[a-tv-wyz]*", "xtensa")),
)
"""Patterns of what no build of User-Mode Linux for x86 reads, two thirds of the source. The
questions of the configuration (Kconfig) stay, because each file of them is read."""
NO_CHECK_OF_EXPORTS = "cmd_check_local_export=:"
"""A script that looks at each object for symbols that it exports to modules; this kernel has
none."""


class BuildError(Exception):
    """A step failed."""


def cache() -> Path:
    """The folder of kernels; the engine looks for the file `linux` in it
    (`crates/exact/src/kernel.rs`)."""
    return bootstrap.user_cache("exact")


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


def key_of(content: str) -> str:
    """The name of a kernel: it changes with the content of the source, the configuration and the
    patches."""
    digest = hashlib.sha256(content.encode())
    for path in (CONFIG, *PATCHES):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:KEY_DIGITS]


def content_of(tree: Path) -> str:
    """The digest of all names and files of an unpacked source, whatever their times are."""
    digest = hashlib.sha256()
    for path in sorted(path for path in tree.rglob("*") if path.is_symlink() or path.is_file()):
        if path.is_symlink():
            found = str(path.readlink())
        else:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(tree)}\0{found}\n".encode())
    return digest.hexdigest()


def unpack(archive: Path, folder: Path) -> str:
    """Unpacks a source into a folder and patches it; returns the digest of its content before
    that."""
    print("exact-deps: unpacking the source", flush=True)
    tree, log = folder / "source", folder / "build.log"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    left_out = [f"--exclude={pattern}" for pattern in LEFT_OUT]
    # Several threads, where the archive has several blocks and xz knows that.
    how = ["--use-compress-program=xz -T0"] if archive.suffix == ".xz" else []
    run(
        ["tar", "--extract", "--strip-components=1", *how, *left_out, f"--file={archive}"],
        tree,
        log,
    )
    content = content_of(tree)
    for patch in PATCHES:
        run(["patch", "-p1", f"--input={patch}"], tree, log)
    (folder / "unpacked").touch()
    return content


def build(folder: Path) -> Path:
    """Builds in a folder with an unpacked source, where an earlier build may have got as far as it
    did; returns the kernel.
    """
    tree, log = folder / "source", folder / "build.log"
    configure(tree, log)
    print("exact-deps: building the kernel (some five minutes on two idle cores)", flush=True)
    jobs = (os.cpu_count() or 1) + 1
    make = ["make", "ARCH=um", NO_CHECK_OF_EXPORTS, f"-j{jobs}", "linux"]
    run(["nice", "-n", str(NICENESS), *make], tree, log)
    return tree / "linux"


def configure(tree: Path, log: Path) -> None:
    """Makes the configuration, and finds what it cannot have."""
    run(["make", "ARCH=um", "allnoconfig"], tree, log)
    run(["scripts/kconfig/merge_config.sh", "-m", ".config", str(CONFIG)], tree, log)
    run(["make", "ARCH=um", "olddefconfig"], tree, log)
    made = set((tree / ".config").read_text(encoding="utf-8").splitlines())
    wanted = [
        line
        for line in CONFIG.read_text(encoding="utf-8").splitlines()
        if line.startswith("CONFIG_")
    ]
    if lacking := [line for line in wanted if line not in made]:
        raise BuildError(
            f"this source cannot have {', '.join(lacking)} (hint: see {CONFIG.relative_to(ROOT)})"
        )


def run(words: list[str], folder: Path, log: Path) -> None:
    """A step of the build; its output goes into the log."""
    with log.open("ab") as output:
        done = subprocess.run(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
        )
    if done.returncode:
        raise BuildError(
            f"{' '.join(words[:3])} failed with status {done.returncode} (hint: see {log})"
        )


def point_to(kernel: Path, link: Path) -> None:
    """The engine takes this kernel from now on."""
    new = link.with_suffix(".new")
    new.unlink(missing_ok=True)
    new.symlink_to(kernel.relative_to(link.parent))
    new.replace(link)


def ensure(archive: Path) -> Path:
    """The kernel of this source, built if it is not there."""
    home = cache()
    (home / "sources").mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with archive.open("rb") as file:
            packed = hashlib.file_digest(file, "sha256").hexdigest()
        partial = home / f"{key_of(packed)}.partial"
        partial.mkdir(exist_ok=True)
        # What an archive contains, by the digest of the archive: it is unpacked for that once.
        known = home / "sources" / key_of(packed)
        is_known = known.exists() and (_kernel(known).exists() or (partial / "unpacked").exists())
        if not is_known:
            content = unpack(archive, partial)
            known.write_text(content, encoding="ascii")
        kernel = _kernel(known)
        if not kernel.exists():
            built = build(partial)
            kernel.parent.mkdir(exist_ok=True)
            shutil.copy2(built, kernel.with_suffix(".new"))
            kernel.with_suffix(".new").replace(kernel)
        point_to(kernel, home / "linux")
        shutil.rmtree(partial, ignore_errors=True)
    return kernel


def _kernel(known: Path) -> Path:
    return cache() / key_of(known.read_text(encoding="ascii")) / "linux"


def install(lacking: list[str]) -> str:
    """Installs packages, the source in the recorded version where it is offered; returns a
    complaint."""
    pinned = [f"{name}={RECORDED_VERSION}" if name == SOURCE_PACKAGE else name for name in lacking]
    complaint = live_deps.install(pinned)
    if complaint and pinned != lacking:
        print(
            f"exact-deps: {SOURCE_PACKAGE} {RECORDED_VERSION} is not offered: the newest instead",
            flush=True,
        )
        complaint = live_deps.install(lacking)
    return complaint


def main() -> int:
    """Installs what the build needs, and builds."""
    parser = argparse.ArgumentParser(prog="exact-deps", description=__doc__)
    parser.add_argument(
        "--source",
        type=Path,
        help=f"an archive of another Linux source, instead of Debian's {SOURCE_PACKAGE}",
    )
    arguments = parser.parse_args()
    needed = PACKAGES if arguments.source is None else PACKAGES[1:]
    is_root = os.geteuid() == 0
    if lacking := missing_packages(needed) + (missing_packages(PROGRAMS) if is_root else []):
        if not is_root:
            print(f"exact-deps: as root, apt-get install {' '.join(lacking)}", file=sys.stderr)
            return 1
        print(f"exact-deps: {' '.join(lacking)}", flush=True)
        if complaint := install(lacking):
            print(f"exact-deps: {complaint}", file=sys.stderr)
            return 1
    source: Path | None = arguments.source
    archive = source.resolve() if source else Path("/usr/src") / f"{SOURCE_PACKAGE}.tar.xz"
    try:
        kernel = ensure(archive)
    except (BuildError, OSError) as error:
        print(f"exact-deps: {error}", file=sys.stderr)
        return 1
    print(f"exact-deps: {kernel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
