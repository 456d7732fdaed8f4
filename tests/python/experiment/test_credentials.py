"""Schedulers of others behind TLS, and what is said of those without it."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest

from dask_processes import cluster
from lab import load
from tailrace.errors import RunRefusedError
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.plans import Plans
from tailrace.experiment.remote.credentials import (
    CONFIGURED,
    Credentials,
    keys_of_run,
    refuse_stranger,
)
from tailrace.experiment.remote.executors import opened, refuse_executor, security_of
from tailrace.experiment.remote.slurm import Jobs
from tailrace.experiment.schedule import TrialKey


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credentials]:
    """Certificate and key of the cluster, which signs itself."""
    with keys_of_run(tmp_path_factory.mktemp("own")) as security:
        cert = Path(security.tls_ca_file)
        yield Credentials(cert, cert, Path(security.tls_worker_key))


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Credentials]:
    """Those of another cluster."""
    with keys_of_run(tmp_path) as security:
        cert = Path(security.tls_ca_file)
        yield Credentials(cert, cert, Path(security.tls_worker_key))


class Kept:
    """Keeps how trials ended."""

    def __init__(self) -> None:
        self.ended: list[Ran | Failed] = []

    def tick(self, running: object) -> None:
        """Nothing."""

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """One more."""
        self.ended.append(ended)


@pytest.mark.usefixtures("fake")
def test_trials_run_behind_tls_and_strangers_are_told(
    own: Credentials, other: Credentials, tmp_path: Path
) -> None:
    files = {"--tls-ca-file": own.ca, "--tls-cert": own.cert, "--tls-key": own.key}
    tls = [word for name, file in files.items() for word in (name, str(file))]
    kept, plans = Kept(), Plans(load().arms)
    with cluster(tmp_path, workers=1, tls=tls) as place:
        with opened(place.address, Jobs(), print, credentials=own) as executor:
            assert executor is not None
            executor.run_all([TrialKey("dpp", 1)], plans.json, kept)
        configured = {CONFIGURED[name]: str(file) for name, file in own.given().items()}
        with dask.config.set(configured), opened(place.address, Jobs(), print):
            pass
        mixed = Credentials(own.ca, other.cert, other.key)
        for wrong, why in (
            (other, "its certificate is not signed by --tls-ca"),
            (mixed, "TLS fails: "),
        ):
            with (
                pytest.raises(RunRefusedError, match=why),
                opened(place.address, Jobs(), print, credentials=wrong),
            ):
                raise AssertionError("it was refused")
    assert [type(one) for one in kept.ended] == [Ran]


def test_a_scheduler_without_tls_behind_tls_is_told(own: Credentials) -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:
        place = f"tls://127.0.0.1:{plain.getsockname()[1]}"

        def greet() -> None:
            connection, _ = plain.accept()
            with connection:
                connection.sendall(bytes(64))

        greeter = threading.Thread(target=greet)
        greeter.start()
        with pytest.raises(
            RunRefusedError, match=r"TLS fails: .*a scheduler without TLS is dask://HOST:PORT"
        ):
            refuse_stranger(place, own.security(place), print)
        greeter.join()


def test_a_connection_without_tls_is_refused_by_the_command_itself(own: Credentials) -> None:
    assert (
        own.security("tls://node7:8786").get_connection_args("client")["require_encryption"] is True
    )


def test_certificates_that_are_missing_or_none_are_named(own: Credentials, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no certificate", "utf-8")
    for files, why in (
        (Credentials(), "requires --tls-ca"),
        (Credentials(own.ca), "requires --tls-cert"),
        (Credentials(own.ca, tmp_path / "absent", own.key), "--tls-cert .*absent: No such file"),
        (Credentials(own.ca, text, own.key), "a certificate or key cannot be loaded"),
        (Credentials(text, own.cert, own.key), "a certificate or key cannot be loaded"),
    ):
        with pytest.raises(RunRefusedError, match=why):
            files.security("tls://node7:8786")


def test_options_of_tls_belong_to_tls(own: Credentials) -> None:
    for place in ("local", "slurm", "dask://127.0.0.1:8786"):
        with pytest.raises(RunRefusedError, match="--tls-ca requires --on tls://HOST:PORT"):
            refuse_executor(place, Jobs(), credentials=own)
    refuse_executor("tls://127.0.0.1:8786", Jobs(), credentials=own)


@pytest.mark.parametrize(
    ("host", "is_warned"),
    [
        ("127.0.0.1", False),
        ("[::1]", False),
        ("localhost", False),
        ("192.0.2.1", True),
        ("[2001:db8::1]", True),
        ("node7", True),
    ],
)
def test_a_scheduler_of_another_machine_without_tls_is_warned_of(
    host: str, is_warned: bool
) -> None:
    said: list[str] = []
    assert security_of(f"dask://{host}:8786", Credentials(), said.append) is None
    assert [text.split(": ")[0] for text in said] == ["warning"] * is_warned


def test_a_configuration_of_dask_that_requires_encryption_is_respected() -> None:
    required = dask.config.set({"distributed.comm.require-encryption": True})
    with required, pytest.raises(RunRefusedError, match="Dask's configuration requires encryption"):
        security_of("dask://127.0.0.1:8786", Credentials(), print)


def test_keys_that_a_killed_run_left_are_removed(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    lives = [
        f".tailrace-keys-{socket.gethostname()}-{os.getppid()}-x",
        f".tailrace-keys-elsewhere-{dead.pid}-x",
    ]
    for name in (*lives, f".tailrace-keys-{socket.gethostname()}-{dead.pid}-x"):
        tmp_path.joinpath(name).mkdir()
        tmp_path.joinpath(name, "key.pem").touch()
    with keys_of_run(tmp_path) as security:
        there = {path.name for path in tmp_path.iterdir()}
        assert there == {*lives, Path(security.tls_ca_file).parent.name}
    assert {path.name for path in tmp_path.iterdir()} == set(lives)
