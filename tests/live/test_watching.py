"""Looking at a fabric that is up: OpenMetrics, `tailrace lab top`, captures."""

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import machine
from pcapng import read_capture

LIMIT_S = 60
PORT_TRIES = 5
"""Somebody else may take a port between the look for a free one and its use."""
UNITS = {"frames", "bytes", "seconds"}
NS_PER_S = 10**9


@dataclass(frozen=True)
class Fabric:
    """One that is up."""

    environment: dict[str, str]
    port: int
    """Of its metrics."""

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command, to its end."""
        return machine.tailrace(*words, limit_s=LIMIT_S, environment=self.environment)

    def tailrace(self, *words: str) -> str:
        """What a command prints."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def send(self, pings: int = 20) -> None:
        """Frames of a known number: as many in both directions."""
        self.tailrace(
            "lab",
            "exec",
            "client",
            "--",
            "ping",
            "-q",
            "-c",
            str(pings),
            "-i",
            "0.01",
            "-s",
            "1000",
            "db",
        )

    def scrape(self) -> dict[str, Metric]:
        """The metrics, as the parser of OpenMetrics reads them: it refuses what is not to the
        letter."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/metrics", timeout=LIMIT_S
        ) as answer:
            kind = answer.headers["Content-Type"]
            text = answer.read().decode()
        assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        families = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]  # it has no annotations
        return {family.name: family for family in families}


def up(environment: dict[str, str]) -> Fabric:
    """The small scenario's fabric, with its metrics at a port that was free."""
    said = ""
    for _ in range(PORT_TRIES):
        with socket.create_server(("127.0.0.1", 0)) as free:
            made = Fabric(environment, free.getsockname()[1])
        done = made.run(
            "lab", "up", str(machine.SCENARIO), "--arm", "dpp", "--metrics", str(made.port)
        )
        if done.returncode == 0:
            return made
        said = done.stderr
    pytest.fail(said)


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    """The small scenario's."""
    state = tmp_path_factory.mktemp("state")
    made = up(os.environ | {"XDG_STATE_HOME": str(state)})
    yield made
    made.tailrace("lab", "down")
    assert machine.wait_until_gone(str(state)) == []


def total(family: Metric, **labels: str) -> float:
    """Sum of the samples with these labels."""
    return sum(sample.value for sample in family.samples if labels.items() <= sample.labels.items())


def test_counters_grow_with_the_frames_that_are_sent(fabric: Fabric) -> None:
    before = fabric.scrape()
    fabric.send(20)
    after = fabric.scrape()
    for towards in ("client", "db"):
        sent = [total(found["tailrace_tx_frames"], towards=towards) for found in (before, after)]
        assert sent[1] - sent[0] == 20, towards
        size = [total(found["tailrace_tx_bytes"], towards=towards) for found in (before, after)]
        # 1000 bytes of a ping with the headers of ICMP, IPv4 and Ethernet.
        assert size[1] - size[0] == 20 * (1000 + 8 + 20 + 14), towards
    assert total(after["tailrace_tx_frames"], towards="bulk") == 0


def test_names_end_with_their_unit_and_values_make_sense(fabric: Fabric) -> None:
    fabric.send(5)
    families = fabric.scrape()
    assert len(families) == 6
    for name, family in families.items():
        assert family.unit in UNITS, name
        assert name.endswith(f"_{family.unit}"), name
        assert family.documentation.endswith("."), name
    lateness = {
        sample.labels["quantile"]: sample.value
        for sample in families["tailrace_lateness_seconds"].samples
    }
    assert list(lateness) == ["0.5", "0.9", "0.99", "0.999"]
    assert 0 < lateness["0.5"] <= lateness["0.999"] < LIMIT_S


