"""Dask's scheduler as the command runs it for `--on slurm`; importing this module imports Dask.

Its only external interface is TLS, for workers with the certificate of this run; they can do what
workers do. Only this process acts as a client, by a queue in memory.
"""

import logging
from contextvars import ContextVar
from typing import Any

from distributed import Scheduler
from distributed.comm.inproc import InProc

from tailrace.experiment.remote.pickles import own_pickles

OF_WORKERS = frozenset(
    {"register-worker", "heartbeat_worker", "unregister", "retire_workers", "identity"}
)
"""Requests that come from workers."""
STREAMED_BY_WORKERS = frozenset(
    {
        "add-keys",
        "keep-alive",
        "log-event",
        "long-running",
        "release-worker-data",
        "request-refresh-who-has",
        "reschedule",
        "steal-response",
        "task-erred",
        "task-finished",
        "worker-status-change",
    }
)
"""Messages that come from workers."""

_is_own: ContextVar[bool] = ContextVar("tailrace_own_connection", default=False)


class RunScheduler(Scheduler):  # type: ignore[misc]
    """A scheduler for one run."""

    def __init__(self, **options: Any) -> None:
        # Otherwise its log messages about peers without TLS go to the terminal.
        logging.getLogger("tornado.general").setLevel(logging.CRITICAL)
        super().__init__(**options)
        self.handlers: dict[str, Any] = _Guarded(self.handlers, OF_WORKERS)
        self.stream_handlers: dict[str, Any] = _Guarded(self.stream_handlers, STREAMED_BY_WORKERS)
        self.handlers["run_function"] = self.run_own_function

    @property
    def external_address(self) -> str:
        """By which this process reaches it: a queue in memory."""
        return str(self.listeners[-1].contact_address)

    async def start_unsafe(self) -> Any:
        """Listens."""
        await super().start_unsafe()
        await self.listen("inproc://")
        return self

    def start_http_server(self, *_arguments: Any, **_options: Any) -> None:
        """Nothing: Dask's pages would be open to all users of this machine."""

    async def update_graph(self, *arguments: Any, **options: Any) -> Any:
        """Takes tasks, which are pickles of this process: no other one gets here."""
        with own_pickles():
            return await super().update_graph(*arguments, **options)

    async def run_own_function(self, comm: Any, **options: Any) -> Any:
        """Runs a function, which is a pickle of this process."""
        with own_pickles():
            return await self.run_function(comm, **options)

    async def _handle_comm(self, comm: Any) -> None:
        _is_own.set(isinstance(comm, InProc))  # this coroutine is a task, with a context of its own
        await super()._handle_comm(comm)


class _Guarded(dict[str, Any]):
    """Handlers by the names of messages; a connection from outside finds those of workers alone."""

    def __init__(self, handlers: dict[str, Any], of_workers: frozenset[str]) -> None:
        super().__init__(handlers)
        self._of_workers = of_workers

    def __getitem__(self, name: str) -> Any:
        if name not in self._of_workers and not _is_own.get():
            raise KeyError(name)
        return super().__getitem__(name)
