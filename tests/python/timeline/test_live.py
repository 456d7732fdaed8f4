"""Traces of live trials: what a replay of the fabric tells, and what the program's log does."""

from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from tailrace.experiment.native import column
from tailrace.experiment.storage import parquet
from tailrace.files import write_bytes
from tailrace.outcome.run_files import TRIALS
from tailrace.outcome.types import Outcome
from tailrace.results.causes.causes import Transaction
from tailrace.results.directory.run_directory import Trial
from tailrace.timeline import live
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.live import chosen_reason, read_replay
from tailrace.timeline.live_ends import UNKNOWN, Ends
from tailrace.timeline.log import NONE_32, NONE_64, Log
from tailrace.timeline.tracks import trace_of
from whole import files_in, part

US = 1_000_000
"""Picoseconds."""
PLAN: dict[str, Any] = {
    "hosts": [{"name": "client"}, {"name": "db"}, {"name": "bulk"}],
    "links": [{"a": host, "b": "leaf", "rate_bps": 10**9} for host in ("client", "db", "bulk")],
    "workloads": [{"header": {"name": "orders"}}, {"header": {"name": "backup"}}],
}
TO_CLIENT, TO_DB = 1, 3
"""Wires of the plan: two for each link, that of the host first."""


def columns(keys: str, *rows: tuple[int, ...]) -> dict[str, list[int]]:
    names = keys.split()
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def told() -> dict[str, Any]:
    """A request (frame 5), an answer behind the backup (6), one that is dropped (7), and a frame of
    a switch."""
    of = "frame source class bytes wire since_ps"
    return {
        "sources": [[0], [1]],
        "frames": columns(
            "id from to source_port destination_port protocol bytes entered_ps delivered_ps",
            (5, 0, 1, 40_000, 5432, 6, 200, 10 * US, 14 * US),
            (6, 1, 0, 5432, 40_000, 6, 1514, 20 * US, 80 * US),
            (7, 1, 0, 5432, 40_000, 6, 1514, 21 * US, NONE_64),
            (8, 2, 0, 41_000, 5201, 6, 1514, 15 * US, 60 * US),
            (4, 1, 0, 5432, 40_000, 6, 1514, NONE_64, 9 * US),
        ),
        "hops": columns(
            f"{of} start_ps end_ps arrival_ps",
            (5, 0, 0, 200, TO_DB, 10 * US, 10 * US, 12 * US, 14 * US),
            (8, 1, 0, 1514, TO_CLIENT, 15 * US, 15 * US, 60 * US, 60 * US),
            (6, 0, 0, 1514, TO_CLIENT, 20 * US, 60 * US, 72 * US, 80 * US),
            (NONE_64, NONE_32, 0, 64, TO_CLIENT, 72 * US, 72 * US, 73 * US, 74 * US),
            (4, 0, 0, 1514, TO_CLIENT, NONE_64, 1 * US, 2 * US, 9 * US),
        ),
        "drops": columns(f"{of} at_ps cause", (7, 0, 0, 1514, TO_CLIENT, 21 * US, 21 * US, 0)),
        "marks": columns(f"{of} at_ps cause"),
        "pauses": columns("wire at_ps class quanta", (TO_DB, 30 * US, 3, 100)),
        "left_out": columns("rows from_ps", (0, NONE_64)),
    }


@pytest.fixture
def log() -> Log:
    return read_replay(told(), PLAN, [(0, 100 * US)], {"orders"})


@pytest.fixture
def one() -> Chosen:
    return Chosen("orders", 3, Transaction(1, 9 * US, 90 * US, {}, 0, 0))


def test_a_connection_has_two_ends_and_the_low_port_listens(log: Log) -> None:
    assert [(each.name, each.user) for each in log.sockets] == [
        ("client:40000", None),
        ("db:5432", None),
    ]
    assert {number: frame.sender for number, frame in log.frames.items()} == {5: 0, 6: 1, 7: 1}
    assert log.frames[6].delivered_ps == 80 * US
    assert log.frames[7].delivered_ps is None


def test_frames_have_the_workload_of_their_hosts(log: Log) -> None:
    assert [hop.workload for hop in log.hops["leaf>client"]] == [
        "orders",
        "backup",
        "orders",
        UNKNOWN,
    ]
    (drop,) = log.drops["leaf>client"]
    assert (drop.cause, drop.frame, drop.since_ps) == ("tail-drop", 7, 21 * US)
    assert log.pauses["leaf>db"][0].quanta == 100


