"""Runs programs as processes of this machine, for the work before trials."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from tailrace.files import make_folder, require_plain
from tailrace.programs.command import Command, Ended, complaint
from tailrace.programs.errors import ProgramError

STOP_LIMIT_S = 30.0
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


class LocalProgram:
    """A process of this machine, and the files that it writes."""

    def __init__(self, command: Command, folder: Path) -> None:
        self.command = command
        self.out_path = folder / f"{command.name}.out"
        self.err_path = folder / f"{command.name}.err"
        self._begun_s = time.monotonic()
        # Only root may change its user.
        account = pwd.getpwnam(command.user) if command.user and os.geteuid() == 0 else None
        with self.out_path.open("wb") as out, self.err_path.open("wb") as err:
            self._process = subprocess.Popen(
                list(command.argv),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=command.cwd or "/",
                env=ENVIRONMENT | dict(command.env),
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
                start_new_session=True,
            )

    @property
    def ended(self) -> Ended | None:
        """How it ended; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        wall_s = time.monotonic() - self._begun_s
        return Ended(None if code < 0 else code, -code if code < 0 else None, 0.0, 0.0, 0, wall_s)

    def wait(self, limit_s: float) -> Ended:
        """Waits for its end; raises `ProgramError` when it takes longer."""
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"{self.command.name} did not end within {limit_s:g} s") from None
        ended = self.ended
        assert ended is not None, "it was waited for"
        return ended

    def stop(self, first: str = "TERM") -> Ended:
        """Terminates it, and kills it if it does not end in time."""
        number = {"INT": 2, "TERM": 15}[first]
        self._process.send_signal(number)
        try:
            return self.wait(STOP_LIMIT_S)
        except ProgramError:
            self._process.kill()
            return self.wait(STOP_LIMIT_S)

    def complaint(self) -> str:
        """A clause about its end, with the last lines of its stderr."""
        return complaint(self.command, self.ended, self.err_path, self.out_path)


class LocalRunner:
    """A context manager: its started programs, and its scratch folder, end with it."""

    is_nested = os.geteuid() != 0

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[LocalProgram] = []
        self.scratch = ""

    def __enter__(self) -> "LocalRunner":
        make_folder(self._folder)
        require_plain(
            "the folder for temporary files",
            Path(tempfile.gettempdir()),
            "set TMPDIR to a folder such as /tmp",
        )
        # Every account reaches it: that of a server may not read the run's folder.
        self.scratch = tempfile.mkdtemp(prefix="tailrace-")
        Path(self.scratch).chmod(0o711)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for program in self._started:
            if program.ended is None:
                program.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def start(self, command: Command) -> LocalProgram:
        """Starts a program."""
        try:
            started = LocalProgram(command, self._folder)
        except (OSError, KeyError) as error:
            raise ProgramError(f"{command.name}: {error}") from None
        self._started.append(started)
        return started

    def run(self, command: Command, limit_s: float) -> str:
        """Runs a program until it ends successfully; returns its stdout."""
        started = self.start(command)
        if not started.wait(limit_s).is_good:
            raise ProgramError(started.complaint())
        return started.out_path.read_text(encoding="utf-8", errors="replace")
