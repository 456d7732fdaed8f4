"""Redis: its configuration, and the file of its initial values."""

from collections.abc import Iterable
from pathlib import Path

from tailrace.files import make_folder
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "redis-server"
USER = "redis"
"""Debian's account of the server."""
CONNECTIONS_SPARE = 64
"""Besides those of the users: redis-benchmark first requests the configuration; the server reserves
32 for itself."""
FILE = "dump.rdb"
VALUE_BYTES_MAX = 512 * 2**20
"""Redis documentation, "Strings": largest value."""

REDIS = Needed(
    PROGRAM,
    "redis-server",
    "--version",
    "workloads of kind requests with redis-benchmark",
    title="Redis",
)


def value_bytes(response_bytes: int) -> int | None:
    """Size of the value whose response in RESP (`$5`, line end, value, line end) has this size;
    None where there is none: one more digit in the length makes a response two bytes longer.
    """
    for digits in range(1, 10):
        length = response_bytes - len("$\r\n\r\n") - digits
        if length >= 0 and len(str(length)) == digits:
            return length
    return None


def key(request_bytes: int, response_bytes: int) -> str | None:
    """The key of the values of responses of a size, whose `GET` in RESP has a size; None where
    there is none."""
    name = f"r{response_bytes}"
    for digits in range(1, 6):
        length = request_bytes - len("*2\r\n$3\r\nGET\r\n$\r\n\r\n") - digits
        if length >= len(name) and len(str(length)) == digits:
            return name + ":" * (length - len(name))
    return None


def value_of(request_bytes: int, response_bytes: int) -> tuple[str, int]:
    """Key and size of the value of a workload."""
    name, size = key(request_bytes, response_bytes), value_bytes(response_bytes)
    assert name is not None, "checks refuse requests that do not exist"
    assert size is not None, "checks refuse responses that do not exist"
    return name, size


def write_file(folder: Path, values: Iterable[tuple[str, int]]) -> None:
    """A dump with a value for each key, readable for every account."""
    make_folder(folder)
    folder.chmod(0o755)
    file = folder / FILE
    file.write_bytes(dump(dict(values)))
    file.chmod(0o644)


def dump(sizes: dict[str, int]) -> bytes:
    """A dump of version 9 (rdb.h of Redis 5 and later): strings of one database, and no
    checksum."""
    pairs = [_string(name.encode()) + _string(b"x" * size) for name, size in sizes.items()]
    # 0xFE 0: database 0; 0: a string; 0xFF: the end, and a checksum of eight bytes, which is not
    # checked when it is 0.
    return b"REDIS0009\xfe\x00" + b"".join(b"\x00" + pair for pair in pairs) + b"\xff" + bytes(8)


def _string(data: bytes) -> bytes:
    """Length in 6, 14 or 32 bits, and the bytes."""
    size = len(data)
    if size < 2**6:
        return bytes([size]) + data
    if size < 2**14:
        return bytes([0x40 | size >> 8, size & 0xFF]) + data
    return b"\x80" + size.to_bytes(4, "big") + data


def configuration(files: str, addresses: Iterable[str], users: int, port: int) -> str:
    """The whole configuration. Nothing is written."""
    return f"""bind {" ".join(addresses)}
port {port}
protected-mode no
daemonize no
dir {files}
dbfilename {FILE}
save ""
appendonly no
tcp-backlog 4096
timeout 0
maxclients {users + CONNECTIONS_SPARE}
"""


def command(host: str, file: str, priority: int, cpus: float | None = None) -> Command:
    """The server in the foreground; one thread answers."""
    return Command(
        f"redis-{host}", [PROGRAM, file], host=host, user=USER, cpus=cpus, priority=priority or None
    )
