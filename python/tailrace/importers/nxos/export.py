"""Writes a policy as an NX-OS configuration that the importer can read back."""

from collections.abc import Iterator, Mapping

from tailrace.importers.expressible import compare
from tailrace.importers.nxos.export_classes import class_lines, class_names, police_remark
from tailrace.importers.nxos.export_network import (
    MTU_BYTES_DEFAULT,
    hardware_lines,
    interface_lines,
    network_lines,
    port_lines,
)
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.nxos.reading import PREFIX
from tailrace.importers.nxos.shares import LEAST
from tailrace.importers.nxos.units import rate_words
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import ONE_PERCENT_PPB, PRIORITIES
from tailrace.scenario.policies.aqm.afd import Afd
from tailrace.scenario.policies.aqm.red import Red
from tailrace.scenario.policies.aqm.step import Step
from tailrace.scenario.policies.limit import VENDOR_ALPHAS_MILLI, Limit
from tailrace.scenario.policies.switch import Policy, Queue, Switch
from tailrace.scenario.policies.weights import ratio

LEAST_PPB = int(LEAST * ONE_PERCENT_PPB)
PARTS_MAX = 100
"""Remaining percentages add up to at most this."""


def export_nxos(
    name: str,
    switch: Switch,
    policy: Policy,
    mtu_bytes: int = MTU_BYTES_DEFAULT,
    others: Mapping[str, Policy] | None = None,
) -> tuple[str, Remarks]:
    """The configuration, and remarks about settings that NX-OS cannot express.

    `mtu_bytes` is the largest MTU of the hosts, for a switch without one; `others` are the policies
    by name that `switch.ports` uses.
    """
    others = {other: one for other, one in (others or {}).items() if other in switch.ports.values()}
    groups = groups_of(policy)
    lines = [
        f"! NX-OS queueing configuration of {name}, policy {switch.policy}",
        f"switchname {name}",
    ]
    lines += [f"{PREFIX}name {_class_name(group)} {queue}" for queue, group in groups.items()]
    for other, one in others.items():
        lines += [
            f"{PREFIX}name {other} {_class_name(group)} {queue}"
            for queue, group in groups_of(one).items()
        ]
    has_classes = bool(switch.classify)
    lines += class_lines(switch, policy) if has_classes else []
    of_hosts = None if mtu_bytes == MTU_BYTES_DEFAULT else mtu_bytes
    network = network_lines(policy, groups, of_hosts if switch.mtu is None else switch.mtu)
    if network:
        lines += [f"policy-map type network-qos {switch.policy}", *network]
    for other, one in {**others, switch.policy: policy}.items():
        lines += [f"policy-map type queuing {other}", *_queuing(one, groups_of(one))]
    lines.append("system qos")
    lines += [f"  service-policy type qos input {class_names(switch)}"] if has_classes else []
    lines += [f"  service-policy type network-qos {switch.policy}"] if network else []
    lines.append(f"  service-policy type queuing output {switch.policy}")
    lines += [*hardware_lines(policy), *interface_lines(policy), *port_lines(switch, others)]
    text = "\n".join(lines) + "\n"
    remarks = Remarks()
    police_remark(switch, policy, remarks)
    compare({switch.policy: policy, **others}, switch, import_nxos(text)[0], remarks)
    return text, remarks


def groups_of(policy: Policy) -> dict[str, int]:
    """A qos-group for each queue: the class mapped to it; the queue of unlisted priorities has
    group 0."""
    usual = policy.queue_of(0)
    groups = {usual: 0}
    for queue in policy.queues:
        own = [p for p in PRIORITIES if p and policy.queue_of(p) == queue]
        if queue not in groups and own:
            groups[queue] = own[0]
    free = [p for p in reversed(PRIORITIES) if p not in groups.values()]
    for queue in policy.queues:
        if queue not in groups:
            groups[queue] = free.pop(0)
    return {queue: groups[queue] for queue in policy.queues}


def _class_name(group: int) -> str:
    return f"c-out-8q-q{group}" if group else "c-out-8q-q-default"


def _queuing(policy: Policy, groups: dict[str, int]) -> Iterator[str]:
    bandwidths = bandwidth_lines(policy)
    for name, queue in policy.queues.items():
        yield f"  class type queuing {_class_name(groups[name])}"
        yield from (f"    {action}" for action in _actions(queue, bandwidths.get(name)))


def _actions(queue: Queue, bandwidth: str | None) -> Iterator[str]:
    if queue.strict is not None:
        yield f"priority level {queue.strict}"
    if bandwidth is not None:
        yield bandwidth
    if queue.shape is not None:
        ends = [
            (end, value)
            for end in ("min", "max")
            if (value := getattr(queue.shape, end)) is not None
        ]
        yield "shape " + " ".join(f"{end} {rate_words(value)}" for end, value in ends)
    yield f"queue-limit {_limit(queue.limit)}"
    yield from _aqm(queue)


def _limit(limit: Limit) -> str:
    if limit.unit == "bytes":
        return f"{limit.amount} bytes"
    if limit.unit == "frames":
        return f"{limit.amount} packets"
    table = VENDOR_ALPHAS_MILLI["nxos"]
    return f"dynamic {min(table, key=lambda factor: abs(table[factor] - limit.amount))}"


def _aqm(queue: Queue) -> Iterator[str]:
    match queue.aqm:
        case Step() as step:
            size = f"{step.threshold} bytes"
            yield (
                f"random-detect minimum-threshold {size} maximum-threshold {size} "
                "drop-probability 100 weight 0 ecn"
            )
        case Red() as red:
            words = (
                f"random-detect {_thresholds(red.minimum, red.maximum, red.probability)} "
                f"weight {red.weight_exponent}"
            )
            words += " ecn" if red.ecn else ""
            if (other := red.not_capable) is not None:
                words += f" non-ecn {_thresholds(other.minimum, other.maximum, other.probability)}"
            yield words
        case Afd() as afd:
            yield f"afd queue-desired {afd.desired} bytes" + (" ecn" if afd.ecn else "")
        case _:
            pass


def _thresholds(minimum: int, maximum: int, probability_ppb: int) -> str:
    percent = round(probability_ppb / ONE_PERCENT_PPB)
    return (
        f"minimum-threshold {minimum} bytes maximum-threshold {maximum} "
        f"bytes drop-probability {percent}"
    )


def bandwidth_lines(policy: Policy) -> dict[str, str]:
    """The command of each weighted queue that states a share."""
    stated = {name: queue.share for name, queue in policy.queues.items() if queue.share is not None}
    whole = {
        name: share // ONE_PERCENT_PPB
        for name, share in stated.items()
        if share % ONE_PERCENT_PPB == 0
    }
    parts = _parts({name: share for name, share in stated.items() if name not in whole})
    if whole and parts is not None:
        absolute = {name: f"bandwidth percent {percent}" for name, percent in whole.items()}
        lines = absolute | {
            name: f"bandwidth remaining percent {part}" for name, part in parts.items()
        }
        return {name: lines[name] for name in stated}
    # A queue without bandwidth was given the least share, taken from the largest one.
    percents = {
        name: 0 if share == LEAST_PPB else round(share / ONE_PERCENT_PPB)
        for name, share in stated.items()
    }
    return {name: f"bandwidth remaining percent {percent}" for name, percent in percents.items()}


def _parts(shares: dict[str, int]) -> dict[str, int] | None:
    """Small whole numbers in the ratio of the shares; None when there are none."""
    parts = ratio(list(shares.values()), PARTS_MAX)
    return None if parts is None else dict(zip(shares, parts, strict=True))
