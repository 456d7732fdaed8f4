"""Runs trials on threads: the engines release the interpreter lock while they work."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tailrace.errors import TailraceError
from tailrace.experiment.engine import EngineTrial
from tailrace.experiment.interrupts import counted_interrupts
from tailrace.experiment.native import Cancelled, Failed, Ran
from tailrace.experiment.schedule import Keys, TrialKey

TICK_S = 0.1
"""Seconds between two checks of progress and interrupts."""
LEAVE_S = 0.25
"""Wall time, in seconds, for which an interrupt waits for trials of the simulator. A trial that
reads its plan, or builds or gathers a network of thousands of hosts, can take longer, and holds no
resources that require an orderly end."""


class Progressing(Protocol):
    """An object that reports the progress of a trial, from 0 to 1."""

    def progress(self) -> float: ...


@dataclass
class Running:
    """A running trial."""

    key: TrialKey
    trial: Progressing
    started_s: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Wall time so far, in seconds."""
        return time.monotonic() - self.started_s


class Watcher(Protocol):
    """Receives the events of a pool; never called from two threads at once."""

    def tick(self, running: Sequence[Running]) -> None: ...
    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None: ...


class Pool:
    """Threads that execute a list of trials."""

    def __init__(
        self,
        jobs: int,
        trial_of: Callable[[TrialKey], EngineTrial],
        watcher: Watcher,
        leave_s: float | None = None,
    ) -> None:
        """After an interrupt, trials that have not ended within `leave_s` are left to the end of
        the process without further reports. None waits for all trials, which those with processes
        of their own require."""
        self.jobs = jobs
        self._leave_s = leave_s
        self._is_left = False
        self._trial_of = trial_of
        self._watcher = watcher
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._handing = threading.Lock()
        self._waiting: Iterator[TrialKey] = iter(())
        self._running: dict[TrialKey, tuple[Running, EngineTrial]] = {}
        self._is_cancelled = False
        self._error: BaseException | None = None

    def run_all(self, keys: Keys) -> bool:
        """Runs every trial; returns whether it was interrupted (Ctrl-C, SIGTERM). Finished trials
        are kept.

        A trial that the engine rejects, or that ends with an error of the engine, is handed on as
        `Failed`. Any other error, such as a full disk in the watcher or a panic, stops all trials
        and is raised. A second interrupt raises `KeyboardInterrupt` at once.
        """
        self._waiting = iter(keys)
        threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self.jobs, len(keys)))
        ]
        interrupted_s: float | None = None
        with counted_interrupts() as interrupts:
            for thread in threads:
                thread.start()
            while alive := [thread for thread in threads if thread.is_alive()]:
                alive[0].join(TICK_S)
                if interrupts.count:
                    self.cancel()
                    interrupted_s = interrupted_s or time.monotonic()
                    if (
                        self._leave_s is not None
                        and time.monotonic() - interrupted_s >= self._leave_s
                    ):
                        with self._telling:
                            self._is_left = True
                        break
                with self._lock:
                    running = [one for one, _ in self._running.values()]
                with self._telling:
                    self._watcher.tick(running)
        if isinstance(self._error, Exception):
            raise self._error
        if (
            self._error is not None
        ):  # a panic of a library in another language, which `except Exception` lets through
            raise RuntimeError(f"{type(self._error).__name__}: {self._error}") from self._error
        return interrupts.count > 0

    def cancel(self) -> None:
        """Starts no further trial and requests the running ones to stop."""
        with self._lock:
            self._is_cancelled = True
            self._waiting = iter(())
            for _, trial in self._running.values():
                trial.cancel()

    def _work(self) -> None:
        while True:
            try:
                with self._handing:
                    key = next(self._waiting, None)
                if key is None:
                    return
                self._run_one(key)
            except BaseException as error:  # noqa: BLE001  a panic too: raised again by run_all, in the caller's thread
                self._error = error
                self.cancel()
                return

    def _run_one(self, key: TrialKey) -> None:
        started_s = time.monotonic()
        try:
            ended = self._ended(key)
        except (TailraceError, RuntimeError) as error:
            ended = Failed(str(error))
        finally:
            with self._lock:
                self._running.pop(key, None)
        if not isinstance(ended, Cancelled):
            with self._telling:
                if not self._is_left:
                    self._watcher.finished(key, ended, time.monotonic() - started_s)

    def _ended(self, key: TrialKey) -> Ran | Failed | Cancelled:
        trial = self._trial_of(key)
        with self._lock:
            self._running[key] = Running(key, trial), trial
            is_cancelled = self._is_cancelled
        if is_cancelled:  # even to build the network of a large one takes a second
            trial.cancel()
            return Cancelled()
        return trial.run()
