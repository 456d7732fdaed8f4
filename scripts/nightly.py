"""What runs for as long as one likes, and finds what no list of tests has: `make nightly`.

    nightly.py --minutes 60                  all stages, each for its share of the time
    nightly.py --minutes 10 --only fuzz      one stage

Each stage is a program with the options `--minutes` and `--state`. It keeps its progress in the
folder of the state, so that an interrupted call is continued by the next one and nothing is done
twice; its last line says how much it did; its exit code is 0, 1 for a finding, 2 when it could not
run. The stage that lacks most of its share runs first. Before the first, the extension with
overflow checks is built, which fuzzing takes.

The exit code is 1 for a finding, also one of an earlier call that is not mended, and for a stage
that could not run.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tailrace.files import make_folder, read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / "target" / "nightly"
DONE, FOUND = 0, 1


@dataclass(frozen=True)
class Stage:
    """One of the programs."""

    name: str
    program: str
    share: float
    """Of the time."""
    what: str


STAGES = (
    Stage(
        "fuzz",
        "fuzz.py",
        0.25,
        "changed inputs of 22 formats; what imports write is checked and simulated",
    ),
    Stage("damages", "damages.py", 0.10, "damaged run directories, read and repaired"),
    Stage(
        "random",
        "random_cases.py",
        0.15,
        "tests with random cases, with other seeds and full counts",
    ),
    Stage("faults", "mutate.py", 0.20, "deliberate errors of modelling that tests must notice"),
    Stage(
        "verdicts",
        "verdicts.py",
        0.15,
        "scenarios on real kernels in virtual time beside the simulator",
    ),
    Stage(
        "coverage",
        "coverage.py",
        0.15,
        "how often intervals of simulated trials cover the truth, and equal arms are told apart",
    ),
)


@dataclass(frozen=True)
class Ended:
    """How a stage ended."""

    stage: Stage
    code: int
    seconds: float
    last_line: str

    @property
    def verdict(self) -> str:
        """In a word or two."""
        return {DONE: "no finding", FOUND: "FINDINGS"}.get(self.code, "NOT RUN")


def main() -> int:
    """Runs the stages, and prints what each did."""
    parser = argparse.ArgumentParser(
        prog="nightly", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument(
        "--only", choices=[stage.name for stage in STAGES], action="append", help="repeatable"
    )
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER")
    options = parser.parse_args()
    make_folder(options.state)
    if status := subprocess.run(
        [sys.executable, "scripts/checked.py"], cwd=ROOT, check=False
    ).returncode:
        print(f"nightly: the build for tests ended with {status}", file=sys.stderr)
        return 1
    chosen = [stage for stage in STAGES if options.only is None or stage.name in options.only]
    return summarise(run_all(chosen, 60 * options.minutes, options.state), len(chosen))


def run_all(stages: list[Stage], seconds: float, folder: Path) -> list[Ended]:
    """Runs the stages one after the other; what one does not use is for those after it."""
    file = folder / "stages.json"
    spent: dict[str, float] = read_json(file) if file.exists() else {}
    waiting = sorted(stages, key=lambda stage: spent.get(stage.name, 0) / stage.share)
    end_s, ended = time.monotonic() + seconds, []
    while waiting:
        left_s = max(0.0, end_s - time.monotonic())
        part_s = left_s * waiting[0].share / sum(stage.share for stage in waiting)
        try:
            one = run(waiting.pop(0), part_s, folder)
        except KeyboardInterrupt:
            print("nightly: interrupted; the next call continues", file=sys.stderr)
            break
        ended.append(one)
        spent[one.stage.name] = spent.get(one.stage.name, 0) + one.seconds
        write_json(file, spent)
    return ended


def run(stage: Stage, seconds: float, folder: Path) -> Ended:
    """Runs one, and passes on what it prints. An interrupt reaches it too: it saves its progress
    and ends."""
    print(f"\n=== {stage.name}: {stage.what}, {seconds / 60:.1f} min", flush=True)
    command = [sys.executable, str(ROOT / "scripts" / stage.program)]
    command += ["--minutes", f"{seconds / 60:.3f}", "--state", str(folder)]
    begun_s, last_line = time.monotonic(), ""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                last_line = line.strip() or last_line
        except KeyboardInterrupt:  # what it says while it ends
            print(process.stdout.read(), end="", flush=True)
            raise
    return Ended(stage, process.returncode, time.monotonic() - begun_s, last_line)


def summarise(ended: list[Ended], stages: int) -> int:
    """A line for each stage; the last one is the verdict, in which stages that an interrupt left
    out are not good."""
    print("\n=== nightly")
    for one in ended:
        print(f"  {one.stage.name:9s} {one.seconds:7.0f} s  {one.verdict:10s}  {one.last_line}")
    good = sum(one.code == DONE for one in ended)
    print(f"nightly: {good} of {stages} stages without a finding", flush=True)
    return 0 if good == stages else 1


if __name__ == "__main__":
    sys.exit(main())
