"""The connection to a Dask scheduler: opened within seconds or refused in words, and opened again
when it is lost."""

import logging
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from tailrace.errors import RunRefusedError
from tailrace.experiment.remote.address import absent_words
from tailrace.experiment.remote.envelope import UNDECODABLE, Build
from tailrace.experiment.remote.pickles import PickleRefusedError, RemoteError, printable
from tailrace.experiment.remote.worker import build_text, run_batch

CONNECT_S = 15.0
"""Time for Dask's greeting with a scheduler that is there; on a busy machine it takes seconds."""
OUTAGE_S = 120.0
"""A scheduler that does not answer for this time after it had answered ends the run; a rerun
continues it."""
MESSAGES_KEPT = 10
"""Messages that Dask keeps of each connection."""
WORKERS_EVERY_S = 1.0
"""Seconds between two updates of the list of workers."""


@dataclass(frozen=True)
class Sent:
    """A batch at the scheduler: Dask's future."""

    future: Any

    @property
    def key(self) -> str:
        """Dask's name of it."""
        return str(self.future.key)

    @property
    def state(self) -> str:
        """`pending`, `finished`, `error`, or `cancelled` and `lost` for a batch that the scheduler
        has forgotten."""
        return str(self.future.status)

    def result(self, timeout_s: float) -> object:
        """The result of a finished batch; raises `TimeoutError`, also when its worker has died
        since."""
        return self.future.result(timeout=timeout_s)

    def error(self) -> RemoteError:
        """The error of a failed batch."""
        error = self.future.exception(timeout=CONNECT_S)
        assert isinstance(error, BaseException), "the batch has failed"
        return RemoteError.of(error)

    def release(self) -> None:
        """Lets the worker forget the result."""
        self.future.release()


class Link:
    """A client of a scheduler."""

    def __init__(self, address: str, shown: str, security: Any = None) -> None:
        self.address = address
        self.shown = shown
        """The address as the user wrote it."""
        self._security = security
        """Dask's, with the certificates; None where nothing is encrypted."""
        self._client: Any = None
        self._workers: dict[str, int] = {}
        """Threads by worker."""
        self._looked_s = -WORKERS_EVERY_S
        self._number = 0
        self._lost_s: float | None = None
        self._can_limit = True

    def open(self) -> None:
        """Connects; raises `RunRefusedError` when the scheduler does not answer."""
        try:
            self._connect()
        except OSError as error:
            why = (
                f"no greeting for {CONNECT_S:g} s"
                if isinstance(error, TimeoutError)
                else printable(str(error))
            )
            raise RunRefusedError(absent_words(self.shown, why)) from None
        except Exception as error:  # noqa: BLE001  what answers is no scheduler, or one that is hostile
            raise RunRefusedError(_foul_words(self.shown, error)) from None

    def close(self) -> None:
        """Disconnects; the scheduler forgets the tasks of this client."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(
                Exception
            ):  # of a scheduler that has sent nonsense, Dask raises what it met then
                client.close(timeout=CONNECT_S)

    @property
    def is_alive(self) -> bool:
        """Whether the connection exists; raises `RunRefusedError` after an undecodable message."""
        if self._client is None or self._client.status != "running":
            return False
        if fault := self._client.fault:
            raise RunRefusedError(_foul_words(self.shown, fault))
        return not self._client.is_deaf

    def restored(self, say: Callable[[str], None]) -> bool:
        """Tries once to connect again; raises `RunRefusedError` when the scheduler has been away
        for too long."""
        if self._lost_s is None:
            self._lost_s = time.monotonic()
            say(f"{self.shown}: the scheduler does not answer; trying again for {OUTAGE_S:g} s")
        self.close()
        try:
            self._connect()
        except OSError:
            if time.monotonic() - self._lost_s > OUTAGE_S:
                raise RunRefusedError(
                    f"{self.shown}: the scheduler has not answered for {OUTAGE_S:g} s; finished "
                    "trials are kept (hint: run the same command again when it is back)"
                ) from None
            return False
        except Exception as error:  # noqa: BLE001  as in `open`
            raise RunRefusedError(_foul_words(self.shown, error)) from None
        self._lost_s = None
        say(f"{self.shown}: the scheduler answers again")
        return True

    def send(self, text: str, done: Callable[[], None], worker: str | None = None) -> Sent:
        """Sends a batch, to one worker or to any; `done` is called, in another thread, when it has
        ended."""
        self._number += 1
        key = f"tailrace-{self._client.id}-{self._number}"
        future = self._client.submit(run_batch, text, key=key, pure=False, workers=worker)
        future.add_done_callback(lambda _future: done())
        return Sent(future)

    def limit_deaths(self, limits: Mapping[str, int]) -> dict[str, int]:
        """Limits the deaths of workers after which the scheduler gives up each task; returns the
        deaths that it has counted.

        A task that it does not know yet is omitted. Dask has one limit for all tasks of a
        scheduler, which is not changed here.
        """
        if not self._can_limit:
            return {}
        try:
            counted = msgspec.convert(
                self._client.run_on_scheduler(_limiting(), dict(limits)), dict[str, int]
            )
        except Exception:  # noqa: BLE001  a scheduler of another Python, or one that runs no functions: its limit holds
            self._can_limit = not self.is_alive
            return {}
        return counted

    def cancel(self, sent: list[Sent]) -> None:
        """Cancels batches; a worker that runs one stops it."""
        if sent and self.is_alive:
            self._client.cancel(
                [one.future for one in sent], force=True, reason="the run was interrupted"
            )

    def workers(self) -> Mapping[str, int]:
        """The workers now, and the threads of each."""
        now_s = time.monotonic()
        if self.is_alive and now_s - self._looked_s >= WORKERS_EVERY_S:
            self._looked_s = now_s
            try:
                self._workers = msgspec.convert(self._client.nthreads(), dict[str, int])
            except (
                OSError,
                RuntimeError,
            ):  # the connection was lost since: the caller sees that next
                self._workers = {}
            except (*UNDECODABLE, TypeError) as error:
                raise RunRefusedError(_foul_words(self.shown, error)) from None
        return self._workers if self.is_alive else {}

    def slots(self) -> int:
        """Threads of all workers now."""
        return sum(self.workers().values())

    def builds(self) -> dict[str, Build | str]:
        """The build of every worker that is there, or the error of asking it."""
        try:
            answers = self._client.sync(self._asked_builds)
            return {printable(worker): _build(answer) for worker, answer in answers.items()}
        except Exception as error:  # noqa: BLE001  as in `open`
            raise RunRefusedError(_foul_words(self.shown, error)) from None

    async def _asked_builds(self) -> Any:
        """Requests the builds as Dask's `Client.run` does, which loads the exceptions of workers
        that do not answer."""
        from distributed.protocol.pickle import dumps

        nothing = {"args": dumps(()), "kwargs": dumps({}), "wait": True}
        message = {"op": "run", "function": dumps(build_text), **nothing}
        return await self._client.scheduler.broadcast(msg=message, on_error="return_pickle")

    def _connect(self) -> None:
        from tailrace.experiment.remote.dask_client import TextClient

        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # Dask's about other versions: what the scheduler says of itself
            self._client = TextClient(self.address, self._security, CONNECT_S)
        self._looked_s = -WORKERS_EVERY_S


def _build(answer: Any) -> Build | str:
    """The build in a worker's answer, or the reason why there is none."""
    if isinstance(answer, bytes):
        return str(RemoteError.read(answer))
    if answer.get("status") != "OK":
        return printable(str(answer.get("exception_text")))
    try:
        return msgspec.json.decode(answer["result"], type=Build)
    except (*UNDECODABLE, KeyError, TypeError) as error:
        return f"no build: {printable(str(error))}"


