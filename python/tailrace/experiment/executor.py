"""Where trials run: on threads of this process, or elsewhere (`remote`)."""

from collections.abc import Callable
from typing import Protocol

from tailrace.errors import RunRefusedError
from tailrace.experiment.cores import ONE, cores_of_each
from tailrace.experiment.engine import SIMULATED, Engine
from tailrace.experiment.pool import LEAVE_S, Pool, Watcher
from tailrace.experiment.schedule import Keys, TrialKey

PlanOf = Callable[[TrialKey], str]
"""The plan of a trial as JSON."""


class Executor(Protocol):
    """Runs lists of trials; one executor may run many lists, one after the other."""

    @property
    def name(self) -> str:
        """`local`, or the value of `--on`; written to the manifest."""
        ...

    @property
    def slots(self) -> int:
        """Number of concurrent trials; with workers that come and go, the present number."""
        ...

    def run_all(self, keys: Keys, plan_of: PlanOf, watcher: Watcher) -> bool:
        """Runs every trial; returns whether it was interrupted (Ctrl-C, SIGTERM).

        The watcher receives each outcome once, as it comes, and never in two threads at once. A
        trial that the engine rejects is handed on as `Failed`; any other error stops all trials and
        is raised.
        """
        ...


class Local:
    """Threads of this process."""

    name = "local"

    def __init__(self, jobs: int, engine: Engine, cores: int | None = None) -> None:
        """`cores`: those of each trial; None for a share of the machine's where that is faster."""
        self.slots = jobs
        self._engine = engine
        self._cores = cores

    def run_all(self, keys: Keys, plan_of: PlanOf, watcher: Watcher) -> bool:
        """Runs every trial on a pool of threads."""
        cores = (
            ONE
            if self._engine.has_one_core
            else cores_of_each(self._cores, min(self.slots, len(keys)))
        )
        leave_s = LEAVE_S if self._engine.name == SIMULATED else None
        return Pool(
            self.slots, lambda key: self._engine.trial(plan_of(key), cores), watcher, leave_s
        ).run_all(keys)


def refuse_elsewhere(engine: Engine, executor_name: str) -> None:
    """Raises `RunRefusedError` when trials of an engine that is tied to this machine are to run
    elsewhere."""
    if engine.name != SIMULATED and executor_name != Local.name:
        raise RunRefusedError(
            f"--on {executor_name} runs simulated trials only: {engine.name} trials use the "
            "processes and the kernel of this machine, and their results depend on it (hint: omit "
            "--on, or run the command on the other machine)"
        )
