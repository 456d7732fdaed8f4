"""The compiler of `make whatif`: the machine's own where it has the target, else Debian's, in the
user's cache.

Rustup's toolchain has the standard library of the target only after `rustup target add`, which
needs the network of the Rust project. Debian 12 has a newer compiler, `rustc-web`, and its sources:
they are downloaded by apt-get and unpacked into a folder, without root, and nothing is installed.
Cargo then builds the standard library from these sources.
"""

import fcntl
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bootstrap

ROOT = Path(__file__).resolve().parent.parent
TARGET = "wasm32-unknown-unknown"
RELEASE = "1.96.0+dfsg1-1~deb12u2"
"""The release of Debian's packages with which the recipe was tried; apt-get offers only the latest
security release, so that a newer one is taken where this one is gone.
"""
PACKAGES = ("rustc-web", "cargo-web", "libstd-rust-web-dev", "rust-web-src")
SOURCES_KEPT = "library"
"""Of the sources of the compiler, only the standard library's are used: 100 MB instead of 340."""
LIMIT_S = 600
APT_OPTIONS = {
    "Acquire::http::Timeout": "20",
    "Acquire::Retries": "1",
    "Acquire::Languages": "none",
}
"""A machine without a network is told from a slow one within a minute; translations of lists are
not read."""


class ToolchainError(Exception):
    """What is missing, in words."""


@dataclass(frozen=True)
class Toolchain:
    """How to call cargo so that it compiles for the target."""

    cargo: str
    rustc: str
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    folder: Path | None = None
    """Where it was unpacked; None for the machine's own."""

    def version(self) -> str:
        """The compiler."""
        return _output([self.rustc, "--version"], self.environment).strip()


def toolchain() -> Toolchain:
    """The machine's own when it has the target, else Debian's, which is unpacked when it is not
    there yet."""
    return own() or debian()


def own() -> Toolchain | None:
    """The machine's own, when a program for the target can be linked against a standard library."""
    if shutil.which("cargo") is None or shutil.which("rustc") is None:
        return None
    words = ["rustc", "--print", "target-libdir", "--target", TARGET]
    found = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    has_target = found.returncode == 0 and any(Path(found.stdout.strip()).glob("libstd-*.rlib"))
    return Toolchain("cargo", "rustc") if has_target else None


def debian() -> Toolchain:
    """Debian's packages in the user's cache."""
    home = cache()
    home.mkdir(parents=True, exist_ok=True)
    folder = home / RELEASE
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            partial = home / "partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            unpack(partial, Apt(home / "apt"))
            partial.rename(folder)
            shutil.rmtree(home / "apt")
    return unpacked(folder)


def cache() -> Path:
    """The folder of compilers."""
    return bootstrap.user_cache("whatif")


def unpack(folder: Path, apt: "Apt") -> None:
    """Fills the folder: the compiler, the sources of its standard library, and the linker of the
    same LLVM."""
    print(f"make whatif: this compiler has no {TARGET}: unpacking Debian's (150 MB)", flush=True)
    apt.update()
    apt.extract(apt.needed(PACKAGES), folder)
    compiler = unpacked(folder, linker="")
    said = _output([compiler.rustc, "-vV"], compiler.environment)
    refuse_old(_found(r"^release: (\S+)", said))
    apt.extract(apt.needed((f"lld-{_found(r'^LLVM version: ([0-9]+)', said)}",)), folder)
    for path in folder.glob("usr/src/rustc-*/*/"):
        if path.name != SOURCES_KEPT:
            shutil.rmtree(path)
    shutil.rmtree(folder / "usr" / "share", ignore_errors=True)


def unpacked(folder: Path, linker: str | None = None) -> Toolchain:
    """The toolchain in a folder; without a named linker, the one in it."""
    if linker is None:
        linkers = sorted(folder.glob("usr/lib/llvm-*/bin/wasm-ld"))
        if not linkers:
            raise ToolchainError(
                f"there is no linker in {folder} (hint: remove this folder and try again)"
            )
        linker = str(linkers[-1])
    libraries = [str(path) for path in sorted((folder / "usr" / "lib").glob("*-linux-gnu*"))]
    environment = {
        "RUSTC": str(folder / "usr" / "bin" / "rustc"),
        "LD_LIBRARY_PATH": os.pathsep.join(
            [*libraries, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        ),
        # A stable compiler builds its standard library only when it is told that it may.
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": linker,
    }
    options = ("-Zbuild-std=std,panic_abort",)
    return Toolchain(
        str(folder / "usr" / "bin" / "cargo"), environment["RUSTC"], environment, options, folder
    )


def refuse_old(release: str) -> None:
    """The compiler must be at least that of `rust-version`."""
    needed = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"][
        "package"
    ]["rust-version"]
    if _numbers(release) < _numbers(needed):
        raise ToolchainError(f"Debian's rustc-web is {release}; the simulator needs {needed}")


class Apt:
    """apt-get and its tools with lists of their own: root is not needed, and no list of the machine
    is too old."""

    def __init__(self, folder: Path) -> None:
        if missing := [name for name in ("apt-get", "dpkg-deb") if shutil.which(name) is None]:
            raise ToolchainError(
                f"the compiler has no standard library for {TARGET}, and there is no {missing[0]} "
                f"to get one (hint: rustup target add {TARGET})"
            )
        self.folder = folder
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        own = {
            "Dir::State::Lists": str(folder / "lists"),
            "Dir::Cache": str(folder),
            "APT::Sandbox::User": "",
        }
        self.options = [f"--option={key}={value}" for key, value in (APT_OPTIONS | own).items()]

    def update(self) -> None:
        """Reads the lists anew. A source that does not answer is of no account when another one has
        the packages."""
        done = self._run("update")
        if done.returncode:
            print(f"make whatif: apt-get update: {_complaint(done)}", flush=True)

    def needed(self, names: Sequence[str]) -> list[str]:
        """These packages, and what they depend on that is not installed, as `name=version`."""
        done = self._simulated([f"{name}={RELEASE}" for name in names])
        if done.returncode:
            done = self._simulated(names)
        if done.returncode:
            raise ToolchainError(
                f"apt-get has no {', '.join(names)}: {_complaint(done)} (hint: rustup target add "
                f"{TARGET}, or Debian 12 with its security updates among apt's sources)"
            )
        found = re.findall(r"^Inst (\S+) (?:\[[^\]]*\] )?\((\S+) ", done.stdout, flags=re.MULTILINE)
        return [f"{name}={version}" for name, version in found]

    def _simulated(self, names: Sequence[str]) -> subprocess.CompletedProcess[str]:
        # Reinstalled, so that what is installed already is named too.
        return self._run("install", "--simulate", "--reinstall", "--no-install-recommends", *names)

    def extract(self, packages: Sequence[str], folder: Path) -> None:
        """Downloads packages and unpacks them into the folder."""
        archives = self.folder / "archives"
        done = self._run("download", *packages, cwd=archives)
        if done.returncode:
            raise ToolchainError(f"apt-get download: {_complaint(done)}")
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run(
                ["dpkg-deb", "--extract", str(archive), str(folder)], check=True, timeout=LIMIT_S
            )
            archive.unlink()

    def _run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"LC_ALL": "C"}
        command = ["apt-get", "--quiet", *self.options, *words]
        return subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    said = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
    return said[-1] if said else f"status {done.returncode}"


def _output(words: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        words,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    if done.returncode:
        raise ToolchainError(f"{' '.join(words)}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, flags=re.MULTILINE)
    if match is None:
        raise ToolchainError(f"the compiler does not tell {pattern}: {text[:300]}")
    return match[1]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:2])
