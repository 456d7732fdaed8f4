"""nginx: its configuration, and files that make responses of a size."""

from collections.abc import Iterable
from pathlib import Path

from tailrace.files import make_folder, write_text
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "nginx"
USER = "www-data"
"""Debian's account of web servers."""
DATE = "Tue, 24 Nov 2026 08:46:55 GMT"
"""Every date has this length (RFC 9110, section 5.6.7)."""
HEADERS = (
    "HTTP/1.1 200 OK\r\n"
    "Server: nginx\r\n"
    f"Date: {DATE}\r\n"
    "Content-Type: application/octet-stream\r\n"
    "Content-Length: {length}\r\n"
    "Connection: {connection}\r\n"
    "\r\n"
)
"""The header that nginx 1.22 sends before a file with the configuration below; trials verify the
size."""
KEPT, CLOSED = "keep-alive", "close"
"""The values of nginx's `Connection` header."""
REQUEST_BYTES_MAX = 32_000
"""Of a request, whose headers fit the buffers configured below."""
CONNECTIONS_SPARE = 16
"""Besides those of the users: listening sockets, events."""

NGINX = Needed(PROGRAM, "nginx-light", "-v", "workloads of kind requests with wrk", title="nginx")


def header_bytes(*, is_kept: bool = True) -> int:
    """Of a response, without the digits of its length."""
    return len(HEADERS.format(length="", connection=KEPT if is_kept else CLOSED))


def body_bytes(response_bytes: int, *, is_kept: bool = True) -> int | None:
    """Size of the file whose response has this size with its headers; None where there is none.

    One more digit in the length makes a response two bytes longer, so that a few sizes do not
    exist.
    """
    for digits in range(1, 20):
        length = response_bytes - header_bytes(is_kept=is_kept) - digits
        if length >= 0 and len(str(length)) == digits:
            return length
    return None


def least_bytes(*, is_kept: bool = True) -> int:
    """The smallest response: of an empty file."""
    return header_bytes(is_kept=is_kept) + 1


def write_files(folder: Path, sizes: Iterable[tuple[int, bool]]) -> None:
    """A file for every size of a response over connections that are kept or not, readable for every
    account."""
    make_folder(folder)
    folder.chmod(0o755)
    for size, is_kept in set(sizes):
        length = body_bytes(size, is_kept=is_kept)
        assert length is not None, "checks refuse sizes that do not exist"
        file = folder / file_name(size, is_kept=is_kept)
        write_text(file, ("tailrace " * (length // 9 + 1))[:length])
        file.chmod(0o644)


def file_name(response_bytes: int, *, is_kept: bool = True) -> str:
    """The requested file."""
    return f"{'r' if is_kept else 'n'}{response_bytes}"


def configuration(
    folder: str, files: str, addresses: Iterable[str], users: int, workers: int | None, port: int
) -> str:
    """The whole configuration. Nothing is logged, nothing expires, and files stay open."""
    listens = "".join(f"    listen {address}:{port} backlog=4096;\n" for address in addresses)
    temporary = "".join(
        f"  {name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""daemon off;
worker_processes {workers or "auto"};
pid {folder}/pid;
error_log stderr warn;
events {{ worker_connections {users + CONNECTIONS_SPARE}; }}
http {{
{temporary}  access_log off;
  server_tokens off;
  etag off;
  default_type application/octet-stream;
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 1d;
  keepalive_requests 1000000000;
  large_client_header_buffers 4 {REQUEST_BYTES_MAX + 1000};
  open_file_cache max=1000 inactive=1d;
  open_file_cache_valid 1d;
  server {{
{listens}    root {files};
    if_modified_since off;
    max_ranges 0;
    add_header Last-Modified "";
  }}
}}
"""


def command(host: str, file: str, priority: int, cpus: float | None = None) -> Command:
    """The server in the foreground; its workers are its children."""
    argv = [PROGRAM, "-e", "stderr", "-c", file]
    return Command(
        f"nginx-{host}", argv, host=host, user=USER, cpus=cpus, priority=priority or None
    )
