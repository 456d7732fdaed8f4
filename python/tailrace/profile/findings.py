"""Sentences about the kinds of traffic in a profile: each has its figures, and follows a rule that
is a constant here.

The limits are conventions of this project, chosen so that a sentence is true of the word in it;
they are not standards.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tailrace.profile.words import ns_text, share_text
from tailrace.results.format.numbers import bytes_text, count_text, rate_text

MOST = 0.5
"""A kind of frames is "most" of them from this share on."""
SHORT_BYTES = 251
"""Frames are short up to this length without check sequence: the third bin of RFC 2819."""
LONG_BYTES = 1_020
"""Frames are long from this length on: the sixth bin of RFC 2819."""
ELEPHANTS_SHARE_OF_FLOWS = 0.1
"""Elephants are few if not more than this share of the flows carries half of the bytes."""
FLOWS_MIN = 10
"""Of fewer flows nothing is said about mice and elephants."""
QUIET_SECONDS_SHARE = 0.5
"""Bursts are microbursts while no second uses more than this share of the line."""
BURST_RATIO_MIN = 10.0
"""Without the speed of the line, traffic is bursty if the busiest 100 µs have this many times the
mean rate."""
INCAST_SENDERS_MIN = 4
"""Incast: this many senders to one receiver within 1 ms at the 99th percentile, or twice as many
once."""
RETRANSMISSIONS_SHARE_MIN = 0.001
"""Share of the segments from which on retransmissions are a reported property of the traffic."""
JUMBO_BYTES = 1_500
"""Longest packet of IP on Ethernet without jumbo frames (IEEE 802.3 clause 3.2.7)."""
LINE_PACKET_BYTES_MAX = 9_216
"""Usual switches pass no longer packets: an interface divides them later, or has joined them
before."""

Data = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """One property of the traffic."""

    kind: str
    """In a few words, as a part of a sentence."""
    sentence: str
    """With the figures."""


@dataclass(frozen=True)
class Findings:
    """The findings, and the kinds that were tested and are absent."""

    found: tuple[Finding, ...]
    absent: tuple[str, ...]
    unknown: tuple[str, ...]

    def summary(self) -> str:
        """All kinds in one sentence."""
        if not self.found:
            return "The capture has no frame in the time that was asked for."
        text = "; ".join(one.kind for one in self.found)
        return f"{text[0].upper()}{text[1:]}."

    def absence(self) -> str:
        """Sentences about absent kinds and unknown properties."""
        parts = []
        if self.absent:
            parts.append(f"Looked for and not found: {', '.join(self.absent)}.")
        parts += [f"{text[0].upper()}{text[1:]}." for text in self.unknown]
        return " ".join(parts)


def findings(data: Data) -> Findings:
    """Everything that the figures of a profile say about the kind of its traffic."""
    if not data["capture"]["frames"]:
        return Findings((), (), ())
    absent: list[str] = []
    unknown: list[str] = []
    found = [
        _sizes(data),
        _exchanges(data),
        _flows(data),
        _load(data, absent, unknown),
        _incast(data, absent),
        *_losses(data, absent),
        *_packets(data, absent),
    ]
    return Findings(tuple(one for one in found if one), tuple(absent), tuple(unknown))


def _sizes(data: Data) -> Finding:
    of = data["frame_sizes"]
    short = sum(
        one["share"]
        for one in of["bins"]
        if one["to_bytes"] is not None and one["to_bytes"] <= SHORT_BYTES
    )
    long = sum(one["share"] for one in of["bins"] if one["from_bytes"] >= LONG_BYTES)
    middle = f"the median is {bytes_text(of['p50_bytes'])}, the mean {bytes_text(of['mean_bytes'])}"
    if short >= MOST:
        return Finding(
            "many short packets",
            f"{share_text(short)} of the frames have at most {SHORT_BYTES} B; {middle}.",
        )
    if long >= MOST:
        return Finding(
            "mostly long packets",
            f"{share_text(long)} of the frames have {LONG_BYTES} B or more; {middle}.",
        )
    sentence = (
        f"{share_text(short)} of the frames have at most {SHORT_BYTES} B, {share_text(long)} "
        f"at least {LONG_BYTES} B"
    )
    return Finding("packets of all sizes", f"{sentence}; {middle}.")


def _exchanges(data: Data) -> Finding | None:
    of = data["exchanges"]
    if not of["exchanges"]:
        return None
    parts = [
        f"{count_text(of['exchanges'])} requests with a median of "
        f"{bytes_text(of['request_bytes']['p50'])}"
    ]
    if of["response_bytes"]["count"]:
        time = of["server_time_ns"]
        parts.append(
            f"the answers have a median of {bytes_text(of['response_bytes']['p50'])} and begin "
            f"{ns_text(time['p50'])} after the request (99th percentile: {ns_text(time['p99'])})"
        )
    if of["think_time_ns"]["count"]:
        parts.append(
            f"clients wait {ns_text(of['think_time_ns']['p50'])} (median) before their next request"
        )
    busiest = next((one for one in of["services"] if one["port"] is not None), None)
    if busiest:
        parts.append(
            f"most requests go to port {busiest['port']} ({count_text(busiest['exchanges'])})"
        )
    return Finding("requests and responses over TCP", f"{'; '.join(parts)}.")


def _flows(data: Data) -> Finding | None:
    of = data["flow_summary"]["sizes"]["size_bytes"]
    flows, largest = of["count"], data["flow_summary"]["largest"]
    if not flows:
        return None
    if flows < FLOWS_MIN:
        number = f"{flows} {'flow' if flows == 1 else 'flows'}"
        return Finding(
            f"only {number}", f"There are only {number}; a flow is one direction of a conversation."
        )
    sums = list(accumulate(one["frame_bytes"] / (flows * of["mean"]) for one in largest))
    count = next((at for at, share in enumerate(sums, 1) if share >= MOST), None)
    median = f"the median flow has {bytes_text(of['p50'])}"
    if count is None:
        counts = (
            f"The {len(sums)} largest of {count_text(flows)} flows carry "
            f"{share_text(sums[-1])} of the bytes"
        )
        return Finding("many flows without elephants", f"{counts}; {median}.")
    carry = "flow carries" if count == 1 else "flows carry"
    share = share_text(sums[count - 1])
    counts = (
        f"The {count} largest {carry} {share} of the bytes of {count_text(flows)} flows; {median}."
    )
    if count > max(1, ELEPHANTS_SHARE_OF_FLOWS * flows):
        return Finding("flows of similar sizes", counts)
    return Finding(
        "one elephant flow"
        if count == 1
        else f"few elephant flows ({count} carry half of the bytes)",
        counts,
    )


def _load(data: Data, absent: list[str], unknown: list[str]) -> Finding | None:
    of = data["rates"]["all"]
    by_width = {one["width_ns"]: one for one in of["intervals"]}
    widest, narrowest = by_width[max(by_width)], by_width[min(by_width)]
    line_bps, bursts = data["capture"]["line_bps"], of["bursts"]
    if not line_bps:
        unknown.append(
            "the speed of the line is unknown, so shares of the line and microbursts are not judged"
        )
        return _ratio(narrowest)
    second = widest["max_bps"] / line_bps
    busiest = f"The busiest {ns_text(widest['width_ns'])} uses {share_text(second)} of the line"
    if not bursts["bursts"]:
        absent.append(
            f"microbursts (at least 80 % of the line during {ns_text(narrowest['width_ns'])})"
        )
        is_busy = second > QUIET_SECONDS_SHARE
        return Finding(
            "a busy line without bursts" if is_busy else "a line with room", f"{busiest}."
        )
    longest, largest = bursts["duration_ns"]["max"], bursts["line_bytes"]["max"]
    times = "once" if bursts["bursts"] == 1 else f"{count_text(bursts['bursts'])} times"
    sentence = (
        f"{busiest}; {times} at least 80 % of it is in use for {ns_text(narrowest['width_ns'])} "
        "or longer, at most for"
        f" {ns_text(longest)}, and the largest of these bursts has {bytes_text(largest)}."
    )
    if second <= QUIET_SECONDS_SHARE:
        return Finding("microbursts on a line that has room in every second", sentence)
    return Finding("load near the speed of the line", sentence)


def _ratio(narrowest: Data) -> Finding | None:
    mean, highest = narrowest["mean_bps"], narrowest["max_bps"]
    if not mean or highest < BURST_RATIO_MIN * mean:
        return None
    busiest = f"The busiest {ns_text(narrowest['width_ns'])} have {rate_text(highest)}"
    return Finding(
        "bursts",
        f"{busiest}, {count_text(highest / mean)} times the mean rate of {rate_text(mean)}.",
    )


def _incast(data: Data, absent: list[str]) -> Finding | None:
    degree, peaks = data["incast"]["senders_per_receiver"], data["incast"]["peaks"]
    if degree["count"] and (
        degree["p99"] >= INCAST_SENDERS_MIN or degree["max"] >= 2 * INCAST_SENDERS_MIN
    ):
        sentence = (
            f"Up to {degree['max']} senders have data for one receiver within the same "
            "millisecond (99th percentile:"
            f" {degree['p99']}); the receiver with most senders is {peaks[0]['receiver']}."
        )
        return Finding("incast", sentence)
    absent.append(f"incast ({INCAST_SENDERS_MIN} or more senders to one receiver in 1 ms)")
    return None


def _losses(data: Data, absent: list[str]) -> Iterator[Finding]:
    of = data["tcp"]
    if not of["segments"]:
        return
    again = of["retransmissions"]
    if again and again >= RETRANSMISSIONS_SHARE_MIN * of["segments"]:
        counts = (
            f"{share_text(again / of['segments'])} of the TCP segments are retransmissions "
            f"({count_text(again)}"
        )
        kinds = (
            f"{count_text(of['fast_retransmissions'])} fast, "
            f"{count_text(of['spurious_retransmissions'])} spurious"
        )
        yield Finding(
            "retransmissions",
            f"{counts}: {kinds}); there are {count_text(of['duplicate_acks'])} duplicate ACKs.",
        )
    else:
        limit = share_text(RETRANSMISSIONS_SHARE_MIN)
        there_are = f", of which there are {count_text(again)}" if again else ""
        absent.append(f"retransmissions above {limit} of the segments{there_are}")
    if of["zero_windows"]:
        counts = f"{count_text(of['zero_windows'])} segments announce a window of zero bytes."
        yield Finding("receivers that stop their senders", counts)
    else:
        absent.append("zero windows")


def _packets(data: Data, absent: list[str]) -> Iterator[Finding]:
    marked, frames = data["classes"]["ecn"]["congestion_experienced"], data["capture"]["frames"]
    if marked["frames"]:
        text = (
            f"{share_text(marked['frames'] / frames)} of the frames are marked “congestion "
            "experienced” (ECN)."
        )
        yield Finding("congestion marks", text)
    else:
        absent.append("congestion marks")
    fragments = data["fragments"]
    if fragments["frames"]:
        text = (
            f"{count_text(fragments['frames'])} frames are fragments of "
            f"{count_text(fragments['packets'])} packets."
        )
        yield Finding("fragments", text)
    else:
        absent.append("fragments")
    largest = data["capture"]["largest_packet_bytes"]
    if largest > LINE_PACKET_BYTES_MAX:
        sentence = (
            f"The largest packet has {bytes_text(largest)}: it was captured before an interface "
            "divided it or after it was joined (segmentation offload), so sizes and numbers of "
            "frames are not those of the line."
        )
        yield Finding("segments larger than the frames of a line", sentence)
    elif largest > JUMBO_BYTES:
        yield Finding("jumbo frames", f"The largest packet has {bytes_text(largest)}.")
