"""Captures that do not show enough, and options that are wrong."""

import re
from pathlib import Path

import pytest

import traffic
from tailrace.cli.capture_arguments import FitArguments
from tailrace.cli.fitting import fit_file, options_of
from tailrace.errors import RunRefusedError
from tailrace.fit.conversations import Connection
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.fit.network import HOSTS_MAX, OTHERS, hosts_of
from traffic import NS_PER_S, SYN, Capture, Tcp


def refused(capture: Capture, folder: Path) -> str:
    with pytest.raises(RunRefusedError) as error:
        fit_capture(capture.write(folder / "bad.pcap"), FitOptions())
    return str(error.value)


def test_a_capture_without_data_is_refused(tmp_path: Path) -> None:
    capture = Capture()
    Tcp(capture, "10.0.0.1", "10.0.0.2", 1_000, 80).open(5)
    assert "no data over TCP or UDP" in refused(capture, tmp_path)


def test_a_capture_that_is_too_short_is_refused(tmp_path: Path) -> None:
    capture = Capture()
    traffic.datagrams(capture, 100, lambda _: 10_000, 50_000)
    assert re.search(r"0\.0\d+ ms are too short", refused(capture, tmp_path))


def test_frames_that_are_months_apart_are_refused(tmp_path: Path) -> None:
    capture = Capture()
    traffic.stream(capture, 10**6, NS_PER_S)
    traffic.datagrams(capture, 100, lambda _: 31 * 86_400 * NS_PER_S, 32 * 86_400 * NS_PER_S)
    assert "apart, more than 30 days (hint: one part of it, such as `editcap" in refused(
        capture, tmp_path
    )


def test_data_without_requests_and_responses_are_refused(tmp_path: Path) -> None:
    capture = Capture()
    for number in range(5):
        connection = Tcp(capture, "10.0.0.1", "10.0.0.2", 1_000 + number, 80)
        connection.now_ns = number * 10**7
        # The server speaks first, and the client's answer has none: a banner.
        connection._segment(connection.now_ns, 0, SYN, 0)
        connection.send(1, 80)
        connection.now_ns += 1_000
        connection.send(0, 20)
    assert "no complete exchange" in refused(capture, tmp_path)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            FitArguments(path=Path("a.pcap"), line="0Gbit/s"),
            "--line: the rate must be greater than zero",
        ),
        (FitArguments(path=Path("a.pcap"), line="fast"), "--line: "),
        (FitArguments(path=Path("a.pcap"), delay="3"), "--delay: "),
        (
            FitArguments(path=Path("a.pcap"), vantage="cloud"),
            "--vantage: 'cloud' is no point of capture (hint: client, server,",
        ),
    ],
)
def test_an_option_that_is_wrong_is_refused(request_: FitArguments, message: str) -> None:
    with pytest.raises(RunRefusedError, match=re.escape(message)):
        options_of(request_)


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "there.yaml"
    out.write_text("mine")
    with pytest.raises(RunRefusedError, match="this file exists"):
        fit_file(FitArguments(path=tmp_path / "a.pcap", out=out), json_=False)
    assert out.read_text() == "mine"


def test_the_hosts_with_the_least_data_become_one() -> None:
    def talk(client: int) -> Connection:
        return Connection(client, 0, 80, 0, 1, 10 * (200 - client), 10, 0, 0, 0, 0, True, True, ())

    hosts = hosts_of([talk(client) for client in range(1, 101)], [])
    assert len(hosts.listed) == HOSTS_MAX
    assert hosts.names[1] == "client1"
    assert hosts.names[100] == OTHERS
    assert hosts.merged == 101 - (HOSTS_MAX - 1)
