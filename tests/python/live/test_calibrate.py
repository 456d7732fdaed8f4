"""What a calibration makes of what it measured, and how a scenario takes it up."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from tailrace.errors import ScenarioError
from tailrace.live.lab.fabric import FabricError
from tailrace.live.machine.answers import AnswerTimes, parts_of
from tailrace.live.machine.calibrate import Calibration, fragment
from tailrace.live.measure.ingress import NAME, Answer, answers
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.workloads.oltp import RoundTrip

MS = 10**9
CLIENT, SERVER, USER_PORT, DATABASE_PORT = 0, 1, 40_000, 5432


def record(at_ps: int, frame_bytes: int, *, asks: bool, kind: int = 0, mark: int = 4) -> bytes:
    """A record of the log: a frame between the two hosts."""
    hosts = (SERVER, CLIENT) if asks else (CLIENT, SERVER)
    ports = (USER_PORT, DATABASE_PORT) if asks else (DATABASE_PORT, USER_PORT)
    return struct.pack("<BQQ5B5H40x", kind, at_ps, 0, mark, 0, 0, 0, 0, frame_bytes, *hosts, *ports)


def test_answers_are_found_in_a_log_by_their_frames(tmp_path: Path) -> None:
    log = tmp_path / "ingress.log"
    frames = [
        record(0, 0, asks=True, kind=1),  # the measured interval begins
        record(1 * MS, 140, asks=True),
        record(2 * MS, 66, asks=False),  # an acknowledgement of the request
        record(4 * MS, 9014, asks=False),
        record(5 * MS, 94, asks=True),  # an acknowledgement with three blocks
        record(7 * MS, 1066, asks=False),
        record(9 * MS, 140, asks=True),
        record(11 * MS, 566, asks=False),
    ]
    log.write_bytes(NAME + b"".join(frames) + b"a piece of a record")
    one, two = answers(log, 5432)
    assert (one.connection, one.size_bytes) == ((CLIENT, SERVER, USER_PORT), 8948 + 1000)
    assert (one.before_ms, one.sending_ms, one.after_ms) == (3.0, 3.0, 2.0)
    assert (two.size_bytes, two.before_ms, two.after_ms) == (500, 2.0, None)


def test_the_tag_of_a_vlan_belongs_to_no_answer(tmp_path: Path) -> None:
    log = tmp_path / "ingress.log"
    tagged = 4 | 8
    frames = [
        record(1 * MS, 144, asks=True, mark=tagged),
        record(2 * MS, 70, asks=False, mark=tagged),  # an acknowledgement of the request
        record(4 * MS, 9018, asks=False, mark=tagged),
        record(5 * MS, 98, asks=True, mark=tagged),  # an acknowledgement with three blocks
        record(7 * MS, 1070, asks=False, mark=tagged),
    ]
    log.write_bytes(NAME + b"".join(frames))
    [one] = answers(log, 5432)
    assert (one.size_bytes, one.before_ms, one.sending_ms, one.after_ms) == (
        8948 + 1000,
        3.0,
        3.0,
        None,
    )


def test_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("tailrace-log of long ago", encoding="utf-8")
    with pytest.raises(FabricError, match="the log is not of this version"):
        answers(tmp_path / "other", 5432)


def answer(size_bytes: int, before_ms: int, after_ms: int | None) -> Answer:
    """An answer that was sent in 5 ms."""
    first = before_ms * MS
    last = first + 5 * MS
    return Answer(
        (0, 1, 2), 0, first, last, size_bytes, None if after_ms is None else last + after_ms * MS
    )


def test_one_answer_that_waited_for_a_core_does_not_move_the_figures() -> None:
    seen = [
        answer(1000, 3, 1),
        answer(1000, 3, 1),
        answer(1005, 90, 80),
        answer(1000, 3, None),
        answer(2000, 50, 50),
    ]
    assert parts_of(seen, [1000]) == ({1000: 3.0}, {1000: 1.0})


def test_a_size_that_was_not_seen_is_an_error() -> None:
    with pytest.raises(FabricError, match="no response of 4000 bytes"):
        parts_of([answer(1000, 3, 1)], [4000])


# An answer of 1, 8, 32 or 64 MB takes longer than the small one of 18 kB: by 1 ns a byte before its
# first frame, by 0.5 behind its last, and over loopback by 2 in all, so that 0.5 are left for
# sending and reading. At 64 MB it is unpacked in 1 ns and nothing is left, at 32 MB in no time.
LARGE = (1_000_000, 8_000_000, 32_000_000, 64_000_000)
SMALL = 18_000
FOUND = Calibration(
    mtu="9000B",
    rate="1Gbit/s",
    round_trip_mean_us=100,
    round_trip_least_us=64,
    wire_us=4,
    frame_us={1500: 2.0, 9000: 3.5},
    answers=AnswerTimes(
        loopback_ms={1000: 0.102, SMALL: 0.136}
        | {size: 0.136 + (size - SMALL) * 2e-6 for size in LARGE},
        before_ms={SMALL: 0.2} | {size: 0.2 + (size - SMALL) * 1e-6 for size in LARGE},
        after_ms={SMALL: 0.1}
        | {
            size: 0.1 + (size - SMALL) * ns * 1e-6
            for size, ns in zip(LARGE, (0.5, 0.5, 0.0, 1.0), strict=True)
        },
    ),
)
_SCENARIO = {
    "tailrace": 1,
    "name": "s",
    "network": {"topology": {"kind": "star", "hosts": ["web", "db"]}},
    "workloads": {
        "orders": {
            "kind": "oltp",
            "client": "web",
            "server": "db",
            "users": 1,
            "round_trips": [{"response": size} for size in ("1kB", "2MB", "40MB", "1GB")],
        }
    },
    "experiment": {"duration": "1s"},
}


def taken_up(tmp_path: Path, text: str) -> list[RoundTrip]:
    """The statements of a scenario with these host parameters, which are in `hosts.yaml`."""
    file, scenario = tmp_path / "hosts.yaml", tmp_path / "s.yaml"
    file.write_text(text, encoding="utf-8")
    scenario.write_text(json.dumps(_SCENARIO), encoding="utf-8")
    loaded = load_scenario(scenario, host_parameters(file, [scenario])).scenario
    host = loaded.host("db")
    assert host.nic.rx_coalesce == 30_000_000
    assert host.nic.rx_jitter.mean == 18_000_000
    assert host.nic.queue == 900_000_000
    assert host.tcp.small_queue_bound == "pace"
    assert (host.cpu.per_packet, host.cpu.per_byte) == (1_700_000, 200_000)
    trips: list[RoundTrip] = loaded.workloads["orders"].round_trips  # type: ignore[attr-defined]  # it is OLTP
    return trips


def test_a_calibration_is_taken_up_by_a_scenario(tmp_path: Path) -> None:
    small, medium, large, huge = taken_up(tmp_path, fragment(FOUND))
    gbps = 10**9
    assert small.server_time.mean == 100_000_000, "0.102 ms for 1000 bytes, less 2 ns for each"
    assert [trip.build_rate for trip in (small, medium, large, huge)] == [8 * gbps] * 4
    assert (small.produce_rate, small.unpack_rate) == (16 * gbps, 16 * gbps)
    assert (medium.produce_rate, medium.unpack_rate) == (16 * gbps, 16 * gbps)
    assert (large.produce_rate, large.unpack_rate) == (8 * gbps, None), "32 MB is nearer than 64"
    assert (huge.produce_rate, huge.unpack_rate) == (None, 8 * gbps)


@pytest.mark.parametrize("part", ["before_ms", "after_ms"])
def test_noise_below_zero_is_no_time_that_another_part_has(part: str) -> None:
    size = LARGE[0]
    quiet, noisy = (
        replace(
            FOUND,
            answers=replace(
                FOUND.answers, **{part: getattr(FOUND.answers, part) | {size: time_ms}}
            ),
        )
        for time_ms in (getattr(FOUND.answers, part)[SMALL], 0.05)
    )
    produced = noisy.produce_bps(size)
    assert produced is not None
    assert produced == quiet.produce_bps(size)


def test_a_size_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    file, scenario = tmp_path / "hosts.yaml", tmp_path / "s.yaml"
    file.write_text(
        "round_trips:\n  server_time: 1us\n  build_rate: {large: 1Gbit/s}\n", encoding="utf-8"
    )
    scenario.write_text(json.dumps(_SCENARIO), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"hosts\.yaml:3.*large"):
        host_parameters(file, [scenario])
