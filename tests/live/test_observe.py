"""`tailrace profile INTERFACE`: an interface of a namespace, observed for a time."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import machine

LIMIT_S = 60
DATAGRAMS = 300
SEND = (
    "import socket, sys, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
    "sys.stdin.readline();[(s.sendto(bytes(400), ('10.201.0.2', 9)), n % 10 or time.sleep(0.001)) "
    f"for n in range({DATAGRAMS})]"
)
"""Sends when it is told to. The interpreter has started by then, whatever a busy machine needs for
that."""


@pytest.fixture
def namespaces() -> Iterator[tuple[str, str]]:
    """Two network namespaces, joined by a pair of interfaces."""
    names = (f"observe-a-{os.getpid()}", f"observe-b-{os.getpid()}")
    try:
        for name in names:
            ip("netns", "add", name)
        ip(
            "-n",
            names[0],
            "link",
            "add",
            "e0",
            "type",
            "veth",
            "peer",
            "name",
            "e0",
            "netns",
            names[1],
        )
        for number, name in enumerate(names, 1):
            ip("-n", name, "address", "add", f"10.201.0.{number}/24", "dev", "e0")
            ip("-n", name, "link", "set", "e0", "up")
        yield names
    finally:
        for name in names:
            ip("netns", "del", name)


def ip(*words: str) -> None:
    """One command of iproute2."""
    subprocess.run(["ip", *words], check=True, timeout=LIMIT_S)


def wait_until_observed(namespace: str) -> None:
    """Returns when a packet socket of a namespace receives (packet(7), /proc/net/packet: column
    R)."""
    until = time.monotonic() + LIMIT_S
    while "1" not in [row["R"] for row in packet_sockets(namespace)]:
        assert time.monotonic() < until, "nothing observes"
        time.sleep(0.05)


def packet_sockets(namespace: str) -> list[dict[str, str]]:
    """The packet sockets of a namespace, as its kernel lists them."""
    words = ["ip", "netns", "exec", namespace, "cat", "/proc/net/packet"]
    done = subprocess.run(words, check=True, timeout=LIMIT_S, capture_output=True, text=True)
    names, *rows = [line.split() for line in done.stdout.splitlines()]
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_an_interface_is_observed_for_its_time_and_every_frame_counts(
    namespaces: tuple[str, str],
) -> None:
    words = ("profile", "e0", "--netns", namespaces[1], "--for", "3s", "--json")
    send = ["ip", "netns", "exec", namespaces[0], sys.executable, "-c", SEND]
    with (
        subprocess.Popen(send, stdin=subprocess.PIPE, text=True) as sender,
        ThreadPoolExecutor(1) as pool,
    ):
        observer = pool.submit(machine.tailrace, *words, limit_s=LIMIT_S)
        wait_until_observed(namespaces[1])
        sender.communicate("now\n", timeout=LIMIT_S)
        done = observer.result()
    assert sender.returncode == 0
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["observed"]["dropped_frames"] == 0
    [own] = [one for one in found["frame_sizes"]["top_bytes"] if one[0] == 400 + 8 + 20 + 14]
    assert own[1] == DATAGRAMS


def test_an_interface_of_the_machine_must_be_named_as_one() -> None:
    done = machine.tailrace("profile", "lo", "--for", "1s", limit_s=LIMIT_S, environment={})
    assert done.returncode == 2
    assert "--interface" in done.stderr
