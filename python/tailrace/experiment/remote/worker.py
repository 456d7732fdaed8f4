"""The worker's side: runs the trials of a batch and watches whether they are still wanted."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from tailrace.errors import TailraceError
from tailrace.experiment.engine import EngineTrial, SimulatedTrial
from tailrace.experiment.native import Cancelled, Failed, Ran
from tailrace.experiment.remote.envelope import Answer, Answers, Batch, Task, hash_of, own_build

WATCH_S = 0.2
"""Seconds between two checks whether a trial is still wanted."""
BATCH_S_MAX = 2.0
"""After this time a worker starts no further trial of a batch: they may run elsewhere by now."""
BATCH_BYTES_MAX = 16_000_000
"""The same for the size of the tables of a batch."""


def build_text() -> str:
    """The build of this worker as JSON; called by Dask."""
    return msgspec.json.encode(own_build()).decode()


def run_batch(text: str) -> bytes:
    """Runs the trials of a batch; the function that Dask calls. Its answer is no pickle."""
    from distributed import get_worker
    from distributed.worker import thread_state

    worker, key = get_worker(), thread_state.key
    return run_tasks(text, str(worker.address), lambda: _is_wanted(worker, key)).packed()


def run_tasks(text: str, worker: str, is_wanted: Callable[[], bool]) -> Answers:
    """Runs the trials of a batch in this process. A worker of another build, or with other plans,
    refuses."""
    batch = Batch.parse(text)
    if (own := own_build()) != batch.build:
        return Answers(worker, refused=f"it has {own}, and this command has {batch.build}")
    for task in batch.tasks:
        if hash_of(task.plan) != task.plan_hash:
            return Answers(
                worker, refused="the hash of a plan differs from the one that was sent with it"
            )
    answers: list[Answer] = []
    started_s, size = time.monotonic(), 0
    for task in batch.tasks:
        if not is_wanted() or time.monotonic() - started_s > BATCH_S_MAX or size > BATCH_BYTES_MAX:
            break
        answers.append(_answer(task, is_wanted))
        size += sum(
            len(data) for table in answers[-1].tables.values() for _kind, data in table.values()
        )
    return Answers(worker, tuple(answers))


def _answer(task: Task, is_wanted: Callable[[], bool]) -> Answer:
    started_s = time.monotonic()
    ended: Ran | Failed | Cancelled
    try:
        ended = _run(SimulatedTrial(task.plan), is_wanted)
    except (TailraceError, RuntimeError) as error:
        ended = Failed(str(error))
    except BaseException as error:  # noqa: BLE001  a panic too: the command raises it again
        panic = f"{type(error).__name__}: {error}"
        return Answer(task.number, task.plan_hash, "", time.monotonic() - started_s, panic=panic)
    return Answer.of(task, ended, time.monotonic() - started_s)


def _run(trial: EngineTrial, is_wanted: Callable[[], bool]) -> Ran | Cancelled:
    with _watched(trial, is_wanted):
        return trial.run()


@contextmanager
def _watched(trial: EngineTrial, is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Stops the trial when it is no longer wanted: after Ctrl-C a long trial does not keep a
    machine busy."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(WATCH_S):
            if not is_wanted():
                trial.cancel()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def _is_wanted(worker: Any, key: str) -> bool:
    """Whether the scheduler still waits for this task, and the worker is to go on."""
    state = worker.state.tasks.get(key)
    is_ending = worker.status.name in ("closing", "closed", "failed")
    return state is not None and state.state == "executing" and not is_ending
