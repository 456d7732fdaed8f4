"""The profile of a capture for people."""

from collections.abc import Iterable, Sequence
from typing import Any

from tailrace.results.format.columns import Row, align
from tailrace.results.format.numbers import bytes_text, count_text, rate_text, span_text

NAMED_MAX = 10
"""Rows of a table of ports, services or largest flows."""
PS_PER_NS = 1000
PROTOCOLS = {
    1: "ICMP",
    2: "IGMP",
    6: "TCP",
    17: "UDP",
    47: "GRE",
    50: "ESP",
    58: "ICMPv6",
    89: "OSPF",
    132: "SCTP",
}
"""Numbers of protocols of IP that are named (IANA)."""
Data = dict[str, Any]


def profile_text(data: Data) -> str:
    """All of it, in sections."""
    sections = [
        _capture(data),
        _frame_sizes(data["frame_sizes"]),
        *(_rates(name, rates) for name, rates in data["rates"].items() if rates),
        _protocols(data),
        _flows(data["flow_summary"]),
        _tcp(data["tcp"], data["flow_summary"]),
        _exchanges(data["exchanges"]),
        _at_once(data),
    ]
    return "\n\n".join(section for section in sections if section)


def _capture(data: Data) -> str:
    of = data["capture"]
    compressed = "" if of["compression"] == "none" else f", {of['compression']}"
    rows = [
        ("capture", f"{data['file']} ({of['file_format']}{compressed})"),
        (
            "frames",
            f"{count_text(of['frames'])} with {bytes_text(of['frame_bytes'])} in "
            f"{_span(of['duration_ns'])}",
        ),
        (
            "line",
            rate_text(of["line_bps"])
            if of["line_bps"]
            else "speed unknown (hint: --line 10Gbit/s)",
        ),
        ("largest packet", bytes_text(of["largest_packet_bytes"])),
    ]
    rows += [(name, count_text(of[key])) for name, key in _ODDITIES if of[key]]
    if of["end"]["state"] != "complete":
        end = of["end"]
        rows.append(("ended early", f"{end['state']} at byte {end['offset_bytes']}: {end['what']}"))
    return _pairs(rows)


_ODDITIES = (
    ("cut frames", "cut_frames"),
    ("frames without time", "frames_without_time"),
    ("frames out of order", "frames_out_of_order"),
    ("frames left out", "frames_left_out"),
)
"""Facts of a capture that are listed only when there are any, with their keys."""


def _frame_sizes(of: Data) -> str:
    rows: list[Row] = [("frame size", "frames", "share")]
    for one in of["bins"]:
        if one["frames"]:
            end = (
                f"{one['from_bytes']} B and more"
                if one["to_bytes"] is None
                else f"up to {one['to_bytes']} B"
            )
            rows.append((end, count_text(one["frames"]), _share(one["share"])))
    top = ", ".join(f"{size} B ({count_text(count)})" for size, count in of["top_bytes"][:5])
    return f"{align(rows)}\nmost frequent: {top}" if of["top_bytes"] else ""


def _rates(direction: str, of: Data) -> str:
    has_line = of["bursts"] is not None
    heads = ("> 50 %", "> 80 %", "> 95 %") if has_line else ()
    rows: list[Row] = [(f"rate ({direction})", "mean", "median", "p99", "max", *heads)]
    for one in of["intervals"]:
        shares = (
            [_share(one[f"share_above_{part}_percent"]) for part in (50, 80, 95)]
            if has_line
            else []
        )
        rates = (rate_text(one[key]) for key in ("mean_bps", "p50_bps", "p99_bps", "max_bps"))
        rows.append((f"per {_span(one['width_ns'])}", *rates, *shares))
    lines = [align(rows)]
    if has_line and of["bursts"]["bursts"]:
        bursts, longest = of["bursts"], of["bursts"]["duration_ns"]
        lines.append(
            f"{count_text(bursts['bursts'])} bursts of at least 80 % of the "
            "line in each 100 us: median"
            f" {_span(longest['p50'])}, longest {_span(longest['max'])},"
            f" largest {bytes_text(bursts['line_bytes']['max'])}"
        )
    return "\n".join(lines)


def _protocols(data: Data) -> str:
    of = data["protocols"]
    rows: list[Row] = [("protocol", "frames", "bytes")]
    rows += [(name, *_count(of[key])) for name, key in _KINDS if of[key]["frames"]]
    rows += [(f"type {one['ether_type']}", *_count(one)) for one in of["ether_types"]]
    rows += [
        (PROTOCOLS.get(one["number"], f"protocol {one['number']}"), *_count(one))
        for one in of["ip_protocols"]
    ]
    for name, key in (("TCP", "tcp_ports"), ("UDP", "udp_ports")):
        rows += [(f"{name} port {one['port']}", *_count(one)) for one in of[key][:NAMED_MAX]]
    classes, fragments = data["classes"], data["fragments"]
    rows += [(f"DSCP {one['value']}", *_count(one)) for one in classes["dscp"]]
    rows += [(f"VLAN {one['value']}", *_count(one)) for one in classes["vlan"]]
    marked = classes["ecn"]["congestion_experienced"]
    if marked["frames"]:
        rows.append(("congestion experienced", *_count(marked)))
    if fragments["frames"]:
        rows.append(("fragments", *_count(fragments)))
    return align(rows) if len(rows) > 1 else ""


