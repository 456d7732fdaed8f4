"""Trials on the workers of a Dask scheduler."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tailrace.errors import RunRefusedError
from tailrace.experiment.executor import PlanOf
from tailrace.experiment.interrupts import counted_interrupts
from tailrace.experiment.native import Cancelled, Failed
from tailrace.experiment.pool import TICK_S, Running, Watcher
from tailrace.experiment.remote.envelope import (
    Answer,
    Answers,
    Batch,
    Task,
    UnreadableAnswerError,
    own_build,
)
from tailrace.experiment.remote.link import Link, Sent
from tailrace.experiment.remote.pickles import RemoteError, printable
from tailrace.experiment.remote.rates import Rates
from tailrace.experiment.remote.waiting import Waiting
from tailrace.experiment.schedule import Keys, TrialKey

WINDOW = 3
"""Batches at the scheduler for each slot: one that runs, one that waits at the worker, one in
transit."""
WINDOW_MIN = 4
"""Batches at the scheduler while no worker is known."""
TICK_SHARE = 20
"""Reports of progress take at most one part in this many of the time."""
RESULT_S = 30.0
"""Time limit for fetching the result of a batch; after it, the batch is checked again."""
IDLE_NOTICE_S = 5.0
"""Without a worker for this time, the command reports that it waits."""
DEATHS_OF_BATCH = 2
"""Deaths of workers after which the trials of a batch are suspects: each of them then runs last,
and by itself."""
DEATHS_MAX = 3
"""Deaths after which a suspect has failed: at the last one, no other batch was at the scheduler."""


@dataclass
class Flight:
    """A batch that was sent."""

    keys: Sequence[TrialKey]
    tasks: tuple[Task, ...]
    sent: Sent
    worker: str | None = None
    """The only worker that may run it, for a trial with which workers have died; None for any."""
    unread_s: float | None = None
    """When its result could not be read for the first time."""

    @property
    def is_suspect(self) -> bool:
        """Whether workers have died with its only trial, which runs by itself."""
        return self.worker is not None

    @property
    def deaths_max(self) -> int:
        """Deaths of workers at which it is given up."""
        return 1 if self.is_suspect else DEATHS_OF_BATCH


class Guessed:
    """The progress of a trial elsewhere, estimated from the typical time of its arm."""

    def __init__(self, usual_s: float | None) -> None:
        self._usual_s = usual_s
        self._started_s = time.monotonic()

    def progress(self) -> float:
        """Share of the trial that should be done by now, below 1."""
        return (
            min(0.95, (time.monotonic() - self._started_s) / self._usual_s)
            if self._usual_s
            else 0.0
        )


class Workers:
    """The executor of `--on`: sends batches, stores results, and sends lost batches again."""

    def __init__(
        self,
        name: str,
        link: Link,
        say: Callable[[str], None],
        tend: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self._link = link
        self._say = say
        self._tend = tend or (lambda: None)
        """Called often; starts workers where some are missing."""
        self._has_answered = threading.Event()
        self._flights: list[Flight] = []
        self._rates = Rates(name, say)
        self._unlimited: dict[str, Flight] = {}
        """Batches whose number of deaths has not been limited yet, by their keys at the
        scheduler."""

    @property
    def slots(self) -> int:
        """Threads of all workers now; 0 while there is none."""
        return self._link.slots()

    def run_all(self, keys: Keys, plan_of: PlanOf, watcher: Watcher) -> bool:
        """Runs every trial; returns whether it was interrupted."""
        stage = _Stage(keys, plan_of, watcher)
        with counted_interrupts() as interrupts:
            try:
                while (
                    stage.waiting.left or stage.waiting.suspects or self._flights
                ) and not interrupts.count:
                    self._step(stage)
            finally:
                with suppress(OSError, RuntimeError):
                    self._link.cancel([flight.sent for flight in self._flights])
                self._flights, self._unlimited = [], {}
        return interrupts.count > 0

    def close(self) -> None:
        """Reports the number of trials of each worker."""
        self._rates.report_total()

    def _step(self, stage: "_Stage") -> None:
        self._tend()
        if not self._link.is_alive:
            self._take_back(stage, self._flights)
            if not self._link.restored(self._say):
                return
        try:
            self._fill(stage)
        except Exception:
            if self._link.is_alive:
                raise
            return  # the connection was lost in between: the next step takes the batches back
        self._has_answered.wait(TICK_S)
        self._has_answered.clear()
        for flight in [flight for flight in self._flights if flight.sent.state != "pending"]:
            self._land(stage, flight)
        for flight in self._stranded():
            self._link.cancel([flight.sent])
            self._take_back(stage, [flight])
        stage.report(self._flights[: self.slots])
        self._rates.report_when_due()
        self._report_idle(stage)

    def _stranded(self) -> list[Flight]:
        """Suspects whose worker has left in order: it did not die, and no other worker may run
        them."""
        workers = self._link.workers()
        return [
            one for one in self._flights if one.is_suspect and workers and one.worker not in workers
        ]

    def _fill(self, stage: "_Stage") -> None:
        slots = self._link.slots()
        while len(self._flights) < max(WINDOW_MIN, WINDOW * slots) and (
            keys := stage.waiting.batch(slots)
        ):
            self._send(stage, keys)
        if (
            not self._flights
            and (workers := self._link.workers())
            and (suspect := stage.waiting.suspect())
        ):
            self._send(stage, [suspect], next(iter(workers)))
        if self._unlimited:
            self._limit(stage)

    def _send(self, stage: "_Stage", keys: Sequence[TrialKey], worker: str | None = None) -> None:
        tasks = tuple(stage.task(key) for key in keys)
        try:
            sent = self._link.send(Batch(own_build(), tasks).text(), self._has_answered.set, worker)
        except BaseException:
            stage.waiting.back(keys, is_suspect=worker is not None)
            raise
        flight = Flight(keys, tasks, sent, worker)
        self._flights.append(flight)
        self._unlimited[sent.key] = flight

    def _limit(self, stage: "_Stage") -> None:
        """Limits the deaths of workers by sent batches; handles batches that already exceed the
        limit."""
        for key, deaths in self._link.limit_deaths(
            {k: one.deaths_max for k, one in self._unlimited.items()}
        ).items():
            flight = self._unlimited.pop(key)
            if deaths >= flight.deaths_max:
                self._link.cancel([flight.sent])
                self._flights.remove(flight)
                self._died(stage, flight, deaths)

    def _land(self, stage: "_Stage", flight: Flight) -> None:
        """Handles a batch that has ended or that was lost."""
        state = flight.sent.state
        if state not in ("finished", "error"):
            self._take_back(stage, [flight])
            return
        try:
            result = flight.sent.result(RESULT_S) if state == "finished" else flight.sent.error()
        except Exception as error:  # noqa: BLE001  judged by how long it lasts
            self._refuse_unreadable(flight, error)
            return
        if isinstance(result, RemoteError):
            self._failed(stage, flight, result)
        else:
            self._store(stage, flight, self._answers(result, flight))
        self._flights.remove(flight)
        self._unlimited.pop(flight.sent.key, None)
        flight.sent.release()

    def _answers(self, result: object, flight: Flight) -> Mapping[TrialKey, Answer]:
        """The answers of a worker, by trial; raises `RunRefusedError` for an invalid answer, and
        for a refusal."""
        try:
            answers = Answers.read(result)
            found = answers.by_task(flight.tasks)
        except UnreadableAnswerError as error:
            raise RunRefusedError(_unreadable(self.name, str(error))) from None
        if answers.refused:
            raise RunRefusedError(
                f"{self.name}: the worker {answers.worker} refuses trials: {answers.refused}"
                " (hint: install the same wheel everywhere and restart the workers)"
            )
        for answer in answers.answers:
            self._rates.add(answers.worker, answer.wall_s)
        return {flight.keys[index]: answer for index, answer in found.items()}

    def _refuse_unreadable(self, flight: Flight, error: Exception) -> None:
        """Raises `RunRefusedError` when a result stays unreadable while the scheduler is reachable.

        The error does not show the reason: the worker or the scheduler may have died after the
        batch had ended, and the client learns of it later. Then the batch runs again, or is taken
        back with the connection.
        """
        now_s = time.monotonic()
        flight.unread_s = now_s if flight.unread_s is None else flight.unread_s
        is_held = self._link.is_alive and flight.sent.state in ("finished", "error")
        is_foul = isinstance(
            error, TypeError
        )  # a pickle, or a serialiser that was not asked for: it stays what it is
        if is_held and (
            is_foul or (not isinstance(error, TimeoutError) and now_s - flight.unread_s > RESULT_S)
        ):
            raise RunRefusedError(
                _unreadable(self.name, f"{type(error).__name__}: {error}")
            ) from error

    def _store(self, stage: "_Stage", flight: Flight, answers: Mapping[TrialKey, Answer]) -> None:
        for key, answer in answers.items():
            try:
                is_finished = stage.finished(key, answer)
            except UnreadableAnswerError as error:
                raise RunRefusedError(_unreadable(self.name, str(error))) from None
            if not is_finished:
                stage.waiting.back([key], is_suspect=flight.is_suspect)
        left = [key for key in flight.keys if key not in answers]
        stage.waiting.back(left, is_suspect=flight.is_suspect)

    def _failed(self, stage: "_Stage", flight: Flight, error: RemoteError) -> None:
        """Handles a batch on which workers died: a trial of it that killed another worker when it
        ran alone has failed.

        Dask counts the deaths of every task that a worker had, including tasks that had not begun.
        """
        if (allowed := error.deaths) is None:
            raise RunRefusedError(
                f"{self.name}: a worker cannot run trials: {error}"
                f" (hint: install the same wheel on it; this command has {own_build()})"
            )
        is_limited = flight.sent.key not in self._unlimited
        self._died(stage, flight, min(flight.deaths_max, allowed) if is_limited else allowed)

    def _died(self, stage: "_Stage", flight: Flight, deaths: int) -> None:
        """Makes the trials of a batch with which workers died suspects; a suspect of too many
        deaths has failed."""
        for key in flight.keys:
            stage.deaths[key] = stage.deaths.get(key, 0) + deaths
        if not flight.is_suspect or stage.deaths[flight.keys[0]] < DEATHS_MAX:
            stage.waiting.back(flight.keys, is_suspect=True)
            return
        key = flight.keys[0]
        # Before Dask knows of the limit of a batch, it may have begun it once more.
        reason = (
            f"killed at least {stage.deaths[key]} workers (hint: a log of the workers, or "
            "their memory, tells why)"
        )
        stage.watcher.finished(key, Failed(reason), 0.0)

    def _take_back(self, stage: "_Stage", flights: Sequence[Flight]) -> None:
        for flight in list(flights):
            stage.waiting.back(flight.keys, is_suspect=flight.is_suspect)
            self._flights.remove(flight)
            self._unlimited.pop(flight.sent.key, None)

    def _report_idle(self, stage: "_Stage") -> None:
        now_s = time.monotonic()
        if self._link.slots() or not (self._flights or stage.waiting.suspects):
            stage.idle_s = None
        elif stage.idle_s is None:
            stage.idle_s = now_s
        elif now_s - stage.idle_s > IDLE_NOTICE_S and not stage.is_idle_reported:
            stage.is_idle_reported = True
            self._say(f"{self.name}: there is no worker; waiting for one")


class _Stage:
    """One list of trials."""

    def __init__(self, keys: Keys, plan_of: PlanOf, watcher: Watcher) -> None:
        self.waiting = Waiting(keys)
        self.watcher = watcher
        self.idle_s: float | None = None
        self.is_idle_reported = False
        self.deaths: dict[TrialKey, int] = {}
        """Workers that died with a trial, of the few with any."""
        self._plan_of = plan_of
        self._number = 0
        self._running: dict[TrialKey, Running] = {}
        self._next_tick_s = 0.0

    def task(self, key: TrialKey) -> Task:
        """A trial as it is sent; a trial that is sent again has a new number."""
        self._number += 1
        return Task.of(self._number, self._plan_of(key))

    def finished(self, key: TrialKey, answer: Answer) -> bool:
        """Hands an outcome on; returns False for a trial that did not run to its end."""
        if answer.panic:
            raise RuntimeError(printable(answer.panic))
        ended = answer.ended
        if isinstance(ended, Cancelled):
            return False
        self.waiting.measured(key.arm, answer.wall_s)
        self.watcher.finished(key, ended, answer.wall_s)
        return True

    def report(self, flights: Sequence[Flight]) -> None:
        """Reports the progress, with the first trial of these batches as the running ones."""
        began_s = time.monotonic()
        if began_s < self._next_tick_s:
            return
        keys = [flight.keys[0] for flight in flights]
        self._running = {
            key: self._running.get(key) or Running(key, Guessed(self.waiting.mean_s(key.arm)))
            for key in keys
        }
        self.watcher.tick(list(self._running.values()))
        ended_s = time.monotonic()
        self._next_tick_s = ended_s + max(TICK_S, TICK_SHARE * (ended_s - began_s))


def _unreadable(name: str, why: str) -> str:
    """The error for an invalid answer of a worker, with a hint."""
    return (
        f"{name}: an unreadable result: {printable(why)} (hint: install the same wheel on all "
        "workers; a worker that is not yours may be hostile: docs/security.md)"
    )
