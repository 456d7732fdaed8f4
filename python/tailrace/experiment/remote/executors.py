"""Where `--on` sends trials: `local`, `dask://HOST:PORT`, `tls://HOST:PORT` or `slurm`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.executor import Executor, Local
from tailrace.experiment.remote.address import SchedulerAddress, refuse_absent
from tailrace.experiment.remote.credentials import Credentials, refuse_stranger
from tailrace.experiment.remote.envelope import Build, own_build
from tailrace.experiment.remote.link import Link, import_dask
from tailrace.experiment.remote.pickles import refused_pickles
from tailrace.experiment.remote.slurm import NAME as SLURM
from tailrace.experiment.remote.slurm import Jobs, slurm_workers
from tailrace.experiment.remote.workers import Workers


def refuse_executor(
    on: str, jobs: Jobs, at_once: int | None = None, credentials: Credentials | None = None
) -> None:
    """Raises `RunRefusedError` when the value of `--on` is unknown, or when options of another
    value are given.

    `at_once` is the value of `--jobs`, the number of threads of this process.
    """
    if at_once is not None and on != Local.name:
        raise RunRefusedError(
            "--jobs requires --on local (hint: the workers decide how many trials run at once)"
        )
    if on != SLURM and (given := jobs.given()):
        raise RunRefusedError(
            f"{given[0]} requires --on slurm (hint: of a Dask cluster, its workers decide it)"
        )
    is_encrypted = on not in (Local.name, SLURM) and SchedulerAddress.parse(on).is_encrypted
    if credentials is not None and (files := credentials.given()) and not is_encrypted:
        raise RunRefusedError(
            f"{next(iter(files))} requires --on tls://HOST:PORT (hint: with --on slurm, the "
            "command makes its own keys)"
        )


@contextmanager
def opened(
    on: str,
    jobs: Jobs,
    say: Callable[[str], None],
    at_once: int | None = None,
    credentials: Credentials | None = None,
) -> Iterator[Executor | None]:
    """The executor of `--on` while the block runs; None for `local`. Workers of another build are
    refused.

    While the block runs elsewhere, no thread of this process loads a pickle that names a class.
    """
    refuse_executor(on, jobs, at_once, credentials)
    if on == Local.name:
        yield None
    elif on == SLURM:
        with slurm_workers(jobs, say) as workers:
            yield workers
    else:
        refuse_absent(on, say)
        import_dask(on)
        security = security_of(on, credentials or Credentials(), say)
        link = Link(str(SchedulerAddress.parse(on)), on, security)
        with refused_pickles():
            link.open()
            try:
                refuse_builds(on, link.builds())
                workers = Workers(on, link, say)
                yield workers
                workers.close()
            finally:
                link.close()


def security_of(on: str, credentials: Credentials, say: Callable[[str], None]) -> Any:
    """Dask's certificates for a scheduler; None for one without TLS, with a warning when it is on
    another machine."""
    import dask

    address = SchedulerAddress.parse(on)
    if address.is_encrypted:
        security = credentials.security(on)
        refuse_stranger(on, security, say)
        return security
    if dask.config.get("distributed.comm.require-encryption", None):
        raise RunRefusedError(
            f"--on {on}: Dask's configuration requires encryption (hint: --on "
            f"tls://{address.host}:{address.port})"
        )
    if not address.is_loopback:
        say(
            f"warning: {on}: no encryption and no authentication: every program that reaches "
            "this scheduler can run"
            " code on its workers, and every machine between can change trials (hint: --on"
            f" tls://{address.host}:{address.port})"
        )
    return None


def refuse_builds(on: str, builds: dict[str, Build | str]) -> None:
    """Raises `RunRefusedError` when one of the workers has another build, or none."""
    for worker, build in builds.items():
        if build != own_build():
            raise RunRefusedError(
                f"--on {on}: the worker {worker} has {build}, and this command has {own_build()}"
                " (hint: install the same wheel everywhere and restart the workers)"
            )
