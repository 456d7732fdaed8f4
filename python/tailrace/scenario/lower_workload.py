"""Workloads as plans hold them."""

from typing import Any

from tailrace.scenario.programs import LOADS
from tailrace.scenario.topology import Graph
from tailrace.scenario.workload import Datagrams, Flows, Oltp, RoundTrip, Stream, start_of

PS_PER_SECOND = 10**12
FS_BITS_PER_BYTE_SECOND = 8 * 10**15
"""Femtoseconds per second times bits per byte."""
ONE_PPB = 10**9
WRITE_TIME_PS = PS_PER_SECOND // 1000
"""A program that keeps to a rate writes what its connection may send in this time, as load generators do [K]."""
WRITE_BYTES_MIN, WRITE_BYTES_MAX = 1024, 131_072
"""A write is not smaller or larger than these; the larger is the usual one of load generators [K]."""

Raw = dict[str, Any]


def lower_workload(name: str, workload: Oltp | Stream | Flows | Datagrams, graph: Graph) -> Raw:
    """One workload, under the name of its kind."""
    # What is left out of a plan has its default there; the hash of a plan does not change for what it does not use.
    marked = {key: value for key in ("dscp", "vlan") if (value := getattr(workload, key))}
    match workload:
        case Oltp():
            early = {"connects_early": True} if workload.connect == "early" else {}
            return {"oltp": _oltp(name, workload) | _load_generator(workload) | early | marked}
        case Stream():
            return {"stream": _stream(name, workload) | _pace(workload) | marked}
        case Flows():
            return {"flows": _flows(name, workload, graph) | marked}
        case Datagrams():
            return {"datagrams": _datagrams(name, workload) | marked}


def _oltp(name: str, oltp: Oltp) -> Raw:
    return {
        "name": name,
        "client": oltp.client,
        "server": oltp.server,
        "users": oltp.users,
        "transactions": oltp.transactions or 0,
        "warmup_transactions": oltp.warmup_transactions,
        "round_trips": [_round_trip(trip) for trip in oltp.round_trips for _ in range(trip.repeat)],
        "gap": oltp.gap.raw,
        "gap_from": oltp.gap_from,
        "start": start_of(oltp).raw,
        "priority": oltp.priority,
    }


def _load_generator(oltp: Oltp) -> Raw:
    return {} if oltp.load_generator == LOADS["transactions"][0] else {"load_generator": oltp.load_generator}


def _round_trip(trip: RoundTrip) -> Raw:
    whole = {"build_fs_per_byte": trip.build_rate, "unpack_fs_per_byte": trip.unpack_rate}
    used = {key: _fs_per_byte(rate) for key, rate in whole.items() if rate is not None}
    return used | {
        "request_bytes": trip.request,
        "response_bytes": trip.response,
        "server_time": trip.server_time.raw,
        "write_bytes": trip.write,
        "produce_fs_per_byte": _fs_per_byte(trip.produce_rate),
        "consume_fs_per_byte": _fs_per_byte(trip.consume_rate),
        "consume_chunk_bytes": trip.consume_chunk,
    }


def _fs_per_byte(rate_bps: int | None) -> int:
    return 0 if rate_bps is None else round(FS_BITS_PER_BYTE_SECOND / rate_bps)


def _stream(name: str, stream: Stream) -> Raw:
    return {
        "name": name,
        "source": stream.source,
        "destination": stream.destination,
        "connections": stream.connections,
        "bytes": stream.size or 0,
        "start_ps": stream.start,
        "stagger_ps": stream.stagger,
        "priority": stream.priority,
        "pin_forward": stream.pin_forward,
        "pin_backward": stream.pin_backward,
    }


def _pace(stream: Stream) -> Raw:
    if stream.rate is None:
        return {}
    in_time = stream.rate * WRITE_TIME_PS // (8 * PS_PER_SECOND * stream.connections)
    return {"rate_bps": stream.rate, "write_bytes": min(WRITE_BYTES_MAX, max(WRITE_BYTES_MIN, in_time))}


def _flows(name: str, flows: Flows, graph: Graph) -> Raw:
    sources = graph.hosts if flows.sources == "all" else flows.sources
    destinations = graph.hosts if flows.destinations == "all" else flows.destinations
    return {
        "name": name,
        "sources": sources,
        "destinations": destinations,
        "sizes": flows.sizes.raw,
        "interarrival": _interarrival(flows, sum(graph.rates_bps[host] for host in sources)),
        "flows": flows.flows or 0,
        "start_ps": flows.start,
        "priority": flows.priority,
    }


def _interarrival(flows: Flows, sources_bps: int) -> Raw:
    if flows.interarrival is not None:
        return flows.interarrival.raw
    assert flows.load is not None, "checks refuse flows without arrivals"
    offered_bps = sources_bps * flows.load / ONE_PPB
    return {"exponential": {"mean": round(flows.sizes.mean * 8 * PS_PER_SECOND / offered_bps)}}


def _datagrams(name: str, datagrams: Datagrams) -> Raw:
    return {
        "name": name,
        "source": datagrams.source,
        "destination": datagrams.destination,
        "sizes": datagrams.sizes.raw,
        "interarrival": datagrams.interarrival.raw,
        "count": datagrams.count or 0,
        "start_ps": datagrams.start,
        "priority": datagrams.priority,
    }
