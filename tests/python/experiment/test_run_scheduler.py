"""The scheduler of `--on slurm`: its door is TLS, and behind it workers can do what workers do.

The jobs are processes of this machine, on loopback: no Slurm is needed.
"""

import asyncio
import os
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest

from evil import FOLDER, Evil, evil_bytes, marked
from fake_slurm import fake_slurm, wait_for
from lab import load
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.plans import Plans
from tailrace.experiment.remote.dask_scheduler import RunScheduler
from tailrace.experiment.remote.slurm import Jobs, dask_slurm, slurm_workers
from tailrace.experiment.schedule import TrialKey

dask_slurm()  # it sets defaults when it is imported
ENDED = (None, "nothing")
"""What a request gets that only the command may make."""


@pytest.fixture
def jobs_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Jobs run as processes of this machine, with the stand-in for the simulator; the folder of
    their files."""
    support = Path(__file__).resolve().parents[2] / "support"
    python = os.pathsep.join([str(support.parents[1] / "python"), str(support)])
    with fake_slurm(tmp_path / "slurm") as folder:
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.setenv("PYTHONPATH", python)
        monkeypatch.chdir(tmp_path)
        with dask.config.set(
            {
                "jobqueue.slurm.interface": "lo",
                "jobqueue.slurm.worker-extra-args": ["--preload", "fake_worker"],
            }
        ):
            yield folder


class Kept:
    """Keeps how trials ended."""

    def __init__(self) -> None:
        self.ended: list[Ran | Failed] = []

    def tick(self, running: object) -> None:
        """Nothing."""

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """One more."""
        self.ended.append(ended)


def listening() -> list[tuple[str, int]]:
    """Addresses at which this process accepts connections."""
    sockets = psutil.Process().net_connections("inet")
    return [(one.laddr.ip, one.laddr.port) for one in sockets if one.status == psutil.CONN_LISTEN]


def keys(folder: Path) -> list[Path]:
    return sorted(folder.glob(".tailrace-keys-*/*"))


@pytest.mark.usefixtures("fake")
def test_trials_run_behind_tls_on_one_interface(jobs_here: Path, tmp_path: Path) -> None:
    said: list[str] = []
    before = listening()
    kept, plans = Kept(), Plans(load().arms)
    with slurm_workers(Jobs(workers_max=1), said.append) as workers:
        [(ip, port)] = [one for one in listening() if one not in before]
        assert ip == "127.0.0.1"
        assert (
            f"1 job submitted, scheduler tls://127.0.0.1:{port}, for workers "
            "with the TLS key of this run" in said[0]
        )
        assert [stat.S_IMODE(file.stat().st_mode) for file in keys(tmp_path)] == [0o600] * 2
        assert stat.S_IMODE(keys(tmp_path)[0].parent.stat().st_mode) == 0o700
        wait_for(lambda: workers.slots, jobs_here)
        workers.run_all([TrialKey("dpp", 1)], plans.json, kept)
        _refuse_strangers(port)
    assert [type(one) for one in kept.ended] == [Ran]
    assert (keys(tmp_path), [one for one in listening() if one not in before]) == ([], [])


def _refuse_strangers(port: int) -> None:
    """One without TLS, and one without a certificate of the run, get no greeting."""
    assert _greeting(None, port) in (b"", b"\x15"), "nothing, or an alert of TLS"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    assert _greeting(context, port) == b""


def _greeting(context: ssl.SSLContext | None, port: int) -> bytes:
    """The first byte of the scheduler; with TLS 1.3 a certificate is refused in its place."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
            if context is None:
                plain.sendall(bytes(64))
                return plain.recv(1)
            with context.wrap_socket(plain) as encrypted:
                return encrypted.recv(1)
    except OSError:
        return b""


@pytest.mark.usefixtures("fake", "jobs_here")
def test_a_hostile_worker_runs_nothing_in_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    monkeypatch.setenv(FOLDER, str(marks))
    with slurm_workers(Jobs(workers_max=1), print) as workers:
        address = _door(listening())
        files = {file.stem: str(file) for file in keys(tmp_path)}
        answers = asyncio.run(_try_everything(address, files, tmp_path))
        assert {name: answer for name, answer in answers.items() if answer not in ENDED} == {}
        assert workers.slots >= 0
        [scheduler] = [one for one in RunScheduler._instances if one.status.name == "running"]
        with pytest.raises(KeyError):
            scheduler.stream_handlers["update-graph"]
        assert scheduler.stream_handlers["task-finished"] is not None
    assert marked() == set()
    assert not (tmp_path / "dump.msgpack.gz").exists()


def _door(sockets: list[tuple[str, int]]) -> str:
    return "tls://{}:{}".format(*sockets[-1])


async def _try_everything(address: str, files: dict[str, str], folder: Path) -> dict[str, Any]:
    """What the holder of the certificate of the run gets for requests that are not those of
    workers."""
    from distributed import Security
    from distributed.protocol.serialize import ToPickle

    security = Security(
        require_encryption=True,
        tls_ca_file=files["cert"], tls_client_cert=files["cert"], tls_client_key=files["key"],
    )  # fmt: skip
    pickled = {"function": evil_bytes(), "args": evil_bytes(), "kwargs": evil_bytes()}
    dump = {"url": str(folder / "dump"), "exclude": [], "format": "msgpack"}
    requests: dict[str, dict[str, Any]] = {
        "a function": {"op": "run_function", "wait": True, **pickled},
        "a plugin": {
            "op": "register_scheduler_plugin",
            "plugin": evil_bytes(),
            "name": "x",
            "idempotent": False,
        },
        "a feed": {
            "op": "feed",
            **pickled,
            "setup": evil_bytes(),
            "teardown": evil_bytes(),
            "interval": 1,
        },
        "a file": {"op": "dump_cluster_state_to_url", **dump},
        "a client": {"op": "register-client", "client": "mine", "versions": {}},
        "an object in a request of a worker": {"op": "identity", "n_workers": ToPickle(Evil())},
        "an object on its stream": {"op": "connection_stream", "extra": {"x": ToPickle(Evil())}},
    }
    return {what: await _asked(address, security, request) for what, request in requests.items()}


async def _asked(address: str, security: Any, request: dict[str, Any]) -> Any:
    from distributed.comm import connect

    comm = await connect(address, timeout=20, **security.get_connection_args("client"))
    try:
        await comm.write({**request, "reply": True})
        answer = await asyncio.wait_for(comm.read(), 20)
    except OSError:
        return "nothing"
    finally:
        comm.abort()
    return (
        "nothing"
        if isinstance(answer, dict) and answer.get("status") == "uncaught-error"
        else answer
    )


def test_an_interrupt_stays_one_where_dask_is_imported() -> None:
    words = "import signal; from tailrace.experiment.remote.slurm import dask_slurm; dask_slurm()"
    line = f"{words}; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    assert subprocess.run([sys.executable, "-c", line], check=False, timeout=60).returncode == 0
