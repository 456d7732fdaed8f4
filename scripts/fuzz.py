"""Try changed inputs of every format that is read: each is accepted, or refused with a message that
names the file.

    fuzz.py --minutes 20                     every format in turn; continues where the last call ended
    fuzz.py --minutes 5 --format nxos        one format
    fuzz.py --input nxos FILE                one input: what the program says of it

Inputs are tried in a process of their own with limits of processor time and memory, which is
started again after a crash. What is found is kept in the folder of the state, as the input and the
details beside it. An input whose finding was mended goes to tests/fuzz/findings, in the folder of
its format, where `make test` tries it.
"""  # noqa: E501

import argparse
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import checks
from fuzzing.formats import FORMATS, format_of
from fuzzing.program import Format
from tailrace.files import read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
FINDINGS = ROOT / "tests" / "fuzz" / "findings"
PATHS = os.pathsep.join([str(ROOT / "scripts"), str(checks.CHECKED), str(ROOT / "python")])
"""Where it is built (`scripts/checked.py`), the extension with overflow checks is fuzzed."""
STATE = ROOT / "target" / "nightly"
INPUT_CPU_S_MAX = 16
"""Processor time of one input, shortening it included once it is a finding: then there are many of
them."""
START_CPU_S_MAX = 300
"""To make the seeds and try each."""
WAIT_S_MAX = 300
"""An input that neither ends nor computes waits for something."""
SLICE_S = 30
"""Of a format before the next one has its turn."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
CRASHED, HUNG, WAITING = "the process crashed", "over the limit of processor time", "it waits"


@dataclass
class Progress:
    """What was done of one format, over all calls."""

    next: int = 1
    """Number of the next input: none is tried twice."""
    seconds: float = 0
    findings: dict[str, int] = field(default_factory=dict)
    """Inputs by signature."""


class State:
    """The progress of all formats, in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "fuzz"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = self.folder / "progress.json"
        held = read_json(self._file) if self._file.exists() else {}
        self.of = {one.name: Progress(**held.get(one.name, {})) for one in FORMATS}

    def save(self) -> None:
        """Writes it down."""
        write_json(self._file, {name: asdict(progress) for name, progress in self.of.items()})

    def keep(self, one: Format, signature: str, content: bytes, details: str) -> None:
        """Counts a finding, and keeps the input of a new one."""
        found = self.of[one.name].findings
        found[signature] = found.get(signature, 0) + 1
        if found[signature] == 1:
            path = self.path_of(one, signature)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.with_name(path.name + ".details").write_text(
                f"{signature}\n\n{details}", encoding="utf-8"
            )
            print(f"fuzz: {one.name}: {signature}", flush=True)

    def path_of(self, one: Format, signature: str) -> Path:
        """The input of a finding."""
        name = "".join(
            letter if letter.isalnum() or letter in "-_." else "-" for letter in signature
        )
        return self.folder / "findings" / one.name / f"{name[:80]}{one.suffix}"


