"""Runs trials on threads: the engines release the interpreter lock while they work."""

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Protocol

from tailrace.errors import TailraceError
from tailrace.experiment.engine import EngineTrial
from tailrace.experiment.native import Outcome
from tailrace.experiment.schedule import TrialKey

TICK_S = 0.1
"""Seconds between two checks of progress and interrupts."""


@dataclass
class Running:
    """A running trial."""

    key: TrialKey
    trial: EngineTrial
    started_s: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Wall time so far, in seconds."""
        return time.monotonic() - self.started_s


class Watcher(Protocol):
    """Receives the events of a pool; never called from two threads at once."""

    def tick(self, running: Sequence[Running]) -> None: ...
    def finished(self, key: TrialKey, outcome: Outcome, wall_s: float) -> None: ...


class Pool:
    """Threads that execute a list of trials."""

    def __init__(self, jobs: int, trial_of: Callable[[TrialKey], EngineTrial], watcher: Watcher) -> None:
        self.jobs = jobs
        self._trial_of = trial_of
        self._watcher = watcher
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._waiting: deque[TrialKey] = deque()
        self._running: list[Running] = []
        self._is_cancelled = False
        self._error: BaseException | None = None

    def run_all(self, keys: Sequence[TrialKey]) -> bool:
        """Runs every trial; returns whether it was interrupted (Ctrl-C, SIGTERM). Finished trials are kept.

        A trial that the engine rejects, or that ends with an error of the engine, has an outcome of status `failed`.
        Any other error, such as a full disk in the watcher or a panic, stops all trials and is raised. A second
        interrupt raises `KeyboardInterrupt` at once.
        """
        self._waiting.extend(keys)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(min(self.jobs, len(keys)))]
        with _interrupts() as interrupts:
            for thread in threads:
                thread.start()
            while alive := [thread for thread in threads if thread.is_alive()]:
                alive[0].join(TICK_S)
                if interrupts.count:
                    self.cancel()
                with self._lock:
                    running = list(self._running)
                with self._telling:
                    self._watcher.tick(running)
        if isinstance(self._error, Exception):
            raise self._error
        if self._error is not None:  # a panic of a library in another language, which `except Exception` lets through
            raise RuntimeError(f"{type(self._error).__name__}: {self._error}") from self._error
        return interrupts.count > 0

    def cancel(self) -> None:
        """Starts no further trial and requests the running ones to stop."""
        with self._lock:
            self._is_cancelled = True
            self._waiting.clear()
            for running in self._running:
                running.trial.cancel()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    return
                key = self._waiting.popleft()
            try:
                self._run_one(key)
            except BaseException as error:  # noqa: BLE001  a panic too: raised again by run_all, in the caller's thread
                self._error = error
                self.cancel()
                return

    def _run_one(self, key: TrialKey) -> None:
        started_s = time.monotonic()
        try:
            outcome = self._outcome(key)
        except (TailraceError, RuntimeError) as error:
            outcome = Outcome({"status": "failed", "reason": str(error)})
        finally:
            with self._lock:
                self._running = [other for other in self._running if other.key != key]
        if not outcome.data.get("cancelled"):
            with self._telling:
                self._watcher.finished(key, outcome, time.monotonic() - started_s)

    def _outcome(self, key: TrialKey) -> Outcome:
        running = Running(key, self._trial_of(key))
        with self._lock:
            self._running.append(running)
            if self._is_cancelled:
                running.trial.cancel()
        return running.trial.run()


SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, Ctrl-\\, SIGTERM (as batch systems send it) and SIGHUP (of a terminal that is closed)."""


@dataclass
class _Interrupts:
    count: int = 0


@contextmanager
def _interrupts() -> Iterator[_Interrupts]:
    """Counts termination signals instead of raising; the second one raises.

    Signals that the caller ignores stay ignored, as nohup(1) requires. Signals can be counted in the main thread only;
    in any other thread this does nothing.
    """
    interrupts = _Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return

    def count(_signal: int, _frame: FrameType | None) -> None:
        interrupts.count += 1
        if interrupts.count > 1:
            raise KeyboardInterrupt

    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, count) for number in heard}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
