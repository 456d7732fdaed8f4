"""`make whatif`: the simulator as a WebAssembly module, which the package ships, and what it was built from.

`build_whatif.py` builds it; `build_whatif.py --check` says whether the module that is there is of these sources, and
needs no compiler. The same sources and compiler give the same bytes: paths are taken out, and the archive has no time.
"""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATE = "tailrace-web"
TARGET = "wasm32-unknown-unknown"
ASSETS = ROOT / "python" / "tailrace" / "whatif" / "assets"
MODULE = ASSETS / "simulator.wasm.gz"
RECORD = ASSETS / "simulator.json"
LIMIT_S = 1800
PROFILE = {
    # As fast as the other levels in a browser, and three quarters of their size.
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "s",
    "CARGO_PROFILE_RELEASE_LTO": "fat",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1",
    "CARGO_PROFILE_RELEASE_PANIC": "abort",
    "CARGO_PROFILE_RELEASE_STRIP": "true",
    "CARGO_PROFILE_RELEASE_DEBUG": "0",
}


class BuildError(Exception):
    """What is missing, in words."""


def main(arguments: list[str]) -> int:
    """Build, or check."""
    try:
        return check() if arguments == ["--check"] else build()
    except BuildError as error:
        print(f"make whatif: {error}", file=sys.stderr)
        return 1


def check() -> int:
    """Whether the module is there, whole, and of these sources."""
    if not RECORD.exists() or not MODULE.exists():
        raise BuildError("there is no module yet (hint: make whatif)")
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if hashlib.sha256(MODULE.read_bytes()).hexdigest() != record["module"]:
        raise BuildError(f"{MODULE.name} is not the module of {RECORD.name} (hint: make whatif)")
    if sources() != record["sources"]:
        raise BuildError("the module was built from other sources of the simulator (hint: make whatif)")
    return 0


def build() -> int:
    """The module, with the standard library that rustup or the distribution has for the target."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if not has_target():
        raise BuildError(
            f"the compiler has no standard library for {TARGET}"
            f" (hint: rustup target add {TARGET}, or the packages libstd-rust-dev-wasm32 and lld)"
        )
    # Each path that the compiler could write into a message: of the sources, of the registry, of the standard library.
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    maps = [(str(ROOT), "/tailrace"), (cargo_home, "/cargo"), (str(Path.home()), "/home")]
    flags = [f"--remap-path-prefix={old}={new}" for old, new in reversed(maps)]
    environment = os.environ | PROFILE | {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)}
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", CRATE, "--target", TARGET]
    done = subprocess.run(command, cwd=ROOT, env=environment, timeout=LIMIT_S)
    if done.returncode:
        raise BuildError("the compiler refused, see above")
    built = target / TARGET / "release" / f"{CRATE.replace('-', '_')}.wasm"
    packed = gzip.compress(built.read_bytes(), compresslevel=9, mtime=0)
    MODULE.write_bytes(packed)
    record = {
        "sources": sources(),
        "module": hashlib.sha256(packed).hexdigest(),
        "compiler": version(),
        "bytes": len(packed),
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{MODULE.relative_to(ROOT)}  {len(packed) / 1e6:.2f} MB ({built.stat().st_size / 1e6:.2f} MB unpacked)")
    return 0


def has_target() -> bool:
    """Whether a program for the target can be linked against a standard library."""
    if shutil.which("rustc") is None:
        return False
    found = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", TARGET], capture_output=True, text=True, timeout=60
    )
    return found.returncode == 0 and any(Path(found.stdout.strip()).glob("libstd-*.rlib"))


def version() -> str:
    """The compiler."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def sources() -> str:
    """Hash of everything that the module is made from: the crates, their dependencies' versions, and this recipe."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    by_name = {package["name"]: package for package in packages}
    wanted, crates = [CRATE], set()
    while wanted:
        name = wanted.pop()
        if name not in crates:
            crates.add(name)
            wanted += [line.split(" ")[0] for line in by_name[name].get("dependencies", [])]
    hashed = hashlib.sha256(json.dumps(PROFILE, sort_keys=True).encode())
    for name in sorted(crates):
        package = by_name[name]
        if not name.startswith("tailrace-"):
            hashed.update(f"{name} {package['version']}\n".encode())
            continue
        folder = ROOT / "crates" / name.removeprefix("tailrace-")
        for file in sorted([folder / "Cargo.toml", *(folder / "src").rglob("*.rs")]):
            hashed.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return hashed.hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
