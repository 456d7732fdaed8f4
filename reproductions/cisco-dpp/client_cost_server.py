"""A PostgreSQL server for a few minutes: a cluster in a temporary folder, on loopback, gone
afterwards."""

import getpass
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tailrace.live.lab.fabric import FabricError
from tailrace.programs.postgres import SETTINGS, USER, Installation, installation

DATABASE = "postgres"
START_LIMIT_S = 60
STOP_LIMIT_S = 30
POLL_S = 0.1
LOOPBACK = "127.0.0.1"


@contextmanager
def server() -> Iterator[tuple[Installation, Mapping[str, str]]]:
    """The installed programs and the environment with which libpq finds the server.

    The server listens on loopback only and asks for a password that is drawn anew. As root it runs
    as the account of Debian's package, because it refuses to run as root. Raises `FabricError`
    where PostgreSQL is missing or does not start.
    """
    installed = installation()
    account = USER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="client-cost-") as name:
        folder = Path(name)
        if account is not None:
            shutil.chown(folder, account)
        environment = _initialised(installed, folder, account)
        process = _started(installed, folder, account, environment)
        try:
            yield installed, environment
        finally:
            process.send_signal(signal.SIGINT)  # PostgreSQL: fast shutdown
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _initialised(installed: Installation, folder: Path, account: str | None) -> dict[str, str]:
    """A new cluster; returns the environment of its clients."""
    password = folder / "password"
    password.write_text(secrets.token_hex(16), encoding="utf-8")
    if account is not None:
        shutil.chown(password, account)
    user = account or getpass.getuser()
    argv = [
        str(installed.program("initdb")),
        "--pgdata",
        str(folder / "data"),
        "--username",
        user,
        "--no-sync",
    ]
    argv += [
        "--encoding",
        "UTF8",
        "--locale",
        "C",
        "--auth",
        "scram-sha-256",
        "--pwfile",
        str(password),
    ]
    done = subprocess.run(
        argv, user=account, capture_output=True, text=True, timeout=START_LIMIT_S, check=False
    )
    if done.returncode != 0:
        raise FabricError(f"initdb: {done.stderr.strip()}")
    home = pwd.getpwuid(os.geteuid()).pw_dir
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": home,
        "LC_ALL": "C.UTF-8",
        "PGHOST": LOOPBACK,
        "PGPORT": str(_free_port()),
        "PGUSER": user,
        "PGPASSWORD": password.read_text(encoding="utf-8"),
        "PGDATABASE": DATABASE,
    }


def _started(
    installed: Installation, folder: Path, account: str | None, environment: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    settings = {setting.name: setting.value for setting in SETTINGS}
    settings |= {
        "listen_addresses": LOOPBACK,
        "port": environment["PGPORT"],
        "unix_socket_directories": "",
    }
    argv = [str(installed.program("postgres")), "-D", str(folder / "data")]
    for key, value in settings.items():
        argv += ["-c", f"{key}={value}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            argv, user=account, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    deadline = time.monotonic() + START_LIMIT_S
    ready = [str(installed.program("pg_isready")), "--quiet"]
    while (
        subprocess.run(ready, env=dict(environment), timeout=START_LIMIT_S, check=False).returncode
        != 0
    ):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise FabricError(
                f"postgres did not start: {(folder / 'log').read_text(errors='replace').strip()}"
            )
        time.sleep(POLL_S)
    return process


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
