"""Which charts the page of a profile has, section by section."""

from collections.abc import Sequence
from typing import Any

from tailrace.profile.charts import (
    BYTES,
    SPANS,
    Bars,
    Curves,
    Panel,
    bars,
    by_width,
    curves,
    over_time,
)
from tailrace.profile.text import PROTOCOLS
from tailrace.profile.words import ns_text
from tailrace.results.format.numbers import bytes_text, count_text

ROWS_MAX = 10
"""Rows of a chart of classes or ports; the rest is one row."""
LINE_SHARES = (50, 80, 95)

Data = dict[str, Any]


def frame_panels(data: Data) -> list[Panel]:
    """Sizes of frames, and the rate."""
    rows = [(_size_name(one), (one["share"],)) for one in data["frame_sizes"]["bins"]]
    sizes = Bars(
        "frame-sizes",
        "Sizes of frames",
        "share of the frames, without check sequence",
        ("frames",),
        rows,
    )
    rates = data["rates"]["all"]
    return _known(
        over_time(rates, data["capture"]["line_bps"]), _above(rates), by_width(rates), bars(sizes)
    )


def flow_panels(data: Data) -> list[Panel]:
    """Mice and elephants: sizes and durations of flows."""
    of = data["flow_summary"]["sizes"]
    rows = [
        (_class_name(one), (one["share_of_flows"], one["share_of_bytes"]))
        for one in of["classes"]
        if one["flow_count"]
    ]
    classes = Bars(
        "flow-classes",
        "Mice and elephants",
        "by size of the flow",
        ("share of the flows", "share of the bytes"),
        rows,
    )
    sizes = Curves(
        "flow-sizes",
        "Sizes of flows",
        "share of the flows of at most this size",
        "bytes of a flow",
        BYTES,
        [("flow", of["size_bytes"])],
    )
    times = Curves(
        "flow-durations",
        "Durations of flows",
        "first to last frame",
        "duration",
        SPANS,
        [("flow", of["duration_ns"])],
    )
    return _known(bars(classes), curves(sizes), curves(times))


def tcp_panels(data: Data) -> list[Panel]:
    """Round-trip times, requests and responses."""
    tcp, of = data["tcp"], data["exchanges"]
    trips = [
        ("handshake", tcp["handshake_rtt_ns"]),
        ("server's side", tcp["server_side_rtt_ns"]),
        ("client's side", tcp["client_side_rtt_ns"]),
    ]
    rtt = Curves("rtt", "Round-trip times", "as seen at the point of capture", "time", SPANS, trips)
    sizes = Curves(
        "request-sizes",
        "Requests and responses",
        "bytes of data",
        "bytes",
        BYTES,
        [("request", of["request_bytes"]), ("response", of["response_bytes"])],
    )
    times = [
        ("server's time", of["server_time_ns"]),
        ("whole exchange", of["exchange_time_ns"]),
        ("think time", of["think_time_ns"]),
    ]
    waits = Curves(
        "request-times",
        "Times of requests",
        "server's time: last segment of the request to the first of the response",
        "time",
        SPANS,
        times,
    )
    return _known(curves(rtt), curves(sizes), curves(waits))


def class_panels(data: Data) -> list[Panel]:
    """Protocols, ports, classes and senders at once."""
    return _known(_protocols(data), _ports(data), *_marks(data), _incast(data))


def _known(*panels: Panel | None) -> list[Panel]:
    return [one for one in panels if one]


def _size_name(one: Data) -> str:
    if one["to_bytes"] is None:
        return f"{one['from_bytes']} B and more"
    return (
        f"up to {one['to_bytes']} B"
        if one["from_bytes"] == 0
        else f"{one['from_bytes']} to {one['to_bytes']} B"
    )


def _class_name(one: Data) -> str:
    below = one["below_bytes"]
    return "larger" if below is None else f"below {bytes_text(below, 1)}"


