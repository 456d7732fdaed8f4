"""RabbitMQ: its configuration, and what a message costs on the wire.

Sizes are those of AMQP 0-9-1 for a persistent message to the default exchange, whose routing key is
the queue's name of ten characters: as the presets of requests have them.
"""

import math
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "rabbitmq-server"
SERVICE = "rabbitmq"
USER = "rabbitmq"
"""Debian's account of the server."""
FOLDER = Path("/usr/lib/rabbitmq/lib")
"""Where Debian's package has each version."""
LISTEN_LIMIT_S = 90.0
"""It starts in 6 s, and on a busy machine in 25."""
ACK_BYTES = 21
"""basic.ack: of a confirm, and of a consumer."""
PUBLISH_BYTES = 50
"""Of a message, without its body and the frames of its body: basic.publish 27, content header
23."""
DELIVER_BYTES = 88
"""The same of a delivery: basic.deliver 65, content header 23."""
BODY_FRAME_BYTES = 8
BODY_BYTES_MAX = 131_072 - BODY_FRAME_BYTES
"""Of a frame: the server's default `frame_max`."""
QUEUE_BYTES_MAX = 128_000_000
"""Of a queue: beyond it, the oldest messages go. A broker without consumers would fill the
memory."""
MEMORY_BYTES_MAX = 1_000_000_000
"""The server stops its publishers above it."""
ALARM = "Publishers will be blocked"
"""Stands in the server's log."""


def _find(_program: str) -> Path | None:
    found = [
        path for path in FOLDER.glob("rabbitmq_server-*/sbin/rabbitmq-server") if path.is_file()
    ]
    return max(found, key=lambda path: [int(part) for part in _release(path)], default=None)


def _release(path: Path) -> list[str]:
    return [part for part in path.parts[-3].partition("-")[2].split(".") if part.isdecimal()]


RABBITMQ = Needed(
    PROGRAM,
    "rabbitmq-server",
    "",
    "workloads of kind requests with perf-test",
    find=_find,
    title="RabbitMQ",
)


def body_bytes(whole_bytes: int, around_bytes: int) -> int | None:
    """Size of the body in a message of this whole size; None where there is none."""
    for frames in range(1, math.ceil(whole_bytes / BODY_BYTES_MAX) + 1):
        body = whole_bytes - around_bytes - frames * BODY_FRAME_BYTES
        if body > 0 and -(-body // BODY_BYTES_MAX) == frames:
            return body
    return None


def queue_of(workload: str) -> str:
    """The queue of a workload: ten characters."""
    return "tail" + sha256(workload.encode()).hexdigest()[:6]


def configuration(folder: str, addresses: Iterable[str], port: int) -> str:
    """The whole configuration. Queues are not durable, so that nothing is written to a disk."""
    listens = "".join(
        f"listeners.tcp.{number} = {each}:{port}\n" for number, each in enumerate(addresses, 1)
    )
    return f"""{listens}loopback_users = none
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = {MEMORY_BYTES_MAX}
disk_free_limit.absolute = 1000000
"""


def command(host: str, folder: str, priority: int, cpus: float | None = None) -> Command:
    """The server in the foreground, without the environment of the machine's own."""
    program = _find(PROGRAM)
    schedulers = f"+S {math.ceil(cpus)} " if cpus else ""
    env = {
        "HOME": folder,
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": "rabbit@localhost",
        "RABBITMQ_CONF_ENV_FILE": f"{folder}/none",
        "RABBITMQ_CONFIG_FILE": f"{folder}/conf",
        "RABBITMQ_ADVANCED_CONFIG_FILE": f"{folder}/none",
        "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/files/plugins",
        "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
        "RABBITMQ_LOG_BASE": folder,
        "RABBITMQ_LOGS": "-",
        # Makes it the Erlang machine itself, which has no shell: a signal reaches it.
        "RABBITMQ_ALLOW_INPUT": "1",
        "RABBITMQ_SERVER_START_ARGS": "-noinput +B i",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": f"{schedulers}-kernel inet_dist_use_interface "
        f"{{127,0,0,1}}",
    }
    argv = [str(program or PROGRAM)]
    return Command(
        f"rabbitmq-{host}",
        argv,
        host=host,
        user=USER,
        env=env,
        cpus=cpus,
        priority=priority or None,
    )
