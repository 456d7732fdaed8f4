"""`make whatif`: the simulator as a WebAssembly module, which the package ships, and what it was
built by.

The module is right as long as it does what the native simulator does:
`tests/python/whatif/test_same_outcomes.py` compares the two, and says when the module has to be
built anew. A release has a module of its own, and the page names its version.
"""

import gzip
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from whatif_toolchain import TARGET, Toolchain, ToolchainError, toolchain

ROOT = Path(__file__).resolve().parent.parent
CRATE = "tailrace-web"
ASSETS = ROOT / "python" / "tailrace" / "whatif" / "assets"
MODULE = ASSETS / "simulator.wasm.gz"
RECORD = ASSETS / "simulator.json"
LIMIT_S = 3600
PROFILE = {
    # As fast as the other levels in a browser, and three quarters of their size.
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "s",
    "CARGO_PROFILE_RELEASE_LTO": "fat",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1",
    "CARGO_PROFILE_RELEASE_PANIC": "abort",
    "CARGO_PROFILE_RELEASE_STRIP": "true",
    "CARGO_PROFILE_RELEASE_DEBUG": "0",
}


def main() -> int:
    """Build the module and its record."""
    try:
        compiler = toolchain()
        built = build(compiler)
        packed = gzip.compress(built.read_bytes(), compresslevel=9, mtime=0)
        record = {"version": version(), "compiler": compiler.version(), "bytes": len(packed)}
    except ToolchainError as error:
        print(f"make whatif: {error}", file=sys.stderr)
        return 1
    MODULE.write_bytes(packed)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(
        f"{MODULE.relative_to(ROOT)}  {len(packed) / 1e6:.2f} MB "
        f"({built.stat().st_size / 1e6:.2f} MB unpacked)"
    )
    return 0


def build(compiler: Toolchain) -> Path:
    """The module, unpacked. It has a build folder of its own, so that no other build is done again
    because of it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "whatif"
    environment = (
        os.environ | PROFILE | dict(compiler.environment) | {"CARGO_TARGET_DIR": str(target)}
    )
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(
        f"--remap-path-prefix={each}" for each in maps(compiler)
    )
    command = [
        compiler.cargo,
        "build",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        CRATE,
        "--target",
        TARGET,
    ]
    done = subprocess.run(
        [*command, *compiler.options], cwd=ROOT, env=environment, check=False, timeout=LIMIT_S
    )
    if done.returncode:
        raise ToolchainError("the compiler refused, see above")
    return target / TARGET / "release" / f"{CRATE.replace('-', '_')}.wasm"


def maps(compiler: Toolchain) -> list[str]:
    """Each path that the compiler could write into a message: of the sources, of the registry, of
    the standard library.

    The last one that fits is taken.
    """
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    folders = {str(Path.home()): "/home", cargo_home: "/cargo", str(ROOT): "/tailrace"}
    if compiler.folder is not None:
        folders[str(compiler.folder)] = "/rust"
    return [f"{old}={new}" for old, new in folders.items()]


def version() -> str:
    """The version of the sources, which the page names."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    return str(workspace["package"]["version"])


if __name__ == "__main__":
    sys.exit(main())
