"""Semantic checks for sizes: smaller than a frame of the scenario's MTU, or larger than the buffer
of the switch."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.lowering.pause import Port
from tailrace.scenario.policies.switch import Policy, Queue
from tailrace.scenario.text.units import format_size

Found = Iterator[tuple[KeyPath, str, str]]


def check(at: KeyPath, policy: Policy, port: Port) -> Found:
    """Problems of the sizes of one policy at a port that uses it."""
    frame_bytes = port.frame_bytes
    if policy.police is not None and policy.police.burst < frame_bytes:
        yield (*at, "police", "burst"), *_no_frame("the burst", policy.police.burst, frame_bytes)
    for name, queue in policy.queues.items():
        here: KeyPath = (*at, "queues", name)
        # A limit of zero is rejected by the checks of the policy.
        if queue.limit.unit == "bytes" and 0 < queue.limit.amount + queue.reserved < frame_bytes:
            yield (*here, "limit"), *_no_frame("the queue", queue.limit.amount, frame_bytes)
        yield from _beyond(here, queue, port)
    pausing = policy.pausing
    if (
        pausing is not None
        and pausing.xoff.unit != "bytes"
        and pausing.xon_offset >= port.switch.buffer
    ):
        key = "pfc" if policy.pfc is not None else "link_pause"
        yield (*at, key, "xon_offset"), *_too_large("xon_offset", pausing.xon_offset, port)


def _beyond(at: KeyPath, queue: Queue, port: Port) -> Found:
    """Thresholds above the depth that the queue can reach: its management would have no effect."""
    for path, depth_bytes in (*_depths(queue), *_set_point(queue)):
        if depth_bytes > port.switch.buffer:
            yield (*at, *path), *_too_large(str(path[-1]), depth_bytes, port)


def _depths(queue: Queue) -> Iterator[tuple[KeyPath, int]]:
    for key, depth_bytes in queue.aqm.depths():
        yield ("aqm", key), depth_bytes


def _set_point(queue: Queue) -> Iterator[tuple[KeyPath, int]]:
    if queue.qcn is not None:
        yield ("qcn", "set_point"), queue.qcn.set_point


def _no_frame(what: str, size_bytes: int, frame_bytes: int) -> tuple[str, str]:
    words = f"{what} of {format_size(size_bytes)} is smaller than one frame of the scenario's MTU"
    return words, f"write {frame_bytes}B or more"


def _too_large(key: str, size_bytes: int, port: Port) -> tuple[str, str]:
    buffer = format_size(port.switch.buffer)
    words = (
        f"{key} of {format_size(size_bytes)} is never reached: switch '{port.node}' has a "
        f"buffer of {buffer}"
    )
    return words, "write less than the buffer"