def _above(rates: Data) -> Panel | None:
    if rates["bursts"] is None:
        return None
    rows = [
        (
            f"per {ns_text(one['width_ns'])}",
            [one[f"share_above_{part}_percent"] for part in LINE_SHARES],
        )
        for one in rates["intervals"]
    ]
    names = tuple(f"above {part} %" for part in LINE_SHARES)
    return bars(
        Bars(
            "above",
            "Use of the line",
            "share of the time above 50, 80 and 95 % of its speed",
            names,
            rows,
        )
    )


def _protocols(data: Data) -> Panel | None:
    of = data["protocols"]
    kinds = (
        ("ARP", "arp"),
        ("802.2", "llc"),
        ("malformed IP", "ip_malformed"),
        ("cut within headers", "cut"),
        ("link layer not read", "unknown_link"),
    )
    counts = [
        (PROTOCOLS.get(one["number"], f"protocol {one['number']}"), one)
        for one in of["ip_protocols"]
    ]
    counts += [(f"type {one['ether_type']}", one) for one in of["ether_types"]] + [
        (name, of[key]) for name, key in kinds
    ]
    return _counts(data, "protocols", "Protocols", counts)


def _ports(data: Data) -> Panel | None:
    of = data["protocols"]
    counts = [
        (f"{name} {one['port']}", one)
        for name, key in (("TCP", "tcp_ports"), ("UDP", "udp_ports"))
        for one in of[key]
    ]
    return _counts(data, "ports", "Ports of servers", counts)


def _marks(data: Data) -> Sequence[Panel | None]:
    of = data["classes"]
    ecn = (
        ("not capable", "not_capable"),
        ("ECT(0)", "ect0"),
        ("ECT(1)", "ect1"),
        ("congestion experienced", "congestion_experienced"),
    )
    vlans = [(f"VLAN {one['value']}", one) for one in of["vlan"]]
    return (
        _counts(data, "dscp", "DSCP", [(f"DSCP {one['value']}", one) for one in of["dscp"]]),
        _counts(data, "vlan", "VLANs", [*vlans, ("untagged", of["untagged"])]) if vlans else None,
        _counts(
            data,
            "priority",
            "Priorities of tags",
            [(f"priority {one['value']}", one) for one in of["priority"]],
        ),
        _counts(data, "ecn", "ECN", [(name, of["ecn"][key]) for name, key in ecn]),
    )


def _counts(data: Data, key: str, title: str, counts: Sequence[tuple[str, Data]]) -> Panel | None:
    """Shares of all frames and bytes of the capture, those with most bytes first."""
    frames, frame_bytes = data["capture"]["frames"] or 1, data["capture"]["frame_bytes"] or 1
    ranked = sorted(
        (one for one in counts if one[1]["frames"]), key=lambda one: -one[1]["frame_bytes"]
    )
    rows = [
        (name, (one["frames"] / frames, one["frame_bytes"] / frame_bytes))
        for name, one in ranked[:ROWS_MAX]
    ]
    if len(ranked) > ROWS_MAX:
        rest = [one for _, one in ranked[ROWS_MAX:]]
        sums = (
            sum(one["frames"] for one in rest) / frames,
            sum(one["frame_bytes"] for one in rest) / frame_bytes,
        )
        rows.append((f"{len(rest)} others", sums))
    return bars(Bars(key, title, "share of all frames and bytes", ("frames", "bytes"), rows))


def _incast(data: Data) -> Panel | None:
    degree = data["incast"]["senders_per_receiver"]
    if not degree["count"]:
        return None
    buckets: dict[int, int] = {}
    for senders, count in degree["histogram"]:
        at = max(senders, 1).bit_length()
        buckets[at] = buckets.get(at, 0) + count
    rows = [(_degree_name(at), (count / degree["count"],)) for at, count in sorted(buckets.items())]
    what = (
        f"senders to one receiver in 1 ms, of {count_text(degree['count'])} pairs of receiver "
        "and millisecond"
    )
    return bars(Bars("incast", "Incast degree", what, ("share",), rows))


def _degree_name(at: int) -> str:
    low, high = 1 << at - 1, (1 << at) - 1
    return "1 sender" if high == 1 else f"{low} to {high} senders"
