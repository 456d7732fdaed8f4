"""The certificates with which the command connects to existing schedulers, and those that it makes
for its own."""

import os
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.remote.address import SchedulerAddress, absent_words, greets
from tailrace.experiment.remote.pickles import printable
from tailrace.files import read_bytes

CONFIGURED = {
    "--tls-ca": "distributed.comm.tls.ca-file",
    "--tls-cert": "distributed.comm.tls.client.cert",
    "--tls-key": "distributed.comm.tls.client.key",
}
"""Keys of Dask's configuration that correspond to options."""
KEYS_PREFIX = ".tailrace-keys-"
"""Of the folder with the keys of a run; the name of the machine and the number of the process
follow."""
ROLES = ("client", "scheduler", "worker")
"""Whom Dask gives certificates."""
PEM_BYTES_MAX = 10**6
"""Of a file of certificates."""


@dataclass(frozen=True)
class Credentials:
    """The options `--tls-ca`, `--tls-cert` and `--tls-key`; None where Dask's configuration
    applies."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def given(self) -> dict[str, Path]:
        """The options that were given."""
        options = {"--tls-ca": self.ca, "--tls-cert": self.cert, "--tls-key": self.key}
        return {name: path for name, path in options.items() if path is not None}

    def security(self, on: str) -> Any:
        """Dask's object for `tls://`; raises `RunRefusedError` for files that are missing or are
        none."""
        import dask
        from distributed import Security

        files = {
            name: self.given().get(name) or dask.config.get(key, None)
            for name, key in CONFIGURED.items()
        }
        # A key may stand in the file of its certificate.
        if missing := [name for name in ("--tls-ca", "--tls-cert") if not files[name]]:
            raise RunRefusedError(
                f"--on {on} requires {missing[0]} (hint: PEM files, by --tls-ca, --tls-cert "
                "and --tls-key or by"
                f" {CONFIGURED[missing[0]]} of Dask's configuration)"
            )
        for name, file in files.items():
            try:
                read_bytes(Path(str(file)), PEM_BYTES_MAX) if file else None
            except OSError as error:
                raise RunRefusedError(
                    f"--on {on}: {name} {file}: {error.strerror} (hint: a file in PEM form)"
                ) from None
        try:
            security = Security(
                require_encryption=True,
                tls_ca_file=str(files["--tls-ca"]),
                tls_client_cert=str(files["--tls-cert"]),
                tls_client_key=str(files["--tls-key"]) if files["--tls-key"] else None,
            )
            security.get_connection_args("client")
        except (OSError, ValueError) as error:
            raise RunRefusedError(_unreadable(on, error)) from None
        return security


@contextmanager
def keys_of_run(folder: Path) -> Iterator[Any]:
    """Dask's object with a key and a certificate that are made for this run, and that all its
    processes share.

    The files have mode 0600 in a folder of mode 0700 below `folder`, and are removed when the block
    ends. Files of killed runs on this machine are removed first.
    """
    import cryptography  # noqa: F401  reported by its name where it is missing
    from distributed import Security

    made = Security.temporary()
    own = f"{KEYS_PREFIX}{socket.gethostname()}-"
    for left in folder.glob(f"{own}*"):
        if not _lives(left.name.removeprefix(own).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=f"{own}{os.getpid()}-", dir=folder) as private:
        cert = _written(Path(private, "cert.pem"), made.tls_client_cert)
        key = _written(Path(private, "key.pem"), made.tls_client_key)
        files = {
            f"tls_{role}_{kind}": file
            for role in ROLES
            for kind, file in (("cert", cert), ("key", key))
        }
        yield Security(require_encryption=True, tls_ca_file=cert, **files)


def _lives(number: str) -> bool:
    """Whether a process of this number, as text, is there; another one may have it by now."""
    return not number.isdecimal() or Path("/proc", number).exists()


def _written(path: Path, text: str) -> str:
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii"
    ) as file:
        file.write(text)
    return str(path)


def refuse_stranger(on: str, security: Any, say: Callable[[str], None]) -> None:
    """Raises `RunRefusedError` when the scheduler of `tls://` has another certificate, does not
    take this one, or is silent; `say` as for `refuse_absent`.
    """
    context: ssl.SSLContext = security.get_connection_args("client")["ssl_context"]
    try:
        with (
            SchedulerAddress.parse(on).connect() as plain,
            context.wrap_socket(plain) as connection,
        ):
            # With TLS 1.3 the server refuses a certificate after the handshake, where the greeting
            # is expected.
            if greets(connection, on, say):
                return
        why = "it closes the connection"
    except ssl.SSLCertVerificationError as error:
        why = f"its certificate is not signed by --tls-ca: {error.verify_message}"
    except ssl.SSLError as error:
        why = f"TLS fails: {error.reason or error} (a scheduler without TLS is dask://HOST:PORT)"
    except TimeoutError as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or str(error)
    raise RunRefusedError(absent_words(on, printable(why)))


def _unreadable(on: str, error: Exception) -> str:
    what = getattr(error, "reason", None) or error
    return (
        f"--on {on}: a certificate or key cannot be loaded: {printable(str(what))} (hint: PEM "
        "files, of which --tls-key belongs to --tls-cert)"
    )
