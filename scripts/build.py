"""`make build`: the extension and the programs of live and exact runs, in one run of cargo,
installed into `.venv`.

They are built side by side, because each is linked by one processor; then maturin, which finds the
extension built, installs the package so that it is imported from `python/`. `--profile dist` builds
as wheels are built, which takes longer and is faster by some per cent: `make bench`. Durations go
where those of the checks are.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import checks

ROOT = checks.ROOT
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
PROGRAMS = ("tailrace-fabric", "tailrace-exact", "tailrace-traffic")
ALL = (
    "--workspace",
    "--lib",
    "--bins",
    "--exclude",
    "tailrace-web",
    "--exclude",
    "tailrace-parity",
    "--locked",
    "--quiet",
)
"""The extension and the programs, with the features that the crates have in tests of all of
them."""
BIN = ROOT / "python" / "tailrace" / "bin"
LOG = ROOT / ".bootstrap" / "build.log"


def main() -> int:
    """Build and install."""
    parser = argparse.ArgumentParser(prog="build", description=__doc__)
    parser.add_argument("--profile", default="release", help="cargo's profile: release or dist")
    profile = parser.parse_args().profile
    compiled = step("simulator and programs", "cargo", "build", "--profile", profile, *ALL)
    if status := compiled or install(profile):
        return status
    put_programs(TARGET / profile)
    return 0


def put_programs(folder: Path) -> None:
    """The programs of a build into the package."""
    BIN.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        # A program that runs keeps its file.
        (BIN / name).unlink(missing_ok=True)
        shutil.copy2(folder / name, BIN / name)


def install(profile: str) -> int:
    """The package into `.venv`, with the extension of a profile; returns an exit code."""
    return step(
        "package into .venv",
        "maturin",
        "develop",
        "--uv",
        "--profile",
        profile,
        "--locked",
        "--quiet",
    )


def step(what: str, *command: str) -> int:
    """One command, which prints only when it fails; returns its exit code."""
    environment = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"} | {
        "VIRTUAL_ENV": str(ROOT / ".venv"),
        "UV_OFFLINE": "1",
        "PYO3_PYTHON": str(ROOT / ".venv" / "bin" / "python"),
        "PATH": os.pathsep.join(
            [str(ROOT / ".bootstrap" / "bin"), str(ROOT / ".venv" / "bin"), os.environ["PATH"]]
        ),
    }
    print(f"build: {what}", flush=True)
    started = time.monotonic()
    with LOG.open("wb") as output:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, check=False
        )
    if done.returncode:
        sys.stderr.write(LOG.read_text(encoding="utf-8", errors="replace"))
    checks.append_durations(
        {"kind": "build", "name": what, "seconds": round(time.monotonic() - started, 1)}
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
