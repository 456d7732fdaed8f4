"""Knot DNS: its configuration, and a zone whose answers have the sizes that are asked for.

A query has an OPT record, as most queries have (RFC 6891); an answer is one TXT record besides.
Over tcp a message has two bytes of length before it (RFC 1035, section 4.2.2).
"""

from collections.abc import Iterable
from pathlib import Path

from tailrace.files import make_folder, write_text
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "knotd"
USER = "knot"
"""Debian's account of the server."""
ZONE = "t"
"""Short, so that small queries exist."""
LABEL_BYTES_MAX, NAME_BYTES_MAX = 63, 255
"""RFC 1035, section 2.3.4."""
FIXED_BYTES = 12 + 4 + 11
"""Of a query besides its name: header, type and class, OPT."""
RECORD_BYTES = 12
"""Of the answer's record besides its text: a pointer to the name, type, class, time to live,
length."""
STRING_BYTES_MAX = 255
UDP_BYTES_MAX = 4096
"""Size that dnsperf offers in its OPT record; a longer answer would be cut."""
TCP_PREFIX_BYTES = 2

KNOT = Needed(
    PROGRAM, "knot", "--version", "workloads of kind requests with dnsperf", title="Knot DNS"
)


def name(query_bytes: int, answer_bytes: int) -> str | None:
    """The requested name, without the zone: unique for its answer, and as long as the query
    requires; None where there is none."""
    first = f"r{answer_bytes}"
    # Each label has a byte of length, and a name ends with an empty one.
    room = query_bytes - FIXED_BYTES - (1 + len(ZONE)) - 1
    if query_bytes - FIXED_BYTES > NAME_BYTES_MAX or room < 1 + len(first):
        return None
    count = -(-room // (1 + LABEL_BYTES_MAX))
    each, longer = divmod(room - count, count)
    sizes = [each + (number < longer) for number in range(count)]
    return ".".join([first.ljust(sizes[0], "x"), *("x" * size for size in sizes[1:])])


def text_bytes(query_bytes: int, answer_bytes: int) -> int:
    """Size of the record's text with the lengths of its strings."""
    return answer_bytes - query_bytes - RECORD_BYTES


def query(asked: str, number: int = 1) -> bytes:
    """The query for a name of the zone, as dnsperf writes it."""
    header = number.to_bytes(2, "big") + bytes.fromhex("01000001000000000001")
    labels = b"".join(bytes([len(label)]) + label.encode() for label in (*asked.split("."), ZONE))
    opt = b"\x00\x00\x29" + UDP_BYTES_MAX.to_bytes(2, "big") + bytes(6)
    return header + labels + b"\x00" + bytes.fromhex("00100001") + opt


def write_files(folder: Path, answers: Iterable[tuple[str, int]]) -> None:
    """The zone: names and sizes of their texts."""
    make_folder(folder)
    folder.chmod(0o755)
    lines = [
        f"$ORIGIN {ZONE}.",
        "$TTL 3600",
        "@ SOA ns admin 1 3600 600 86400 60",
        "@ NS ns",
        "ns A 127.0.0.1",
    ]
    lines += [f"{asked} TXT {strings(size)}" for asked, size in answers]
    write_text(folder / "zone", "\n".join(lines) + "\n")
    (folder / "zone").chmod(0o644)


def strings(size: int) -> str:
    """Strings of a record whose text has this size."""
    made = []
    while size > 0:
        length = min(STRING_BYTES_MAX, size - 1)
        made.append(f'"{"x" * length}"')
        size -= 1 + length
    return " ".join(made)


def configuration(
    folder: str, files: str, addresses: Iterable[str], users: int, port: int, workers: int | None
) -> str:
    """The whole configuration: nothing is written, and connections stay open."""
    listens = "".join(f"    listen: {address}@{port}\n" for address in addresses)
    threads = "".join(f"    {kind}-workers: {workers}\n" for kind in ("udp", "tcp") if workers)
    return f"""server:
    rundir: {folder}
{listens}{threads}    background-workers: 1
    tcp-max-clients: {users + 16}
    tcp-idle-timeout: 3600
    udp-max-payload: {UDP_BYTES_MAX}
    version: ""
    identity: ""
database:
    storage: {folder}
log:
  - target: stderr
    any: warning
zone:
  - domain: {ZONE}
    file: {files}/zone
    zonefile-load: whole
    journal-content: none
"""


def command(host: str, file: str, priority: int, cpus: float | None = None) -> Command:
    """The server in the foreground."""
    argv = [PROGRAM, "--config", file]
    return Command(f"knot-{host}", argv, host=host, user=USER, cpus=cpus, priority=priority or None)