def test_the_sentence_tells_what_the_fabric_did_meanwhile(log: Log, one: Chosen) -> None:
    assert chosen_reason(log, one) == (
        "81 µs from 9 µs, user 1 (the program's log). Of the frames of its workload meanwhile "
        "(the fabric's log):"
        " one waited 40 µs at leaf>client behind backup 100 %; 1 dropped at leaf>client."
    )
    before = Chosen("orders", 3, Transaction(1, 9 * US, 13 * US, {}, 0, 0))
    assert chosen_reason(log, before).endswith(
        "No frame of its workload waited or was lost meanwhile."
    )


def test_the_trace_names_both_sources_and_invents_no_header(log: Log, one: Chosen) -> None:
    trace = Trace()
    trace.ParseFromString(trace_of(log, [one]).content)
    groups = {
        packet.track_descriptor.process.process_name
        for packet in trace.packet
        if packet.track_descriptor.process.process_name
    }
    assert groups == {
        "live: orders, from the program's log",
        "live: frames of client, from the fabric's log",
        "live: frames of db, from the fabric's log",
        "live: port leaf>db, from the fabric's log",
        "live: port leaf>client, from the fabric's log",
    }
    events = [packet.track_event for packet in trace.packet if packet.HasField("track_event")]
    names = [event.name for event in events]
    assert names.count("enters the fabric: frame 1514 B") == 2
    assert names.count("leaves the fabric: frame 1514 B") == 1
    assert "orders: dropped at leaf>client: tail-drop, queue 1.514 kB" in names
    arguments = {each.name for event in events for each in event.debug_annotations}
    assert {"frame_bytes", "entered_ps"} <= arguments
    assert not {"seq", "ack", "payload_bytes", "window_bytes"} & arguments


def test_a_connection_with_known_ports_is_of_its_workload_alone() -> None:
    """Both workloads are between the same hosts, and the ports of both are known; other frames are
    of neither."""
    both = told() | {"sources": [[0, 1]]}
    both["frames"] = columns(
        "id from to source_port destination_port protocol bytes entered_ps delivered_ps",
        (5, 0, 1, 40_000, 5432, 6, 200, 10 * US, 14 * US),
        (6, 1, 0, 5432, 40_001, 6, 1514, 20 * US, 80 * US),
        (7, 0, 1, 4000, 5201, 6, 1514, 21 * US, NONE_64),
        (8, 0, 1, 40_000, 22, 6, 100, 15 * US, 60 * US),
    )
    for name in ("hops", "drops"):
        both[name] = both[name] | {
            "source": [0 if each == 1 else each for each in both[name]["source"]]
        }
    ends = {
        "orders": Ends(0, frozenset({40_000}), 1, frozenset({5432})),
        "backup": Ends(0, frozenset(), 1, frozenset({5201})),
    }
    orders = read_replay(both, PLAN, [(0, 100 * US)], {"orders"}, ends)
    assert list(orders.frames) == [5], "frame 6 is of another client port"
    assert [socket.workload for socket in orders.sockets] == ["orders"] * 2
    assert orders.drops["leaf>client"][0].workload == "backup"
    assert [hop.workload for hop in orders.hops["leaf>client"]] == [UNKNOWN] * 4
    backup = read_replay(both, PLAN, [(0, 100 * US)], {"backup"}, ends)
    assert [socket.name for socket in backup.sockets] == ["client:4000", "db:5201"], (
        "the known port listens"
    )


def test_rows_of_what_began_later_are_moved_to_the_time_of_the_trial(tmp_path: Path) -> None:
    names = [{"name": "orders"}, {"name": "backup"}]
    trial = _trial(tmp_path, {"workloads": names, "live": {"offsets_ps": {"backup": 40_000_000}}})
    found = live.transactions_of(trial, ["orders", "backup"])
    assert [(one.start_ps, one.end_ps) for one in found["orders"]] == [(3 * US, 5 * US)]
    assert [(one.start_ps, one.end_ps) for one in found["backup"]] == [(44 * US, 46 * US)]


def _trial(folder: Path, outcome: dict[str, Any]) -> Trial:
    rows = [(0, 1, 3 * US, 2 * US), (1, 0, 4 * US, 2 * US)]
    columns_ = {
        key: column(kind, [row[place] for row in rows])
        for place, (key, kind) in enumerate(
            (("workload", "u32"), ("user", "u32"), ("start_ps", "u64"), ("latency_ps", "u64"))
        )
    }
    files = files_in(folder)
    write_bytes(folder / TRIALS / "1.transactions.parquet", parquet(columns_))
    return Trial("base", 1, "ok", "", part(Outcome, **outcome), files)
