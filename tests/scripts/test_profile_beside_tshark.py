"""Profiles beside tshark's statistics, on captures made here: every count is equal, and a
difference is told."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import profile_beside_tshark as script
from capture_files import ACK, FIN, MACS, RST, SYN, Connection, ipv4, udp, write_pcap

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="not installed: tshark")


def eventful() -> Connection:
    """A connection with everything that is counted of segments."""
    one = Connection().opened()
    data = [(2000, 1000), (2010, 1200), (2020, 1300), (2030, 1400)]
    for at_us, seq in data:
        one.segment(at_us, is_client=True, seq=seq, ack=5000, payload=100)
    for at_us in (3000, 3010, 3020, 3030):
        one.segment(at_us, is_client=False, seq=5000, ack=1100)
    one.segment(3500, is_client=True, seq=1100, ack=5000, payload=100)
    one.segment(4000, is_client=False, seq=5000, ack=1500)
    one.segment(4100, is_client=True, seq=1400, ack=5000, payload=100)
    one.segment(5000, is_client=True, seq=1500, ack=5000, payload=100)
    one.segment(5100, is_client=True, seq=1700, ack=5000, payload=100)
    one.segment(5200, is_client=True, seq=1600, ack=5000, payload=100)
    one.segment(250_000, is_client=True, seq=1700, ack=5000, payload=100)
    one.segment(251_000, is_client=False, seq=5000, ack=1800, window=0)
    one.segment(500_000, is_client=True, seq=1800, ack=5000, payload=1)
    one.segment(501_000, is_client=False, seq=5000, ack=1800, window=0)
    one.segment(600_000, is_client=False, seq=5000, ack=1800, window=900)
    one.segment(60_000_000, is_client=True, seq=1799, ack=5000, payload=1)
    one.segment(60_001_000, is_client=False, seq=5000, ack=1800, window=900)
    one.segment(61_000_000, is_client=True, seq=1800, ack=5000, flags=ACK | FIN)
    one.segment(61_001_000, is_client=False, seq=5000, ack=1801, flags=RST | ACK)
    one.segment(70_000_000, is_client=True, seq=900_000, ack=0, flags=SYN)
    return one


def others() -> Sequence[tuple[int, bytes]]:
    """Frames without TCP: tags, fragments, ARP, a marked packet."""
    packet = ipv4("10.0.0.3", "10.0.0.4", 17, udp(7, 53, 40), service=0xB8)
    parts = (
        ipv4("10.0.0.3", "10.0.0.4", 17, udp(7, 9, 1472), place=0x2000),
        ipv4("10.0.0.3", "10.0.0.4", 17, bytes(100), place=185),
    )
    return [
        (1000, MACS + bytes.fromhex("8100a00c0800") + packet),
        (2000, MACS + bytes.fromhex("88a8000781000008 0800") + packet),
        *((3000, MACS + b"\x08\x00" + part) for part in parts),
        (4000, MACS + b"\x08\x06" + bytes.fromhex("0001080006040001") + bytes(20)),
        (
            5000,
            MACS + b"\x08\x00" + ipv4("10.0.0.3", "10.0.0.4", 1, bytes.fromhex("0800f7ff00000000")),
        ),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pcap(tmp_path / "eventful.pcap", eventful().frames)
    write_pcap(tmp_path / "cut.pcap", eventful().frames, snap_bytes=60)
    write_pcap(tmp_path / "others.pcap", others())
    (tmp_path / "text.txt").write_text("no capture")
    return tmp_path


def test_every_count_is_that_of_tshark(folder: Path) -> None:
    files = sorted(script.captures(folder))
    assert [file.name for file in files] == ["cut.pcap", "eventful.pcap", "others.pcap"]
    for file in files:
        found = script.differences(file)
        assert found is not None
        assert {name: pair for name, pair in found.items() if pair[0] != pair[1]} == {}


def test_the_capture_has_something_to_count(folder: Path) -> None:
    counted = script.of_tshark(folder / "eventful.pcap")
    assert counted is not None
    silent = {name for name in script.ANALYSES if not counted.counts[name]}
    assert silent == set()
    assert counted.counts["connections"] == 2


def test_a_difference_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(script.ANALYSES, "retransmissions", "tcp.analysis.fast_retransmission")
    monkeypatch.setattr("sys.argv", ["profile_beside_tshark.py", str(folder)])
    with pytest.raises(SystemExit) as end:
        script.main()
    told = capsys.readouterr().out
    assert end.value.code == 1
    assert "eventful.pcap: retransmissions:" in told
    assert "zero_windows               equal in 3 of 3 captures" in told
