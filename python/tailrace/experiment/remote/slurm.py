"""Workers that Slurm starts: each is a job with `dask worker`, and all of them end with the
command."""

import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.remote.credentials import keys_of_run
from tailrace.experiment.remote.link import Link, import_dask
from tailrace.experiment.remote.pickles import refused_pickles
from tailrace.experiment.remote.workers import Workers
from tailrace.files import require_plain

NAME = "slurm"
COMMANDS = ("sbatch", "squeue", "scancel")
"""Commands of Slurm that are called."""
COMMAND_S = 30.0
"""Time limit of one of them."""
TEND_EVERY_S = 5.0
"""Seconds between two checks for missing jobs."""
WORKERS_MAX, CORES, TIME = 4, 1, "01:00:00"
"""Jobs, cores of each job and its time limit unless the options say otherwise."""
MEMORY_OF_A_CORE = "2GB"
"""Memory that a job requests for each of its cores; Dask's configuration `jobqueue.slurm.memory`
takes precedence."""
LIFELINE = "tailrace.experiment.remote.lifeline"
"""Module that ends a worker without a scheduler, or whose job has ended."""
PRIVATE = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
"""Dask's pages, which every worker has, are for its own machine alone."""
DEATH_S = 60
"""A worker that finds no scheduler for this time at its start ends, and so does its job."""
PARTITION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+-]{0,255}")
"""One or several partitions (sbatch(1), `--partition`): they stand in the script of a job."""
TIME_LIMIT = re.compile(
    r"[0-9]{1,9}(-[0-9]{1,2})?(:[0-9]{1,2}){0,2}|UNLIMITED|INFINITE", re.IGNORECASE
)
"""`minutes`, `hours:minutes:seconds`, `days-hours:minutes:seconds` and the forms between
(sbatch(1), `--time`)."""


@dataclass(frozen=True)
class Jobs:
    """The options of `--on slurm`; None for the default."""

    partition: str | None = None
    time: str | None = None
    cores: int | None = None
    workers_max: int | None = None

    def __post_init__(self) -> None:
        if self.partition is not None and not PARTITION.fullmatch(self.partition):
            raise RunRefusedError(
                f"--partition: {self.partition!r} is not a partition (hint: `sinfo` lists them)"
            )
        if self.time is not None and not TIME_LIMIT.fullmatch(self.time):
            raise RunRefusedError(
                f"--time: {self.time!r} is not a time limit of Slurm (hint: write 01:00:00)"
            )

    def given(self) -> list[str]:
        """The options that were given."""
        options = {
            "--partition": self.partition,
            "--time": self.time,
            "--cores": self.cores,
            "--max-workers": self.workers_max,
        }
        return [name for name, value in options.items() if value is not None]

    @property
    def slots(self) -> int:
        """Trials that run at once when all jobs do: one on each core."""
        return (self.workers_max or WORKERS_MAX) * (self.cores or CORES)


@contextmanager
def slurm_workers(jobs: Jobs, say: Callable[[str], None]) -> Iterator[Workers]:
    """Submits the jobs and yields the executor on their workers; cancels every job at the end."""
    import_dask(NAME, "slurm")
    folder = Path(_configured("shared-temp-directory") or Path.cwd()).expanduser()
    require_plain(
        "--on slurm: the folder for the keys of the run", folder, "run it in another folder"
    )
    _refuse_absent()
    _refuse_script(batch_script(jobs))
    with ExitStack() as stack:
        with _scheduler_errors():
            security = stack.enter_context(keys_of_run(folder))
        stack.enter_context(refused_pickles())
        cluster = stack.enter_context(_cluster(jobs, security))
        count = jobs.workers_max or WORKERS_MAX
        try:
            cluster.scale(jobs=count)
            link = Link(cluster.scheduler_address, NAME)
            link.open()
            say(
                f"{NAME}: {count} job{'s' if count != 1 else ''} submitted, "
                f"{_listening(cluster, security)}"
            )
            try:
                workers = Workers(NAME, link, say, _Tender(cluster, count, say))
                yield workers
                workers.close()
            finally:
                link.close()
        finally:
            ids = [
                str(worker.job_id)
                for worker in cluster.workers.values()
                if getattr(worker, "job_id", None)
            ]
            cluster.close(timeout=COMMAND_S)
            _cancel(ids)


def batch_script(jobs: Jobs) -> str:
    """The script that Slurm would get for each worker; made without Slurm, without a scheduler and
    without a socket."""
    import_dask(NAME, "slurm")
    with _scheduler_errors():
        job = dask_slurm().SLURMJob(
            "tls://ADDRESS:PORT",
            name="NUMBER",
            protocol="tls://",
            interface=_configured("interface"),
            security=_NamedFiles(),
            **_job_options(jobs),
        )
        return str(job.job_script())


def dask_slurm() -> Any:
    """Dask's module for Slurm. Its import has Ctrl-C end the process with exit code 0, which is
    taken back."""
    before = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue.slurm
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
    return dask_jobqueue.slurm