def test_scrapes_while_frames_are_sent_never_go_back(fabric: Fabric) -> None:
    is_enough = threading.Event()
    rounds = []

    def send() -> None:
        while not is_enough.is_set():
            rounds.append(20)
            fabric.send(20)

    sender = threading.Thread(target=send)
    seen = [total(fabric.scrape()["tailrace_tx_frames"])]
    deadline_s = time.monotonic() + LIMIT_S
    sender.start()
    while len(set(seen)) < 4 and time.monotonic() < deadline_s:
        seen.append(total(fabric.scrape()["tailrace_tx_frames"]))
    is_enough.set()
    sender.join(LIMIT_S)
    assert not sender.is_alive()
    seen.append(total(fabric.scrape()["tailrace_tx_frames"]))
    assert seen == sorted(seen)
    assert seen[-1] - seen[0] == 2 * sum(rounds), "each ping is a frame in both directions"
    assert len(set(seen)) >= 4, "no scrape came while frames were sent"


def test_metrics_are_on_the_loopback_and_nowhere_else(fabric: Fabric) -> None:
    wanted = f":{fabric.port:04X}"
    listening = {
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path("/proc/net", name).read_text(encoding="ascii").splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(wanted)
    }
    assert listening == {f"0100007F{wanted}"}  # 127.0.0.1, in the machine's order of bytes


def test_one_that_asks_nothing_keeps_nobody_else_waiting_for_long(fabric: Fabric) -> None:
    with socket.create_connection(("127.0.0.1", fabric.port)):
        assert fabric.scrape()
        assert json.loads(fabric.tailrace("lab", "top", "--once", "--json"))["ports"]


def test_top_in_a_terminal_shows_the_rate_of_the_last_second(fabric: Fabric) -> None:
    screen, terminal = pty.openpty()
    top = subprocess.Popen(
        [*machine.TAILRACE, "lab", "top"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=fabric.environment | {"TERM": "xterm"},
    )
    os.close(terminal)
    is_enough = threading.Event()

    def send() -> None:
        while not is_enough.is_set():
            fabric.send(50)

    sender = threading.Thread(target=send)
    sender.start()
    shown = b""
    deadline_s = time.monotonic() + LIMIT_S
    try:
        # Three pages: the first knows no rate yet.
        while shown.count(b"\x1b[H\x1b[2J") < 4 and time.monotonic() < deadline_s:
            if select.select([screen], [], [], 1)[0]:
                shown += os.read(screen, 65_536)
        top.send_signal(signal.SIGINT)
        assert top.wait(LIMIT_S) == 130
    finally:
        is_enough.set()
        top.kill()
        top.wait(LIMIT_S)
        sender.join(LIMIT_S)
        os.close(screen)
    pages = [page.replace("\r\n", "\n") for page in shown.decode().split("\x1b[H\x1b[2J")[1:4]]
    for page in pages:
        assert re.search(
            r"^port +rate +queue +sent +now +dropped +marked +most queued$", page, re.MULTILINE
        ), page
        assert "leaf>client" in page
    assert any(
        re.search(r"leaf>client +100 Mbit/s +express +\S+ \S+ +[1-9]\S* [kM]?bit/s", page)
        for page in pages
    ), pages


def test_a_capture_has_every_frame_with_its_time_in_nanoseconds(
    fabric: Fabric, tmp_path: Path
) -> None:
    file = tmp_path / "c.pcapng"
    begun_ns = time.time_ns()
    words = [
        *machine.TAILRACE,
        "lab",
        "capture",
        "leaf>client",
        str(file),
        "--seconds",
        str(LIMIT_S),
    ]
    capture = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=fabric.environment
    )
    try:
        deadline_s = time.monotonic() + LIMIT_S
        while not file.exists() and time.monotonic() < deadline_s:
            time.sleep(0.01)
        fabric.send(20)
        capture.send_signal(signal.SIGINT)  # it ends, and the file is whole
        assert capture.wait(LIMIT_S) == 130
    finally:
        capture.kill()
        capture.wait(LIMIT_S)
    times, echoes = [], 0
    for captured in read_capture(file):
        times.append(captured.at_ns)
        frame = captured.frame
        assert len(frame) == 1000 + 8 + 20 + 14
        assert frame[12:14] == b"\x08\x00"  # IPv4
        assert frame[23] == 1  # ICMP
        echoes += frame[34] == 0  # an answer
    assert (echoes, len(times)) == (20, 40)  # a port is captured in both directions
    assert times == sorted(times)
    assert begun_ns < times[0] < times[-1] < time.time_ns()
    assert any(at % 1000 for at in times), "times are finer than a microsecond"
