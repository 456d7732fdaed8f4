"""Semantic checks for pauses: thresholds that cannot work, two kinds of pauses at one port."""

from collections.abc import Iterator
from typing import Any

from tailrace.errors import KeyPath
from tailrace.scenario.checks import lossless
from tailrace.scenario.lowering.pause import Port, groups
from tailrace.scenario.policies.headroom import QUANTUM_BITS
from tailrace.scenario.policies.pause import LinkPause, Pfc
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.text.units import format_size

REFRESH_WIRE_BYTES_MIN = 1344
"""Bytes whose time on the link is the least interval between renewals of a pause; see
crates/dataplane/src/ingress.rs.
"""

Found = Iterator[tuple[KeyPath, str, str]]


def check(at: KeyPath, policy: Policy) -> Found:
    """Problems of the pauses of one policy that do not depend on a switch."""
    if policy.pfc is not None and policy.link_pause is not None:
        what = "a port pauses either priorities (pfc) or the whole link (link_pause)"
        yield (*at, "link_pause"), what, "remove one of the two (802.1Qbb, 802.3 annex 31B)"
    if policy.pfc is not None:
        yield from _pfc((*at, "pfc"), policy.pfc, policy)
    for key in ("pfc", "link_pause"):
        pausing = getattr(policy, key)
        if pausing is not None:
            yield from _pausing((*at, key), pausing)
    yield from lossless.check(at, policy)


def check_port(at: KeyPath, name: str, policy: Policy, port: Port) -> Found:
    """Problems of the thresholds at one port, which depend on its switch, link and neighbour."""
    pausing = policy.pausing
    if pausing is None or not pausing.sends:
        return
    buffer, where = port.switch.buffer, f"of policy '{name}' at the port to {port.towards}"
    for group in groups(pausing, port):
        own = set_aside(group) + group["limit"].get("bytes", 0)
        if "lossless" in group and own > buffer:
            what = (
                f"a lossless group {where} may hold {format_size(own)}, "
                f"but the switch has a buffer of {format_size(buffer)}"
            )
            yield (
                at,
                what,
                "lower headroom or xoff, shorten the cable, or raise the switch's buffer",
            )
            return
    yield from _lossless_queues(at, name, policy, port)
    yield from _quanta(at, pausing, port)


def _quanta(at: KeyPath, pausing: Pfc | LinkPause, port: Port) -> Found:
    """A pause is renewed after half of its duration; the renewal may wait for one frame of the
    largest size."""
    wire_bytes = port.frame_bytes + port.scenario.network.framing.overhead
    least = -(-16 * max(wire_bytes, REFRESH_WIRE_BYTES_MIN) // QUANTUM_BITS)
    if pausing.quanta < least:
        what = (
            f"pauses of {pausing.quanta} quanta expire before a renewal "
            "delayed by one frame arrives"
        )
        yield (*at, "quanta"), what, f"write {least} or more; 65535 is usual"


def set_aside(group: dict[str, Any]) -> int:
    """Bytes of the buffer that only this group can use."""
    headroom_bytes: int = group["lossless"]["headroom_bytes"] if "lossless" in group else 0
    return headroom_bytes + int(group["reserved_bytes"])


def _lossless_queues(at: KeyPath, name: str, policy: Policy, port: Port) -> Found:
    """A lossless queue that is full before its senders are paused loses frames despite the
    pauses."""
    pausing = policy.pausing
    for group in groups(pausing, port) if pausing is not None else []:
        if "lossless" not in group or "bytes" not in group["limit"]:
            continue
        wanted = (
            group["limit"]["bytes"] + group["reserved_bytes"] + group["lossless"]["headroom_bytes"]
        )
        for priority in (p for p in range(8) if group["priorities"] >> p & 1):
            queue_name = policy.queue_of(priority)
            queue = policy.queues.get(queue_name)
            if queue is None:
                continue
            limit = queue.limit
            if limit.unit == "bytes" and limit.amount < wanted:
                what = (
                    f"lossless queue '{queue_name}' of policy '{name}' drops above "
                    f"{format_size(limit.amount)}, less than the {format_size(wanted)} that it may "
                    "hold until a paused sender has stopped"
                )
                yield at, what, f"raise its limit to {format_size(wanted)} or more, or lower xoff"
                return


def _pfc(at: KeyPath, pfc: Pfc, policy: Policy) -> Found:
    lossless = set(pfc.priorities)
    if len(lossless) < len(pfc.priorities):
        yield (*at, "priorities"), "a priority is named twice", "remove one"
    for priority in sorted(set(pfc.per_priority) - lossless):
        yield (
            (*at, "per_priority", priority),
            f"priority {priority} is not lossless",
            "add it to priorities",
        )
    if any(queue not in policy.queues for queue in policy.priorities.values()):
        return
    paused = {policy.queue_of(priority) for priority in lossless}
    if policy.dpp is not None and policy.dpp.express in paused:
        what = f"the express queue '{policy.dpp.express}' must not be lossless"
        yield (
            (*at, "priorities"),
            what,
            "remove its priority from pfc: prioritised packets must never be paused",
        )


def _pausing(at: KeyPath, pausing: Pfc | LinkPause) -> Found:
    if not pausing.sends and not pausing.obeys:
        yield at, "`sends` and `obeys` are both false", "remove the section, or set one of them"
    if pausing.headroom == 0 and pausing.sends:
        yield (*at, "headroom"), "`headroom` must be greater than zero", "write auto"
    if pausing.xoff.unit == "frames":
        yield (
            (*at, "xoff"),
            "priority groups count bytes, not frames",
            "write a size, or dynamic(0.125)",
        )
    elif pausing.xoff.amount == 0 and pausing.sends:
        yield (*at, "xoff"), "`xoff` must be greater than zero", "write a size, or dynamic(0.125)"
    elif (
        pausing.xoff.unit == "bytes"
        and pausing.xon_offset >= pausing.xoff.amount + pausing.reserved
    ):
        what = (
            f"{format_size(pausing.xon_offset)} is not less than xoff, "
            f"{format_size(pausing.xoff.amount)}"
        )
        yield (*at, "xon_offset"), what, "write a size below xoff"
    for key, limit in (("lossy", getattr(pausing, "lossy", None)),):
        if limit is not None and (limit.unit == "frames" or limit.amount == 0):
            yield (
                (*at, key),
                "priority groups count bytes",
                "write a size above zero, or dynamic(8)",
            )
    for priority, own in getattr(pausing, "per_priority", {}).items():
        if own.xoff is not None and (own.xoff.unit == "frames" or own.xoff.amount == 0):
            yield (
                (*at, "per_priority", priority, "xoff"),
                "priority groups count bytes",
                "write a size above zero",
            )
    watchdog = pausing.watchdog
    if watchdog is not None and (watchdog.detection == 0 or watchdog.restoration == 0):
        yield (
            (*at, "watchdog"),
            "detection and restoration must be greater than zero",
            "SONiC: 200ms and 400ms",
        )
