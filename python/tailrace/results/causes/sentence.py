"""One transaction in words."""

from collections.abc import Mapping, Sequence

from tailrace.results.causes.causes import (
    INTERFACE_QUEUE,
    NO_USER,
    PAUSED,
    SWITCH_QUEUE,
    Loss,
    Transaction,
)
from tailrace.results.format.numbers import span_text
from tailrace.results.summary.causes import Band, LostDatagrams

WORDS = {
    "wait_to_start": "before the first segment",
    "client_work": "work of the client",
    "server_work": "work of the server",
    "worker_wait": "waiting for a worker of the server",
    "core_wait": "waiting for a core",
    "entry_wait": "waiting for an entry of the protocol's queue",
    "device": "block device",
    "pacing": "held by the sender's pace",
    "sender_hold": "held by the sender (small queue, cork)",
    "interface_queue": "queue of a host's interface",
    "switch_queue": "queues of switches",
    "paused": "queues while they were paused",
    "serialisation": "serialisation",
    "propagation": "propagation and switch latency",
    "fast_retransmission": "until a fast retransmission",
    "reordering_timer": "until a retransmission by the reordering timer",
    "probe": "until a tail loss probe",
    "timeout": "until a retransmission timeout",
    "delayed_ack": "delayed acknowledgement",
    "receive": "receive stage",
    "reassembly": "reassembly of fragments",
    "virtual_switch_wait": "waiting for the virtual switch",
    "virtual_switch": "work of the virtual switch",
    "vhost_wait": "waiting for a vhost thread",
    "vhost": "work of a vhost thread",
    "virtual_core_wait": "waiting for a virtual core",
    "unknown": "not recorded any more",
    "outside": "outside the fabric (hosts, programs)",
    "outside_after_drop": "outside the fabric, after a drop",
}
ADVERBIAL = ("until ", "before ", "held ", "outside ", "not ")
"""First words of part names that state a time or a location instead of a thing."""
STAGES = frozenset({"device", "receive"})
"""Parts that are stages of a frame's or request's path."""
NAMED_PERCENT_MIN = 5
"""Parts below this share are merged into one entry."""
DROPPED_BY = {
    "interface": "by the interface before",
    "receive_ring": "by the receive ring behind",
    "hypervisor": "by the hypervisor behind",
    "reassembly": "by the full reassembly memory behind",
    "socket_buffer": "by the full receive buffer behind",
}
"""Dropping components other than switches. A switch drops before the wire on which the frame would
have been sent."""
LOSSES_MAX = 4
"""Ports with lost datagrams that are named; the others are summed."""
REPAIRS = frozenset({"fast_retransmission", "reordering_timer", "probe", "timeout"})


def part_words(part: str) -> str:
    """A part as text. A part without a text of its own gets the name of its column."""
    return WORDS.get(part, part.replace("_", " "))


def time_words(part: str) -> str:
    """A part as the subject of a sentence: `the wait for a core`, `the time until a tail loss
    probe`."""
    words = part_words(part)
    if words.startswith("waiting "):
        return f"the wait {words.removeprefix('waiting ')}"
    if words.startswith("queue"):
        return f"the wait in {words.replace('queue of', 'the queue of')}"
    if words.startswith("work "):
        return f"the {words}"
    if words.startswith(ADVERBIAL):
        return f"the time {words}"
    return f"the time {'in the' if part in STAGES else 'of'} {words}"


def slowest_of(transactions: Sequence[Transaction], count: int) -> list[Transaction]:
    """From the longest latency; of equal ones the earlier first."""
    return sorted(transactions, key=lambda one: (-one.latency_ps, one.start_ps, one.user))[:count]


