"""Loaded by a Dask worker before anything else: makes it hostile; `EVIL` names the attack."""

import os
from typing import Any

import fake_native
from evil import Evil, evil_bytes
from tailrace.experiment.remote import worker as subject
from tailrace.experiment.remote.envelope import Answers

fake_native.install()
KIND = os.environ["EVIL"]
honest = subject.run_batch


def raises(_text: str) -> bytes:
    """An exception, which Dask pickles."""
    raise RuntimeError(Evil())


def warns(text: str) -> bytes:
    """An honest answer, and a warning, which Dask's client would load."""
    from distributed import get_worker

    get_worker().log_event("warn", {"message": evil_bytes(), "category": evil_bytes()})
    return honest(text)


def garbles(_text: str) -> bytes:
    """Bytes that are no answer."""
    return b"\xc1\xff\x1b[2J"


def writes_elsewhere(text: str) -> bytes:
    """An honest answer whose tables have other names."""
    from msgspec.structs import replace

    answers = Answers.read(honest(text))
    moved = [
        replace(one, tables={f"../../{name}": of for name, of in one.tables.items()})
        for one in answers.answers
    ]
    return replace(answers, answers=tuple(moved)).packed()


def dask_setup(worker: Any) -> None:
    """Called by Dask when the worker starts."""
    replaced = {"error": raises, "warning": warns, "garbage": garbles, "names": writes_elsewhere}
    if KIND in replaced:
        setattr(subject, "run_batch", replaced[KIND])  # noqa: B010  what the client sends is its name
    else:
        worker.handlers["get_data"] = gives


async def gives(comm: Any, keys: Any = (), **_options: Any) -> Any:
    """A result that is an object, with the serialiser that loads it."""
    from distributed.core import Status
    from distributed.protocol import to_serialize

    data = {key: to_serialize(Evil()) for key in keys}
    await comm.write({"status": "OK", "data": data}, serializers=["pickle"])
    return Status.dont_reply