class Worker:
    """The process that tries inputs of one format."""

    def __init__(self, one: Format, state: State, scratch: Path) -> None:
        self.scratch = scratch
        self.file = scratch / f"input{one.suffix}"
        command = [sys.executable, "-m", "fuzzing.worker", one.name, str(state.folder.resolve())]
        environment = os.environ | {
            "PYTHONPATH": PATHS,
            "PYTHONHASHSEED": "0",
            "TMPDIR": str(scratch),
        }
        with (scratch / "stderr").open("wb") as err:
            self.process = subprocess.Popen(
                command,
                cwd=scratch,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
                bufsize=1,
                start_new_session=True,
            )

    def answer(self, question: str, cpu_s_max: float) -> dict[str, str]:
        """Asks, and waits for the answer; of a process that ends or hangs, what happened to it.

        The first answer, to no question, says that the process is ready.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if question:
            self.process.stdin.write(question + "\n")
        begun_cpu_s, begun_s = self._cpu_s(), time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not selector.select(timeout=1):
                spent_s, waited_s = self._cpu_s() - begun_cpu_s, time.monotonic() - begun_s
                if spent_s > cpu_s_max:
                    return self._ended(HUNG)
                if waited_s - spent_s > WAIT_S_MAX and not self._is_running():
                    return self._ended(WAITING)
        line = self.process.stdout.readline()
        return dict(json.loads(line)) if line else self._ended(CRASHED)

    def _cpu_s(self) -> float:
        words = self._state()
        return (int(words[11]) + int(words[12])) / TICKS_PER_S

    def _is_running(self) -> bool:
        """Whether it computes, or would on an idle machine."""
        return self._state()[0] == "R"

    def _state(self) -> list[str]:
        """The fields of proc(5) after the name."""
        return (
            Path(f"/proc/{self.process.pid}/stat")
            .read_text(encoding="ascii")
            .rpartition(")")[2]
            .split()
        )

    def _ended(self, what: str) -> dict[str, str]:
        """A finding: with the place in Python where it was."""
        if what != CRASHED:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(0.5)
        self.stop()
        details = (self.scratch / "stderr").read_text(encoding="utf-8", errors="replace")[-6000:]
        places = [
            line.strip()
            for line in details.splitlines()
            if "tailrace/" in line and line.strip().startswith("File")
        ]
        place = (
            places[0].partition("tailrace/")[2] if places else f"status {self.process.returncode}"
        )
        return {"signature": f"{what}: {place.replace(chr(34), '')}", "details": details}

    def stop(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def working(one: Format, state: State) -> Iterator[Worker]:
    """A worker that has begun to try the seeds."""
    with tempfile.TemporaryDirectory(prefix="tailrace-fuzz-") as folder:
        worker = Worker(one, state, Path(folder))
        try:
            yield worker
        finally:
            worker.stop()


def fuzz(one: Format, state: State, seconds: float) -> None:
    """Tries inputs of a format for this long, without the start of the first worker."""
    progress = state.of[one.name]
    end_s = float("inf")
    while time.monotonic() < end_s:
        with working(one, state) as worker:
            begun_s, ready = time.monotonic(), worker.answer("", START_CPU_S_MAX)
            progress.seconds += time.monotonic() - begun_s
            if "ready" not in ready:
                seed = worker.file.read_bytes() if worker.file.exists() else b""
                state.keep(one, f"a seed: {ready['signature']}", seed, ready["details"])
                return
            end_s = min(end_s, time.monotonic() + seconds)
            while time.monotonic() < end_s and worker.process.poll() is None:
                begun_s = time.monotonic()
                answer = worker.answer(str(progress.next), INPUT_CPU_S_MAX)
                progress.next += 1
                progress.seconds += time.monotonic() - begun_s
                if answer:
                    state.keep(
                        one, answer["signature"], worker.file.read_bytes(), answer["details"]
                    )
            state.save()


def try_again(one: Format, state: State) -> None:
    """Forgets the findings that were mended since."""
    found = state.of[one.name].findings
    for signature in list(found):
        path = state.path_of(one, signature)
        if path.exists() and not outcome_of(one, path.read_bytes()):
            del found[signature]
            path.unlink()
            path.with_name(path.name + ".details").unlink(missing_ok=True)


def outcome_of(one: Format, content: bytes) -> str:
    """What is wrong with how the program reads an input, tried in a process of its own; empty for
    nothing."""
    with tempfile.TemporaryDirectory(prefix="tailrace-fuzz-") as folder:
        (Path(folder) / f"input{one.suffix}").write_bytes(content)
        program = (
            "import sys; from pathlib import Path; from fuzzing.formats import format_of;"
            f"print(format_of({one.name!r}).read(Path.cwd() / 'input{one.suffix}'))"
        )
        try:
            done = subprocess.run(
                [sys.executable, "-c", program],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": PATHS, "TMPDIR": folder},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=WAIT_S_MAX,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return WAITING
        return done.stderr[-3000:] or f"status {done.returncode}" if done.returncode else ""


def main() -> int:
    """Exit code 1 for any finding that is not mended."""
    parser = argparse.ArgumentParser(
        prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER")
    parser.add_argument(
        "--format",
        choices=[one.name for one in FORMATS],
        action="append",
        help="only this; repeatable",
    )
    parser.add_argument("--input", nargs=2, metavar=("FORMAT", "FILE"), help="try one input")
    options = parser.parse_args()
    if options.input:
        wrong = outcome_of(format_of(options.input[0]), Path(options.input[1]).read_bytes())
        print(wrong or "no finding")
        return 1 if wrong else 0
    state = State(options.state)
    chosen = [one for one in FORMATS if options.format is None or one.name in options.format]
    for one in chosen:
        try_again(one, state)
    before = {one.name: Progress(**asdict(state.of[one.name])) for one in chosen}
    end_s = time.monotonic() + 60 * options.minutes
    try:
        while (left_s := end_s - time.monotonic()) > 0:
            one = min(chosen, key=lambda one: state.of[one.name].seconds)
            fuzz(one, state, min(SLICE_S, left_s))
    except KeyboardInterrupt:
        print("fuzz: interrupted; the next call continues", file=sys.stderr)
    state.save()
    return summarise(chosen, state, before)


def summarise(chosen: list[Format], state: State, before: dict[str, Progress]) -> int:
    """A row for each format: inputs and seconds of this call and of all, and findings with the
    command that repeats."""
    print(f"{'format':14s} {'inputs':>8s} {'seconds':>8s} {'all':>9s} {'findings':>8s}")
    for one in chosen:
        now, then = state.of[one.name], before[one.name]
        print(
            f"{one.name:14s} {now.next - then.next:8d} {now.seconds - then.seconds:8.0f} "
            f"{now.next - 1:9d} {len(now.findings):8d}"
        )
    found = [(one, signature) for one in chosen for signature in state.of[one.name].findings]
    for one, signature in found:
        print(
            f"{one.name}: {signature}\n    scripts/fuzz.py --input {one.name} "
            f"{state.path_of(one, signature)}"
        )
    inputs = sum(state.of[one.name].next - before[one.name].next for one in chosen)
    print(f"fuzz: {inputs} inputs of {len(chosen)} formats, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
