"""A Slurm of one node on loopback, from Debian's packages, with its own munge daemon; all of it
ends with the block."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
START_S = 60
CORES = 4
"""Cores that the node says it has."""
CONF = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=16000 State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The programs that are not installed; a test that needs them names them."""
    path = os.environ.get("PATH", "") + ":/usr/sbin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands, and Dask's jobs, use this Slurm."""
    processes: list[subprocess.Popen[bytes]] = []
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    conf = folder / "slurm.conf"
    ports = {"ctld_port": _free_port(), "slurmd_port": _free_port()}
    conf.write_text(
        CONF.format(folder=folder, host=socket.gethostname().split(".")[0], cores=CORES, **ports)
    )
    environment = {
        **os.environ,
        "PATH": os.environ.get("PATH", "") + ":/usr/sbin",
        "SLURM_CONF": str(conf),
        "DASK_JOBQUEUE__SLURM__INTERFACE": "lo",
        "DASK_JOBQUEUE__SLURM__LOG_DIRECTORY": str(folder / "jobs"),
    }
    files = [f"--{kind}-file={folder}/munge.{kind}" for kind in ("key", "pid", "log", "seed")]
    commands = (
        ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *files],
        ["slurmctld", "-D", "-c", "-f", str(conf)],
        ["slurmd", "-D", "-f", str(conf)],
    )
    try:
        for command in commands:
            with (folder / f"{command[0]}.out").open("wb") as out:
                processes.append(
                    subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=folder)
                )
            if command[0] == "munged":
                _wait(lambda: (folder / "munge.socket").exists(), "munged")
        _wait(lambda: "idle" in told(environment, "sinfo", "-h", "-o", "%T"), "the node")
        yield environment
    finally:
        for process in reversed(processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)
        _kill_orphans(conf)


def _kill_orphans(conf: Path) -> None:
    """Kills what the jobs of this Slurm left: `proctrack/linuxproc` loses a process whose shell has
    ended."""
    mark = f"SLURM_CONF={conf}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = mark in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if is_ours and int(folder.name) != os.getpid():
            with suppress(ProcessLookupError):
                os.kill(int(folder.name), signal.SIGKILL)


def told(environment: dict[str, str], *command: str) -> str:
    """What a command of Slurm says."""
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=START_S, check=False
    )
    return done.stdout


def jobs(environment: dict[str, str], state: str = "PENDING,RUNNING,COMPLETING") -> list[str]:
    """The identifiers of the jobs in these states."""
    return told(environment, "squeue", "-h", "-o", "%i", "-t", state).split()


def _wait(is_so: "object", what: str) -> None:
    assert callable(is_so)
    until_s = time.monotonic() + START_S
    while not is_so():
        assert time.monotonic() < until_s, f"{what} did not start"
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