_KINDS = (
    ("IPv4", "ipv4"),
    ("IPv6", "ipv6"),
    ("ARP", "arp"),
    ("802.2", "llc"),
    ("malformed IP", "ip_malformed"),
    ("cut within headers", "cut"),
    ("link layer not read", "unknown_link"),
)
"""Kinds of frames with their keys."""


def _flows(of: Data) -> str:
    sizes = of["sizes"]
    if not sizes["size_bytes"]["count"]:
        return ""
    rows: list[Row] = [("flows", "number", "share", "bytes", "share")]
    for one in sizes["classes"]:
        if one["flow_count"]:
            below = one["below_bytes"]
            name = "larger" if below is None else f"below {bytes_text(below)}"
            rows.append(
                (
                    name,
                    count_text(one["flow_count"]),
                    _share(one["share_of_flows"]),
                    bytes_text(one["bytes"]),
                    _share(one["share_of_bytes"]),
                )
            )
    lines = [align(rows)]
    if of["evicted"]:
        lines.append(
            f"{count_text(of['evicted'])} flows made room for others (limit: "
            f"{count_text(of['flows_max'])} at once)"
        )
    return "\n".join(lines)


def _tcp(of: Data, flows: Data) -> str:
    if not of["segments"]:
        return ""
    rows = [
        (
            "TCP connections",
            f"{count_text(flows['connections'])}, {count_text(flows['with_syn'])} with opening",
        )
    ]
    rows += [(name, count_text(of[key])) for name, key in _SEGMENTS if of[key] or key in _ALWAYS]
    rows += [(name, _distribution(of[key])) for name, key in _TIMES if of[key]["count"]]
    if of["mss_bytes"]:
        rows.append(
            (
                "MSS",
                ", ".join(
                    f"{size} B ({count_text(count)})" for size, count in of["mss_bytes"][-5:]
                ),
            )
        )
    return _pairs(rows)


_SEGMENTS = (
    ("segments", "segments"),
    ("retransmissions", "retransmissions"),
    ("fast retransmissions", "fast_retransmissions"),
    ("spurious retransmissions", "spurious_retransmissions"),
    ("out of order", "out_of_order"),
    ("duplicate ACKs", "duplicate_acks"),
    ("zero windows", "zero_windows"),
    ("after gaps", "after_gaps"),
    ("longer than MSS", "beyond_mss"),
    ("resets", "resets"),
    ("ECN echoes", "ecn_echoes"),
)
"""Counts of segments with their keys."""
_ALWAYS = frozenset({"segments", "retransmissions", "duplicate_acks"})
"""Counts that are listed when they are zero."""
_TIMES = (
    ("handshake RTT", "handshake_rtt_ns"),
    ("RTT, server's side", "server_side_rtt_ns"),
    ("RTT, client's side", "client_side_rtt_ns"),
)
"""Round-trip times with their keys."""


def _exchanges(of: Data) -> str:
    if not of["exchanges"]:
        return ""
    rows: list[Row] = [
        ("requests", "number", "size p50", "answer p50", "server p50", "server p99", "think p50")
    ]
    for one in of["services"][:NAMED_MAX]:
        name = "other ports" if one["port"] is None else f"port {one['port']}"
        rows.append(
            (
                name,
                count_text(one["exchanges"]),
                bytes_text(one["request_bytes"]["p50"]),
                bytes_text(one["response_bytes"]["p50"]) if one["response_bytes"]["count"] else "-",
                _time(one["server_time_ns"], "p50"),
                _time(one["server_time_ns"], "p99"),
                _time(one["think_time_ns"], "p50"),
            )
        )
    notes = [f"{count_text(of[key])} {key}" for key in ("pipelined", "unanswered") if of[key]]
    return align(rows) + (
        f"\nof all {count_text(of['exchanges'])}: {', '.join(notes)}" if notes else ""
    )


def _at_once(data: Data) -> str:
    of, incast = data["concurrency"], data["incast"]
    rows = [
        (
            name,
            f"mean {of[key]['mean']:.3g}, p99 {count_text(of[key]['p99'])}, max "
            f"{count_text(of[key]['max'])}",
        )
        for name, key in (
            ("open connections", "open_connections"),
            ("waiting requests", "waiting_requests"),
        )
        if of[key]["max"]
    ]
    degree = incast["senders_per_receiver"]
    if degree["count"]:
        degrees = f"median {degree['p50']}, p99 {degree['p99']}, max {degree['max']}"
        rows.append(("senders to one receiver in 1 ms", degrees))
    return _pairs(rows) if rows else ""


def _pairs(rows: Iterable[Sequence[str]]) -> str:
    listed = list(rows)
    width = max(len(name) for name, _ in listed)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in listed)


def _count(of: Data) -> tuple[str, str]:
    return count_text(of["frames"]), bytes_text(of["frame_bytes"])


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value * 100:.1f} %"


def _span(ns: float) -> str:
    return span_text(ns * PS_PER_NS)


def _time(of: Data, key: str) -> str:
    return _span(of[key]) if of["count"] else "-"


def _distribution(of: Data) -> str:
    percentiles = ", ".join(
        f"{name} {_span(of[key])}"
        for name, key in (("min", "min"), ("median", "p50"), ("p99", "p99"))
    )
    return f"{percentiles} ({count_text(of['count'])})"
