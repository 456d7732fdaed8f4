"""The capture, read by another program: tshark."""

import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tailrace.results.causes.causes import Transaction
from tailrace.timeline.capture import capture_of
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.headers import checksum, headers, shift_of
from tailrace.timeline.labels import shares
from tailrace.timeline.log import Log, Mark

US = 1_000_000
CHOSEN = [Chosen("orders", 12, Transaction(7, 8 * US, 255 * US, {"timeout": 220 * US}, 0, 0))]
SYN, ACK = 1, 2
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def tshark(file: Path, *fields: str) -> list[list[str]]:
    """Fields of every packet."""
    wanted = [word for name in fields for word in ("-e", name)]
    options = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command = ["tshark", *options, "-r", str(file), "-T", "fields", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.fixture
def file(log: Log, tmp_path: Path) -> Path:
    path = tmp_path / "one.pcapng"
    path.write_bytes(capture_of(log, CHOSEN, "1.2"))
    return path


@needs_tshark
def test_every_frame_stands_once_where_it_was_sent(file: Path) -> None:
    fields = (
        "frame.interface_name",
        "ip.src",
        "tcp.srcport",
        "tcp.dstport",
        "tcp.len",
        "frame.len",
        "ip.dsfield.dscp",
    )
    assert tshark(file, *fields) == [
        ["client>leaf", "10.0.0.1", "40000", "5432", "200", "266", "10"],
        ["server>leaf", "10.0.0.2", "5432", "40000", "1000", "1066", "10"],
        ["server>leaf", "10.0.0.2", "5432", "40000", "1000", "1066", "10"],
        ["server>leaf", "10.0.0.2", "5432", "40000", "1000", "1066", "10"],
        ["client>leaf", "10.0.0.1", "40000", "5432", "0", "66", "10"],
    ]


@needs_tshark
def test_the_analysis_finds_the_repetition_and_nothing_else(file: Path) -> None:
    assert [row[0] for row in tshark(file, "tcp.analysis.retransmission")] == ["", "", "", "1", ""]
    assert {row[0] for row in tshark(file, "_ws.malformed")} == {""}
    assert {row[0] for row in tshark(file, "ip.checksum.status")} == {"1"}
    others = [row[0] for row in tshark(file, "tcp.analysis.flags")]
    assert [bool(found) for found in others] == [False, False, False, True, False]


@needs_tshark
def test_comments_say_what_happened_to_the_frame(file: Path) -> None:
    comments = [row[0] for row in tshark(file, "frame.comment")]
    assert comments == [
        "request 200 B; handed to the transport after 18 µs",
        "response 1000 B; waited 55 µs at leaf>client behind bulk 100 %; handed to the "
        "transport after 90 µs",
        "response 1000 B; waited 10 µs at server>leaf behind orders 100 %;"
        " dropped at leaf>client: tail-drop, queue 6.066 kB",
        "response 1000 B (again); repeated after a retransmission timeout, copy of packet 3;"
        " handed to the transport after 25 µs",
        "ack; handed to the transport after 20 µs",
    ]


def test_shares_that_round_to_nothing_are_not_told() -> None:
    assert shares({"bulk": 970, "orders": 29, "call": 1}) == "bulk 97 %, orders 3 %"
    assert shares({}) == ""


def test_the_comment_of_the_file_tells_an_interval_as_such(log: Log) -> None:
    """Parts of an interval are not known: it is no transaction that consists of something else."""
    interval = replace(
        CHOSEN[0], why="5 ms of a workload whose operations are not known, connection 3"
    )
    comment = (
        f"{interval.name}: {interval.why}. {interval.name}: "
        f"{interval.why}. Windows are scaled by 2^"
    )
    assert comment.encode() in capture_of(log, [interval, interval], "1.2")


@needs_tshark
def test_a_capture_at_a_port_has_what_came_there(log: Log, tmp_path: Path) -> None:
    path = tmp_path / "port.pcapng"
    path.write_bytes(capture_of(log, CHOSEN, "1.2", "leaf>client"))
    rows = tshark(path, "frame.interface_name", "frame.time_epoch", "tcp.seq_raw")
    assert rows == [
        ["leaf>client", "0.000055000", "1001"],
        ["leaf>client", "0.000100000", "1"],
        ["leaf>client", "0.000245000", "1001"],
    ]


@needs_tshark
def test_selective_acknowledgements_and_options_of_a_syn_are_read(log: Log, tmp_path: Path) -> None:
    ack = log.frames[4]._replace(sack=((3001, 4001), (5001, 6001)), frame_bytes=66 + 20)
    syn = log.frames[0]._replace(
        flags=SYN, payload_bytes=0, frame_bytes=74, seq=0, window_bytes=65_535
    )
    path = tmp_path / "options.pcapng"
    path.write_bytes(capture_of(replace(log, frames={**log.frames, 0: syn, 4: ack}), CHOSEN, "1.2"))
    rows = tshark(
        path,
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "tcp.options.wscale.shift",
        "tcp.window_size",
    )
    assert rows[0] == ["", "", "2", "65535"]
    assert rows[4][:2] == ["3001,5001", "4001,6001"]
    assert rows[4][3] == "200000", "the window is scaled as the SYN of the same side said"


def test_a_wait_that_began_before_the_window_is_told_as_its_least(log: Log) -> None:
    early = [
        hop._replace(since_ps=None) if hop.frame == 1 else hop for hop in log.hops["leaf>client"]
    ]
    content = capture_of(replace(log, hops={**log.hops, "leaf>client": early}), CHOSEN, "1.2")
    assert b"waited at least 100 \xc2\xb5s at leaf>client" in content


def test_marks_are_told(log: Log) -> None:
    marked = replace(log, marks={"leaf>client": [Mark(1, "orders", 3, 1066, 45 * US)]})
    assert b"marked at leaf>client" in capture_of(marked, CHOSEN, "1.2")


def test_a_tag_stands_before_the_type(log: Log) -> None:
    tagged = log.frames[0]._replace(tag_bytes=4, vlan=100, priority=5, frame_bytes=270)
    content = headers(tagged, log.sockets[0], log.sockets[1], 0)
    assert content[12:18] == bytes.fromhex("8100a0640800")
    assert len(content) == 70


@pytest.mark.parametrize(
    ("window", "shift"), [(0, 0), (65_535, 0), (65_536, 1), (131_071, 1), (2**40, 14)]
)
def test_the_scale_is_the_smallest_that_fits(window: int, shift: int) -> None:
    assert shift_of(window) == shift


def test_the_checksum_is_that_of_the_standard() -> None:
    # RFC 1071, section 3: the example's sum is ddf2.
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


def test_the_sum_of_the_segment_covers_ports_addresses_and_the_whole_length(log: Log) -> None:
    frame = log.frames[1]
    content = headers(frame, log.sockets[1], log.sockets[0], 2)
    segment_bytes = frame.frame_bytes - 34
    pseudo = content[26:34] + struct.pack(">BBH", 0, 6, segment_bytes)
    assert checksum(pseudo + content[34:] + bytes(frame.payload_bytes)) == 0
    assert checksum(content[14:34]) == 0


def test_blocks_are_whole_words_and_state_their_length_twice(log: Log) -> None:
    content = capture_of(log, CHOSEN, "1.2")
    place = kinds = 0
    while place < len(content):
        _, length = struct.unpack_from("<II", content, place)
        assert length % 4 == 0
        assert struct.unpack_from("<I", content, place + length - 4) == (length,)
        place, kinds = place + length, kinds + 1
    assert kinds == 1 + 2 + 5
