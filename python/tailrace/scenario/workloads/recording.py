"""Recorded requests in a file beside the scenario: one line for each request, with a header.

    connection,start_ns,think_ns,request_bytes,server_ns,response_bytes

Lines of a connection stand in the order of their beginnings; those of different connections may
mix.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema

from tailrace.files import read_bytes
from tailrace.scenario.text.quantities import refuse

FOLDER = "folder"
"""Key of the validation context: the folder of the scenario."""
FIELDS = ("connection", "start_ns", "think_ns", "request_bytes", "server_ns", "response_bytes")
HEADER = ",".join(FIELDS)
BYTES_MAX = 32_000_000
"""Of a file; a longer one is no recording of so many requests."""
REQUESTS_MAX = 200_000
"""Requests of one file: a plan contains each, and a trial takes seconds."""
CONNECTIONS_MAX = 60_000
"""Connections of one file: each has a port of the client."""
TIME_NS_MAX = 86_400 * 10**9
"""One day."""
SIZE_BYTES_MAX = 10**12
LINE_SHOWN_MAX = 60
PS_PER_NS = 1000


class Recorded(NamedTuple):
    """One request with its response."""

    start_ns: int
    """From the start of the recording to the first byte of the request."""
    think_ns: int
    """From the end of the response before it; for the first of a connection, from the opening of
    the connection."""
    request_bytes: int
    server_ns: int
    """From the end of the request to the response, at the server."""
    response_bytes: int


@dataclass(frozen=True)
class Recording:
    """All connections of a file, in the order of their numbers."""

    path: Path
    connections: tuple[tuple[Recorded, ...], ...] = field(repr=False)
    digest: str
    """Of the content: recordings with different requests are different values."""

    @cached_property
    def requests(self) -> int:
        """Of all connections."""
        return sum(map(len, self.connections))

    @cached_property
    def response_bytes(self) -> int:
        """Of all connections."""
        return sum(one.response_bytes for requests in self.connections for one in requests)

    @cached_property
    def lowered_by_time(self) -> list[dict[str, Any]]:
        """The connections in a plan, where requests begin at their times. Checks and all trials use
        the same list."""
        return [
            _lowered(requests, [one.start_ns for one in requests[1:]])
            for requests in self.connections
        ]

    @cached_property
    def lowered_by_think(self) -> list[dict[str, Any]]:
        """The same, where requests begin so long after the response before them."""
        return [
            _lowered(requests, [one.think_ns for one in requests[1:]])
            for requests in self.connections
        ]

    def shortened(self, factor: float) -> "Recording":
        """The first requests of each connection, this share of them and at least one."""
        kept = tuple(
            requests[: max(1, round(factor * len(requests)))] for requests in self.connections
        )
        return Recording(self.path, kept, f"{self.digest}*{factor:g}")


def _lowered(requests: Sequence[Recorded], paced_ns: Sequence[int]) -> dict[str, Any]:
    first = requests[0]
    return {
        "connect_ps": (first.start_ns - first.think_ns) * PS_PER_NS,
        "begin_ps": [ns * PS_PER_NS for ns in (first.start_ns, *paced_ns)],
        "request_bytes": [one.request_bytes for one in requests],
        "server_ps": [one.server_ns * PS_PER_NS for one in requests],
        "response_bytes": [one.response_bytes for one in requests],
    }


def recording_text(connections: Sequence[Sequence[Recorded]]) -> str:
    """The content of a file."""
    lines = (
        ",".join(map(str, (number, *request)))
        for number, requests in enumerate(connections)
        for request in requests
    )
    return "\n".join((HEADER, *lines)) + "\n"


def read_recording(path: Path) -> Recording:
    """Reads a file; raises an error of pydantic that names file and line."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except UnicodeDecodeError:
        raise refuse(f"{path} is not text", f"the first line is {HEADER}") from None
    except OSError as error:
        raise refuse(
            f"{path} cannot be read: {error.strerror}", "write a path relative to the scenario"
        ) from None


@lru_cache(maxsize=16)  # every arm and every point of a sweep reads it again
def _read(path: Path, _changed_ns: int, _size: int) -> Recording:
    content = read_bytes(path, BYTES_MAX)
    lines = content.decode("utf-8").splitlines()
    if not lines or lines[0].strip() != HEADER:
        raise refuse(
            f"{path}:1: this is not the header of a recording", f"the first line is {HEADER}"
        )
    found: dict[int, list[Recorded]] = {}
    for number, line in enumerate(islice(lines, 1, None), 2):
        if number > REQUESTS_MAX + 1:
            raise refuse(
                f"{path}:{number}: more than {REQUESTS_MAX} requests", "keep fewer requests"
            )
        connection, *values = _values(path, number, line)
        request = Recorded(*values)
        earlier = found.setdefault(connection, [])
        if earlier and request.start_ns < earlier[-1].start_ns:
            what = (
                f"{path}:{number}: `start_ns` is below that of the request before it on "
                f"connection {connection}"
            )
            raise refuse(what, "order the requests of a connection by their beginnings")
        if not earlier and request.think_ns > request.start_ns:
            what = (
                f"{path}:{number}: connection {connection} would open before "
                "the start of the recording"
            )
            raise refuse(
                what, "`think_ns` of the first request of a connection is at most `start_ns`"
            )
        earlier.append(request)
    if not found:
        raise refuse(f"{path} has no requests", "write one line for each request below the header")
    if len(found) > CONNECTIONS_MAX:
        raise refuse(
            f"{path} has {len(found)} connections; the limit is {CONNECTIONS_MAX}",
            "keep fewer connections",
        )
    ordered = tuple(tuple(found[connection]) for connection in sorted(found))
    return Recording(path, ordered, hashlib.sha256(content).hexdigest())


def _values(path: Path, number: int, line: str) -> Iterator[int]:
    parts = line.split(",")
    if len(parts) != len(FIELDS):
        shown = line if len(line) <= LINE_SHOWN_MAX else line[:LINE_SHOWN_MAX] + "..."
        what = f"{path}:{number}: {len(parts)} values in '{shown}', not {len(FIELDS)}"
        raise refuse(what, f"a line has {HEADER}")
    for name, text in zip(FIELDS, parts, strict=True):
        least, most = _bounds(name)
        # `isdecimal` alone accepts digits of other scripts.
        if not (text.isascii() and text.strip().isdecimal()) or not least <= int(text) <= most:
            shown = text if len(text) <= LINE_SHOWN_MAX else text[:LINE_SHOWN_MAX] + "..."
            raise refuse(
                f"{path}:{number}: `{name}` is '{shown}'",
                f"write a whole number from {least} to {most}",
            )
        yield int(text)


def _bounds(name: str) -> tuple[int, int]:
    if name.endswith("_bytes"):
        return 1, SIZE_BYTES_MAX
    return 0, TIME_NS_MAX if name.endswith("_ns") else 2**32 - 1


def _from_key(value: object, info: ValidationInfo) -> Recording:
    if isinstance(value, Recording):
        return value
    if not isinstance(value, str) or not value.strip():
        raise refuse(
            "this is not the name of a file", "write the file that `tailrace fit --replay` wrote"
        )
    return read_recording(Path((info.context or {}).get(FOLDER, ".")) / value)


RecordingFile = Annotated[
    Recording,
    BeforeValidator(_from_key),
    WithJsonSchema({"type": "string", "examples": ["recorded.csv"]}),
]
"""Name of a file, relative to the scenario."""