def sentence(one: Transaction) -> str:
    """Start and latency, the parts in descending order, the ports that dropped frames, and the
    round trips for a window."""
    user = "" if one.user == NO_USER else f"user {one.user}"
    whose = "".join(f", {name}" for name in (one.workload, user) if name)
    text = (
        f"{span_text(one.latency_ps)} from {span_text(one.start_ps)}{whose}: "
        f"{', '.join(shares_of(one))}."
    )
    text += _dropped(one)
    if 100 * one.windowed_ps >= NAMED_PERCENT_MIN * max(1, one.latency_ps):
        rounds = "1 round trip" if one.window_rounds == 1 else f"{one.window_rounds} round trips"
        share = _percent(one.windowed_ps, one.latency_ps)
        text += f" {share} of it in {rounds} in which bytes waited for a window{_whose(one)}."
    return text


def shares_of(one: Transaction | Band) -> list[str]:
    """`80 % queues of switches (most at leaf>h2; 75 % of that behind backup)`, from the largest
    part."""
    latency_ps = max(1, one.latency_ps)
    ordered = sorted(one.parts.items(), key=lambda part: -part[1])
    named = [
        (part, time) for part, time in ordered if 100 * time >= NAMED_PERCENT_MIN * latency_ps
    ] or ordered[:1]
    words = [
        f"{_percent(time, latency_ps)} {part_words(part)}{_more(one, part)}" for part, time in named
    ]
    rest = latency_ps - sum(time for _, time in named)
    return [*words, f"{_percent(rest, latency_ps)} other"] if 100 * rest >= latency_ps else words


def _more(one: Transaction | Band, part: str) -> str:
    times, behind = queue_times(one, part)
    if not times:
        return ""
    port, _ = max(times.items(), key=lambda item: item[1])
    return f" (most at {port}{_culprits(behind)})"


def queue_times(
    one: Transaction | Band, part: str
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Of a part that is a queue: waiting time by port, and by workload the time during which its
    frames were sent meanwhile."""
    if part == SWITCH_QUEUE:
        return one.queues, one.behind
    if part == INTERFACE_QUEUE:
        return one.interfaces, one.interfaces_behind
    return (one.pauses if part == PAUSED else {}), {}


def _culprits(behind: Mapping[str, float]) -> str:
    total = sum(behind.values())
    if not total:
        return ""
    name, time = max(behind.items(), key=lambda other: other[1])
    return f"; {_percent(time, total)} of that behind {name}"


def _dropped(one: Transaction) -> str:
    if not one.losses:
        return ""
    first = min(one.losses, key=lambda loss: loss.at_ps)
    drops = sorted({drop_text(loss) for loss in one.losses})
    if len(one.losses) == 1:
        return f" A frame was dropped {drops[0]} at {span_text(first.at_ps)}."
    return (
        f" {len(one.losses)} frames were dropped {', '.join(drops)}, the first at "
        f"{span_text(first.at_ps)}."
    )


def _whose(one: Transaction) -> str:
    """Of the windows, that of the receiver."""
    if not one.receive_windowed_ps:
        return ""
    return f" ({_percent(one.receive_windowed_ps, one.windowed_ps)} of that for the receiver's)"


def lost_sentence(lost: Sequence[LostDatagrams]) -> str:
    """How many datagrams were lost, and where; empty where none was."""
    if not lost:
        return ""
    whole = sum(loss.datagrams for loss in lost)
    named = [f"{loss.datagrams} {drop_text(loss)}" for loss in lost[:LOSSES_MAX]]
    rest = whole - sum(loss.datagrams for loss in lost[:LOSSES_MAX])
    listed = ", ".join([*named, f"{rest} elsewhere"] if rest else named)
    were = "1 datagram was lost and has" if whole == 1 else f"{whole} datagrams were lost and have"
    return f"{were} no latency: {listed}."


def drop_text(loss: Loss | LostDatagrams) -> str:
    """`before leaf>web (policed)`: the port and the dropping component."""
    if (by := DROPPED_BY.get(loss.by)) is not None:
        return f"{by} {loss.port}"
    return f"before {loss.port} ({loss.by})" if loss.by else f"before {loss.port}"


def _percent(time: float, of: float) -> str:
    return f"{100 * time / of:.0f} %"
