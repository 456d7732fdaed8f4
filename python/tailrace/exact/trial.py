"""One exact trial: the engine's process, its progress, and its outcome with typed tables."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from tailrace.exact import program
from tailrace.exact.load import programs_file
from tailrace.exact.program import ExactError
from tailrace.exact.real import RealPrograms
from tailrace.experiment.engine import read_plan
from tailrace.experiment.native import Cancelled, Columns, Ran, column
from tailrace.files import write_text
from tailrace.folder import Folder
from tailrace.outcome.types import Outcome
from tailrace.programs.errors import ProgramError
from tailrace.programs.templates import Stock

END_LIMIT_S = 20
"""Time limit for the engine's end after the request."""


PROGRESS = '{"progress"'
"""Beginning of a line about the progress of the trial."""


class Progress(msgspec.Struct):
    """How far a trial is, 0 to 1."""

    progress: float


class Answer(Outcome, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The outcome of a trial, with its tables."""

    tables: dict[str, dict[str, tuple[str, list[int | float]]]]
    """By name the columns, and of each column its type and its values."""


class Cores:
    """Numbers of cores: trials at the same time have different ones, the lowest free ones."""

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[int]:
        """A core, as long as the context lasts."""
        with self._lock:
            number = next(number for number in count() if number not in self._used)
            self._used.add(number)
        try:
            yield number
        finally:
            with self._lock:
                self._used.remove(number)


class ExactTrial:
    """A trial that can be run once; its folder has the plan, the output of each host, and the
    consoles of the kernels.

    `templates` makes the initial data of databases. `captures` has the files of captures by port.
    `warn` receives the warnings of the outcome.
    """

    def __init__(
        self,
        plan_json: str,
        folder: Path,
        cores: Cores,
        templates: Stock,
        captures: Mapping[str, Path],
        warn: Callable[[Sequence[str]], None],
    ) -> None:
        self._plan_json = plan_json
        self._templates = templates
        self._captures = captures
        self._warn = warn
        self._cores = cores
        self._folder = folder
        self._share = 0.0
        self._cancelled = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def progress(self) -> float:
        """Share of the trial's time that is over, 0 to 1."""
        return self._share

    def cancel(self) -> None:
        """Ends the engine, and with it every guest."""
        with self._lock:
            self._cancelled.set()
            if self._process is not None:
                self._process.kill()

    def run(self) -> Ran | Cancelled:
        """Runs to the end and removes the folder, which stays after a failure.

        Raises `ExactError`, which names the folder with the consoles, when a guest or the engine
        fails.
        """
        above = Folder(self._folder.parent)
        above.make_empty(self._folder.name)  # it may be of an attempt that failed
        for folder in {file.parent for file in self._captures.values()}:
            above.make_empty(str(folder.relative_to(above.path)))
        try:
            ended = self._ran()
        except (OSError, ProgramError) as error:
            raise ExactError(f"{error} (hint: see {self._folder})") from error
        above.remove_folder(self._folder.name)
        return ended

    def _ran(self) -> Ran | Cancelled:
        plan = self._folder / "plan.json"
        write_text(plan, self._plan_json)
        real = RealPrograms(read_plan(self._plan_json), self._folder, self._templates)
        errors = self._folder / "engine.err"
        with errors.open("w") as stderr, self._cores.one() as core:
            answer = self._drive(self._start(plan, core, real, stderr))
        if self._cancelled.is_set():
            return Cancelled()
        if answer is None:
            text = errors.read_text(encoding="utf-8", errors="replace").strip()
            what = text.removeprefix(f"{program.ENGINE}: ") or "the engine ended without a result"
            raise ExactError(f"{what} (hint: consoles in {self._folder}/hosts)")
        assert answer.exact is not None, "it is the engine's own"
        self._warn(answer.exact.warnings or [])
        captures = [
            structs.replace(
                capture, file=str(Path(capture.file).relative_to(self._folder.parents[1]))
            )
            for capture in answer.exact.captures
        ]
        exact = structs.replace(answer.exact, captures=captures)
        outcome = structs.replace(
            msgspec.convert(answer, Outcome, from_attributes=True), exact=exact
        )
        ran = Ran(outcome, {name: typed(columns) for name, columns in answer.tables.items()})
        return real.added_to(ran, exact) if real.names else ran

    def _start(
        self, plan: Path, core: int, real: RealPrograms, stderr: Any
    ) -> subprocess.Popen[str] | None:
        command = [
            str(program.installed(program.ENGINE)),
            "run",
            "--plan",
            str(plan),
            "--dir",
            str(self._folder),
        ]
        command += ["--progress", "--core", str(core)]
        if not real.is_all:
            command += ["--traffic", str(program.installed(program.TRAFFIC))]
        if real.names:
            programs = self._folder / "programs.json"
            write_text(programs, programs_file(real.programs))
            command += ["--programs", str(programs), "--memory", str(real.memory_mib)]
            command += [word for name in real.names for word in ("--without", name)]
        for port, file in self._captures.items():
            command += ["--capture", port, str(file)]
        with self._lock:
            if self._cancelled.is_set():
                return None
            # A session of its own: Ctrl-C is answered by `cancel`, not by the terminal.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
            return self._process

    def _drive(self, process: subprocess.Popen[str] | None) -> Answer | None:
        """Reads progress until the engine ends; returns the outcome, None without one."""
        if process is None:
            return None
        answer: Answer | None = None
        try:
            assert process.stdout is not None, "it is a pipe"
            with process.stdout as lines:
                for line in lines:
                    message = _read(line)
                    if isinstance(message, Answer):
                        answer = message
                    elif message is not None:
                        self._share = min(0.99, max(0.0, message.progress))
            is_good = process.wait(END_LIMIT_S) == 0
        finally:
            with self._lock:
                process.kill()
                process.wait()
        return answer if is_good else None


def _read(line: str) -> Progress | Answer | None:
    """A line of the engine; None for one that was cut off because the engine was ended."""
    if not line.endswith("\n"):
        return None
    return msgspec.json.decode(line, type=Progress if line.startswith(PROGRESS) else Answer)


def typed(columns: Mapping[str, tuple[str, list[int | float]]]) -> Columns:
    """Columns as the simulator returns them."""
    return {name: column(kind, values) for name, (kind, values) in columns.items()}