def _foul_words(shown: str, error: BaseException | str) -> str:
    """The error for a peer with invalid messages, with a hint."""
    why = printable(error if isinstance(error, str) else f"{type(error).__name__}: {error}")
    if isinstance(error, PickleRefusedError) or PickleRefusedError.__name__ in why:
        return (
            f"--on {shown}: the scheduler or a worker sent a pickled object, which was not loaded:"
            f" {why.split(': ', 1)[-1]} (hint: Dask of another version, or an attack: "
            "docs/security.md)"
        )
    return f"--on {shown}: what answers there is no Dask scheduler that can be used: {why}"


def _limiting() -> Callable[..., dict[str, int]]:
    """A function for the scheduler; one inside another travels as code, so that the scheduler needs
    no wheel."""

    def limit(most_of: dict[str, int], dask_scheduler: Any = None) -> dict[str, int]:
        counted = {}
        for key, most in most_of.items():
            task = dask_scheduler.tasks.get(key)
            if task is not None:
                counted[key] = task.suspicious
                task.suspicious += max(0, dask_scheduler.allowed_failures + 1 - most)
        return counted

    return limit


def import_dask(shown: str, extra: str = "dask") -> None:
    """Imports Dask, without its log messages about lost connections; raises `RunRefusedError` when
    it is not installed."""
    try:
        import dask

        # Dask keeps the last messages of a connection for its developers, and with them the plans
        # of all batches. And a message may have it fetch an attribute of any of its modules, for
        # the sake of enumerations, which none has.
        kept = {
            "distributed.admin.low-level-log-length": MESSAGES_KEPT,
            "distributed.scheduler.allowed-imports": [],
        }
        dask.config.set({"logging.distributed": "critical", **kept})
        import distributed  # noqa: F401  whether it is there
    except ImportError:
        raise RunRefusedError(
            f"--on {shown} requires Dask (hint: pip install 'tailrace[{extra}]')"
        ) from None
    for name in SILENCED:
        logging.getLogger(name).setLevel(SILENT)


SILENT = logging.CRITICAL + 1
SILENCED = (
    "distributed",
    "distributed.client",
    "distributed.protocol.core",
    "distributed.protocol.pickle",
)
"""Otherwise Dask's log messages about other processes go to the terminal, with a traceback."""
