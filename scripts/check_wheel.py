"""Install the wheel of `dist/` into an empty environment, without a compiler on the path, and use
it.

The environment is outside of the sources, and the path holds nothing but the environment: what the
wheel lacks cannot come from anywhere else. Dependencies come from the package index as wheels.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bootstrap
import exact_deps

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 300
EXACT = ROOT / "tests" / "exact" / "small.yaml"
REFUSED = 2


def main() -> int:
    """Install, run, and say what was seen."""
    [wheel] = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        install(wheel, place / "venv")
        use(place)
    print(f"{wheel.name}: installs and runs without a compiler")
    return 0


def install(wheel: Path, venv: Path) -> None:
    """The wheel and its dependencies, none of which is built here."""
    uv = str(bootstrap.find_uv())
    index = ("--default-index", bootstrap.index_url())
    bare = bootstrap.environment_for_uv() | {"PATH": str(venv / "bin")}
    subprocess.run(
        [uv, "venv", "--quiet", "--python", sys.executable, str(venv)], env=bare, check=True
    )
    chosen = ["--quiet", "--python", str(venv / "bin" / "python"), "--only-binary", ":all:", *index]
    subprocess.run(
        [uv, "pip", "install", *chosen, str(wheel)], env=bare, check=True, timeout=LIMIT_S
    )


def use(place: Path) -> None:
    """A scenario from nothing to its report, from the shell and from Python, and the fabric's own
    program."""
    say(place, "tailrace", "init", "lab.yaml")
    short = ("--trials", "2", "--scale", "0.1", "--set", "expect.0.at_least=-100")
    say(place, "tailrace", "run", "lab.yaml", *short, "--out", "run")
    assert (place / "run" / "report.html").stat().st_size > 0, "the run wrote its report"
    code = "import tailrace; print(tailrace.Result('run').latency('fifo', 'orders').p99_s)"
    assert float(say(place, "python", "-c", code)) > 0
    code = "from tailrace.live.lab.fabric import program; print(program())"
    fabric = say(place, "python", "-c", code).strip()
    assert fabric.startswith(str(place)), f"{fabric} is the program of the wheel"
    assert json.loads(say(place, fabric, "doctor")), "the fabric answers"
    use_exact(place)


def use_exact(place: Path) -> None:
    """An exact run: refused in words without a kernel, which no wheel has; then with the one of
    this machine."""
    shutil.copy(EXACT, place / "small.yaml")
    words = ("run", "small.yaml", "--exact", "--trials", "1", "--scale", "0.3", "--out", "exact")
    refused = answer_of(place, "tailrace", *words)
    assert refused.returncode == REFUSED, refused.stderr
    assert "make exact-deps" in refused.stderr
    kernel = exact_deps.cache() / "linux"
    if kernel.exists():
        say(place, "tailrace", *words, kernel=kernel)
    else:
        print("not run: no exact kernel (make exact-deps)")


def say(place: Path, program: str, *arguments: str, kernel: Path | None = None) -> str:
    """What a program of the environment prints."""
    answer = answer_of(place, program, *arguments, kernel=kernel)
    if answer.returncode != 0:
        command = " ".join((program, *arguments))
        raise SystemExit(
            f"{command}: exit status {answer.returncode}\n{answer.stdout}{answer.stderr}"
        )
    return answer.stdout


def answer_of(
    place: Path, program: str, *arguments: str, kernel: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """How a program of the environment ends."""
    programs = place / "venv" / "bin"
    command = [program if os.sep in program else str(programs / program), *arguments]
    bare = {"PATH": str(programs), "HOME": str(place), "LC_ALL": "C.UTF-8"}
    if kernel is not None:
        bare["TAILRACE_EXACT_KERNEL"] = str(kernel)
    return subprocess.run(
        command, cwd=place, env=bare, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
