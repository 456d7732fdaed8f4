"""The profile of a capture as data, as tables and as text."""

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

from capture_files import MACS, Connection, ipv4, udp, write_pcap
from tailrace.errors import RunRefusedError
from tailrace.profile.capture import ProfileOptions, profile_capture, random_key
from tailrace.profile.text import profile_text

pytestmark = pytest.mark.smoke


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Three exchanges, one retransmission, and a few datagrams."""
    connection = Connection().opened()
    for turn in range(3):
        connection.exchange(10_000 * (turn + 1), 1000 + 100 * turn, 5000 + 700 * turn)
    connection.segment(500_000, is_client=True, seq=1200, ack=7100, payload=100)
    datagrams = [
        (900_000_000 + n, MACS + b"\x08\x00" + ipv4("10.0.0.3", "10.0.0.4", 17, udp(7000, 53, 40)))
        for n in range(4)
    ]
    return write_pcap(tmp_path / "own.pcap", [*connection.frames, *datagrams])


def test_tables_have_the_connections_their_exchanges_and_their_addresses(capture: Path) -> None:
    profile = profile_capture(capture, ProfileOptions())
    connections, exchanges = profile.columns("connections"), profile.columns("exchanges")
    client, server = (
        profile.addresses[connections[f"{end}_address"][0]] for end in ("client", "server")
    )
    assert (client, server) == (IPv4Address("10.0.0.1"), IPv4Address("10.0.1.9"))
    assert list(connections["client_retransmissions"]) == [1]
    assert list(connections["server_side_rtt_min_ns"]) == [600_000], (
        "that of the handshake is shorter"
    )
    assert list(exchanges["connection"]) == [0, 0, 0]
    assert list(exchanges["response_bytes"]) == [700, 700, 700]
    begins = zip(exchanges["request_start_ns"], exchanges["response_start_ns"], strict=True)
    assert [answer - request for request, answer in begins] == [2_000_000] * 3
    assert list(profile.columns("datagram_flows")["sent_frames"]) == [4]


def test_addresses_of_both_versions_are_themselves(tmp_path: Path) -> None:
    packet = (
        b"\x60\0\0\0\0\x14\x11\x40"
        + IPv6Address("fd00::1").packed
        + IPv6Address("fd00::2").packed
        + udp(1, 2, 12)
    )
    file = write_pcap(tmp_path / "six.pcap", [(0, MACS + b"\x86\xdd" + packet)])
    assert profile_capture(file, ProfileOptions()).addresses == [
        IPv6Address("fd00::1"),
        IPv6Address("fd00::2"),
    ]


def test_the_same_key_gives_the_same_addresses_and_a_random_one_others(capture: Path) -> None:
    def addresses(key: str | None) -> list[IPv4Address | IPv6Address]:
        return profile_capture(capture, ProfileOptions(key_hex=key)).addresses

    assert addresses("00" * 16) == addresses("00" * 16) != addresses(random_key())
    assert all(isinstance(address, IPv4Address) for address in addresses("00" * 16))
    assert not set(addresses(None)) & set(addresses("00" * 16))


def test_the_text_tells_each_section(capture: Path) -> None:
    text = " ".join(
        profile_text(profile_capture(capture, ProfileOptions(line_bits_per_s=10**9)).data).split()
    )
    for told in (
        "own.pcap (pcap)",
        "17 with",
        "1 Gbit/s",
        "up to 123 B",
        "per 100 µs",
        "> 95 %",
        "UDP port 53",
        "TCP port 5432",
        "below 10.0 kB",
        "retransmissions 1",
        "handshake RTT min 1 ms",
        "port 5432 3",
        "senders to one receiver in 1 ms",
    ):
        assert told in text, f"{told!r} is not in\n{text}"
    assert "ended early" not in text


def test_what_is_unknown_is_left_out_of_the_text(tmp_path: Path) -> None:
    empty = profile_text(
        profile_capture(write_pcap(tmp_path / "none.pcap", []), ProfileOptions()).data
    )
    assert "speed unknown" in empty
    assert "rate" not in empty
    assert "TCP" not in empty


def test_a_capture_that_ends_early_says_where(capture: Path) -> None:
    capture.write_bytes(capture.read_bytes()[:-5])
    profile = profile_capture(capture, ProfileOptions())
    assert profile.data["capture"]["end"] == {
        "state": "truncated",
        "what": "a frame",
        "offset_bytes": capture.stat().st_size + 5 - 16 - 82,
    }
    assert profile.data["capture"]["frames"] == 16
    assert "ended early" in profile_text(profile.data)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b"GIF89a", "not a capture: it begins with the bytes 47 49 46 38"),
        (b"\xd4\xc3\xb2\xa1\x02", "within the header of a capture"),
    ],
)
def test_what_is_no_capture_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    with pytest.raises(RunRefusedError, match=told) as error:
        profile_capture(file, ProfileOptions())
    assert str(file) in str(error.value)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRefusedError, match="No such file"):
        profile_capture(tmp_path / "missing", ProfileOptions())
    with pytest.raises(RunRefusedError, match="it is a folder"):
        profile_capture(tmp_path, ProfileOptions())
