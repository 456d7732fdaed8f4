"""A pickle that leaves its mark in the process that loads it."""

import os
import pickle
from pathlib import Path
from typing import Any

FOLDER = "EVIL_FOLDER"
"""Variable of the environment: where the marks are."""
CODE = "import os, pathlib; pathlib.Path(os.environ['EVIL_FOLDER'], str(os.getpid())).touch()"


class Evil:
    """Runs `CODE` where it is loaded."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, (CODE,)


def evil_bytes() -> bytes:
    """The pickle."""
    return pickle.dumps(Evil())


def evil_objects() -> dict[str, Any]:
    """The forms in which a message of Dask carries an object."""
    from distributed.protocol import Serialized
    from distributed.protocol.serialize import ToPickle

    return {
        "in-any-message": ToPickle(Evil()),
        "by-its-type": Serialized(
            {"serializer": "dask", "sub-header": {}, "type-serialized": evil_bytes()}, [b""]
        ),
        "by-a-serialiser": Serialized({"serializer": "pickle", "writeable": ()}, [evil_bytes()]),
        "as-an-enumeration": {
            "__Enum__": True,
            "name": "system",
            "__module__": "dask.utils",
            "__name__": "os",
        },
    }


def marked() -> set[int]:
    """The processes that have loaded one."""
    return {int(file.name) for file in Path(os.environ[FOLDER]).iterdir()}
