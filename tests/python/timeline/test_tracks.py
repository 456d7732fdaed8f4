"""The trace, decoded with the schema that Perfetto publishes."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import CounterDescriptor, Trace, TrackEvent

from tailrace.results.causes.causes import Transaction
from tailrace.timeline import tracks, wire_tracks
from tailrace.timeline.chosen import Chosen, intervals
from tailrace.timeline.log import CoreTime, CoreWait, Hop, Log, Work
from tailrace.timeline.perfetto import Writer, lanes
from tailrace.timeline.tracks import trace_of

US = 1_000_000
CHOSEN = [Chosen("orders", 12, Transaction(7, 8 * US, 255 * US, {"timeout": 220 * US}, 0, 0))]


@dataclass
class Read:
    """A decoded trace by the path of the track: slices (begin, end, name, arguments), instants,
    values."""

    slices: dict[str, list[tuple[int, int, str, dict[str, object]]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    instants: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    flows: dict[int, list[tuple[int, str, str]]] = field(default_factory=lambda: defaultdict(list))


def read(content: bytes) -> Read:
    """Decodes a trace, and checks what a viewer needs: known tracks, order of time, slices that
    nest."""
    trace = Trace()
    trace.ParseFromString(content)
    assert trace.SerializeToString(deterministic=True), "it is not empty"
    names: dict[int, str] = {}
    open_: dict[int, list[tuple[int, str, dict[str, object]]]] = defaultdict(list)
    found, last = Read(), 0
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("track_descriptor"):
            of = packet.track_descriptor
            parent = names[of.parent_uuid] + " / " if of.parent_uuid else ""
            names[of.uuid] = parent + (of.process.process_name or of.name)
            assert of.uuid not in open_
            if of.HasField("counter"):
                assert of.counter.unit == CounterDescriptor.Unit.UNIT_SIZE_BYTES
            continue
        event, at = packet.track_event, packet.timestamp
        assert at >= last, "packets are in the order of time"
        last, track = at, names[event.track_uuid]
        args = {each.name: each.string_value or each.int_value for each in event.debug_annotations}
        for flow in event.flow_ids:
            found.flows[flow].append((at, track, event.name))
        if event.type == TrackEvent.Type.TYPE_SLICE_BEGIN:
            open_[event.track_uuid].append((at, event.name, args))
        elif event.type == TrackEvent.Type.TYPE_SLICE_END:
            begin, name, own = open_[event.track_uuid].pop()
            found.slices[track].append((begin, at, name, own))
        elif event.type == TrackEvent.Type.TYPE_INSTANT:
            found.instants[track].append((at, event.name))
        else:
            assert event.type == TrackEvent.Type.TYPE_COUNTER
            found.counts[track].append((at, event.counter_value))
    assert not any(open_.values()), "every slice ends"
    return found


@pytest.fixture
def trace(log: Log) -> Read:
    return read(trace_of(log, CHOSEN).content)


def plain(slices: list[tuple[int, int, str, dict[str, object]]]) -> list[tuple[int, int, str]]:
    return [each[:3] for each in slices]


def test_the_critical_path_stands_on_the_track_of_the_user(trace: Read) -> None:
    *parts, whole = trace.slices["workload orders / user 7"]
    assert plain([whole]) == [(8_000, 255_000, "orders #12")]
    assert whole[3]["latency_ps"] == 247 * US
    assert plain(parts) == [
        (8_000, 10_000, "before the first segment"),
        (10_000, 230_000, "until a retransmission timeout"),
        (230_000, 255_000, "queues of switches at leaf>client"),
    ]


def test_a_frame_stands_on_every_queue_and_wire_that_it_passed(trace: Read) -> None:
    assert plain(trace.slices["port leaf>client / wire"]) == [
        (20_000, 60_000, "bulk"),
        (60_000, 100_000, "bulk"),
        (100_000, 110_000, "response 1000 B"),
        (245_000, 250_000, "response 1000 B (again)"),
    ]
    ((begin, end, name, args),) = trace.slices["port leaf>client / queue of class 3"]
    assert (begin, end, name, args["behind"]) == (45_000, 100_000, "response 1000 B", "bulk 100 %")
    assert plain(trace.slices["interface server>leaf / queue of class 3"]) == [
        (30_000, 40_000, "response 1000 B")
    ]
    assert trace.counts["port leaf>client / queue"][:4] == [
        (0, 5000),
        (20_000, 0),
        (40_000, 5000),
        (45_000, 6066),
    ]


def test_drops_pauses_and_timeouts_are_instants(trace: Read) -> None:
    assert trace.instants["port leaf>client / events"] == [
        (55_000, "orders: dropped at leaf>client: tail-drop, queue 6.066 kB"),
        (70_000, "pause of class 3 for 51 us at most"),
    ]
    server = "sockets of server / server:5432 to client:40000 (orders, user 7)"
    assert (230_000, "retransmission timeout") in trace.instants[server]
    assert trace.counts[f"{server} / congestion window"] == [(30_000, 14_480), (230_000, 1448)]


def test_arrows_lead_from_the_request_over_frames_to_the_response(trace: Read) -> None:
    paths = [
        [track.split(" / ")[0] + ": " + name for _, track, name in flow]
        for flow in trace.flows.values()
    ]
    assert ["workload orders: orders #12", "sockets of client: send request 200 B"] in paths
    assert [
        "sockets of server: receive request 200 B",
        "sockets of server: send response 1000 B",
    ] in paths
    assert [
        "sockets of server: send response 1000 B",
        "sockets of server: send response 1000 B (again)",
    ] in paths
    assert [
        "sockets of server: send response 1000 B (again)",
        "interface server>leaf: response 1000 B (again)",
        "port leaf>client: response 1000 B (again)",
        "sockets of client: receive response 1000 B (again)",
    ] in paths
    assert [
        "sockets of client: receive response 1000 B (again)",
        "workload orders: orders #12 complete",
    ] in paths
    assert all(len(path) > 1 for path in paths), "no arrow leads nowhere"


def test_beyond_the_limit_what_one_stood_behind_stays(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracks, "SLICES_MAX", 1)
    before = Hop(None, "bulk", 3, 5000, 0, 0, 10 * US, 15 * US)
    made = trace_of(
        replace(log, hops={**log.hops, "leaf>client": [before, *log.hops["leaf>client"]]}), CHOSEN
    )
    assert (made.other_slices, made.left_out) == (1, 2)
    bulk = [
        each for each in read(made.content).slices["port leaf>client / wire"] if each[2] == "bulk"
    ]
    assert plain(bulk) == [(20_000, 60_000, "bulk")], "the frame of the log waited from 45 us on"
    assert trace_of(replace(log, left_out=5), CHOSEN).left_out == 6


def test_long_series_keep_their_highest_values(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_tracks, "DEPTHS_MAX", 2)
    counts = read(trace_of(log, CHOSEN).content).counts["port leaf>client / queue"]
    assert max(value for _, value in counts) == 6066
    assert counts[-1] == (100_000, 0)


def test_transactions_of_a_user_that_overlap_have_tracks_of_their_own(log: Log) -> None:
    other = Chosen("orders", 13, Transaction(7, 100 * US, 280 * US, {}, 0, 0))
    slices = read(trace_of(log, [*CHOSEN, other]).content).slices
    assert plain(slices["workload orders / user 7, overlapping 1"]) == [
        (100_000, 280_000, "orders #13")
    ]


def test_lanes_hold_spans_that_do_not_overlap() -> None:
    assert lanes([(0, 10), (5, 7), (7, 9), (8, 12), (10, 11)]) == [0, 1, 1, 2, 0]


def test_numbers_of_every_size_are_written() -> None:
    writer = Writer()
    counter = writer.counter(writer.group("group"), "é")
    for at_ps, value in ((0, 0), (1000, 127), (2000, 128), (3000, 2**40), (2**63, -5)):
        writer.count(counter, at_ps, value)
    counts = read(writer.trace()).counts["group / é"]
    assert counts == [(0, 0), (1, 127), (2, 128), (3, 2**40), (2**63 // 1000, -5)]


def test_cores_hypervisors_and_waits_have_a_group_for_each_node(log: Log) -> None:
    cores = {
        "server": [
            CoreTime(1, 5 * US, 9 * US, "orders, kernel", 8),
            CoreTime(0, 1 * US, 2 * US, "soft interrupt", None),
        ]
    }
    works = {
        "node": [
            Work(0, "virtual switch", 10 * US, 12 * US, 15 * US),
            Work(1, "virtual switch", 11 * US, 15 * US, 16 * US),
        ]
    }
    waits = {"client": [CoreWait(3 * US, 7 * US, 0), CoreWait(4 * US, 9 * US, 0)]}
    trace = read(trace_of(replace(log, cores=cores, works=works, core_waits=waits), CHOSEN).content)
    ((begin, end, name, args),) = trace.slices["cores of server / core 1"]
    assert (begin, end, name, args["task"]) == (5_000, 9_000, "orders, kernel", 8)
    assert plain(trace.slices["cores of server / core 0"]) == [(1_000, 2_000, "soft interrupt")]
    assert sorted(plain(trace.slices["cores of node / virtual switch"])) == [
        (10_000, 15_000, "request 200 B"),
        (11_000, 16_000, "response 1000 B"),
        (12_000, 15_000, "at work"),
        (15_000, 16_000, "at work"),
    ]
    assert plain(trace.slices["cores of client / waits for a core"]) == [
        (3_000, 7_000, "orders"),
        (4_000, 9_000, "orders"),
    ]
    assert any(
        "cores of node / virtual switch" in {track for _, track, _ in flow}
        for flow in trace.flows.values()
    )


def test_what_carries_data_unasked_has_no_requests(log: Log) -> None:
    trace = read(trace_of(replace(log, kinds={"orders": "stream"}), CHOSEN).content)
    assert {each[2] for each in trace.slices["port leaf>client / wire"]} == {
        "bulk",
        "data 1000 B",
        "data 1000 B (again)",
    }


def test_frames_name_the_transactions_that_they_are_of(log: Log) -> None:
    trace = read(trace_of(log, CHOSEN).content)
    whose = {
        str(args["frame"]): args.get("of")
        for _, _, _, args in trace.slices["port leaf>server / wire"]
        if "frame" in args
    }
    whose |= {
        str(each[3]["frame"]): each[3].get("of")
        for each in trace.slices["interface client>leaf / wire"]
    }
    assert whose["0"] == "orders #12", whose
    assert whose["4"] is None, "the last acknowledgement came after the completion"


def test_an_interval_has_the_name_of_its_moment() -> None:
    [one, other] = intervals(["backup"], 1_500 * US, 4_000 * US, {"backup": 2})
    assert (one.name, one.file_name, other.transaction.user) == (
        "backup at 1.5 ms",
        "backup-at-1500us",
        1,
    )
    assert one.transaction.end_ps == 4_000 * US, "it ends with the trial"