def _job_options(jobs: Jobs) -> dict[str, Any]:
    cores = jobs.cores or CORES
    return {
        "queue": jobs.partition,
        "walltime": jobs.time or TIME,
        "cores": cores,
        "processes": 1,
        "memory": _configured("memory") or f"{cores * int(MEMORY_OF_A_CORE[:-2])}GB",
        "death_timeout": DEATH_S,
        "python": _configured("python") or shlex.quote(sys.executable),
        "worker_extra_args": [
            *(_configured("worker-extra-args") or []),
            *PRIVATE,
            "--preload",
            LIFELINE,
        ],
        "nanny": False,
    }


def _configured(key: str) -> Any:
    """A value of Dask's configuration for jobs of Slurm; None without one."""
    import dask

    return dask.config.get(f"jobqueue.slurm.{key}", None)


class _NamedFiles:
    """Stands for the certificates in a script that no job runs."""

    def get_tls_config_for_role(self, _role: str) -> dict[str, str]:
        """As Dask's `Security`."""
        return {name: f"{name.upper()}-OF-THE-RUN" for name in ("ca_file", "cert", "key")}


@contextmanager
def _cluster(jobs: Jobs, security: Any) -> Iterator[Any]:
    with _scheduler_errors():
        from tailrace.experiment.remote.dask_scheduler import RunScheduler

        cluster = dask_slurm().SLURMCluster(
            scheduler_cls=RunScheduler,
            scheduler_options=_scheduler_options(),
            security=security,
            **_job_options(jobs),
        )
    try:
        yield cluster
    finally:
        cluster.close(timeout=COMMAND_S)


def _scheduler_options() -> dict[str, Any]:
    """The address of the scheduler: the interface of Dask's configuration, otherwise that of the
    default route."""
    from distributed.utils import get_ip

    chosen = _configured("scheduler-options") or {}
    options = {
        key: chosen[key]
        for key in ("host", "interface", "port", "contact_address")
        if key in chosen
    }
    if interface := _configured("interface"):
        options.setdefault("interface", interface)
    if not {"host", "interface"} & set(options):
        options["host"] = get_ip()
    return {"dashboard": False, "dashboard_address": "127.0.0.1:0", **options}


def _listening(cluster: Any, security: Any) -> str:
    """Where the scheduler listens, and for whom."""
    return (
        f"scheduler {cluster.scheduler.address}, for workers with the TLS key of this run (in"
        f" {Path(security.tls_worker_key).parent} until the end; another interface:"
        " DASK_JOBQUEUE__SLURM__INTERFACE=ib0)"
    )


@contextmanager
def _scheduler_errors() -> Iterator[None]:
    """Converts missing packages and errors in Dask's configuration into `RunRefusedError`."""
    try:
        yield
    except ImportError as error:
        missing = error.name or str(error)
        raise RunRefusedError(
            f"--on slurm requires {missing} (hint: pip install 'tailrace[slurm]')"
        ) from None
    except (RuntimeError, OSError, ValueError) as error:
        raise RunRefusedError(
            f"--on slurm: the scheduler does not start: {_one_line(error)}"
        ) from None


def _refuse_absent() -> None:
    """Raises `RunRefusedError` on a machine without the commands of Slurm."""
    if missing := [command for command in COMMANDS if shutil.which(command) is None]:
        raise RunRefusedError(
            f"--on slurm: the command `{missing[0]}` is not on the PATH (hint: run it on a login "
            "node of the cluster; on Debian, the package is slurm-client)"
        )


def _refuse_script(script: str) -> None:
    """Raises `RunRefusedError` with Slurm's message when it would reject the job, before anything
    is submitted."""
    command = ["sbatch", "--test-only"]
    try:
        done = subprocess.run(
            command, input=script, capture_output=True, text=True, timeout=COMMAND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunRefusedError(f"--on slurm: sbatch does not answer: {_one_line(error)}") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise RunRefusedError(
            f"--on slurm: Slurm refuses the jobs: {said} (hint: check --partition, --time and "
            "--cores with `sinfo`)"
        )


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


class _Tender:
    """Submits jobs again where some ended: cancelled, out of time, or on a node that failed."""

    def __init__(self, cluster: Any, count: int, say: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._count = count
        self._say = say
        self._next_s = time.monotonic() + TEND_EVERY_S

    def __call__(self) -> None:
        now_s = time.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + TEND_EVERY_S
        if (missing := self._count - len(self._cluster.workers)) > 0:
            self._say(
                f"{NAME}: {missing} job{'s have' if missing != 1 else ' has'} ended; "
                "submitting again"
            )
            self._cluster.scale(jobs=self._count)


def _cancel(ids: list[str]) -> None:
    """Cancels jobs that Slurm may still have; a job that has ended is no error."""
    if ids:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["scancel", *ids], check=False, capture_output=True, timeout=COMMAND_S)
