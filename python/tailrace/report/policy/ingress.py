"""Description of the ingress of a switch: classes, policers, priority groups, pauses."""

from tailrace.plan.types import Group, Limit, Lossless, Pause, Policy, Rule
from tailrace.results.format.numbers import rate_text, size_text, span_text

PRIORITIES = range(8)
EVERY = 0xFF
"""The mask of all priorities."""
PROTOCOL_NAMES = {6: "TCP", 17: "UDP"}


def bits(mask: int) -> list[int]:
    """The priorities in a mask."""
    return [priority for priority in PRIORITIES if mask >> priority & 1]


def ranges_text(numbers: list[int]) -> str:
    """`0–2, 5`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def alpha_text(limit: Limit) -> str:
    """The factor of the free buffer of a limit that is one."""
    return f"{(limit.alpha_milli or 0) / 1000:g}"


def rule_words(rule: Rule) -> str:
    """A rule of classification."""
    numbers = ((rule.pcp, "priority"), (rule.dscp, "DSCP"), (rule.vlan, "VLAN"))
    parts = [f"{noun} {ranges_text(listed)}" for listed, noun in numbers if listed is not None]
    ends = ((rule.ingress, "in by"), (rule.source, "from"), (rule.destination, "to"))
    parts += [f"{words} {name}" for name, words in ends if name is not None]
    if rule.protocol is not None:
        parts.append(PROTOCOL_NAMES.get(rule.protocol, f"protocol {rule.protocol}"))
    for ports, words in ((rule.source_port, "source port"), (rule.destination_port, "port")):
        if ports is not None:
            first, last = ports
            parts.append(f"{words} {first}" if first == last else f"{words} {first}–{last}")
    return f"{', '.join(parts)} → class {rule.class_}"


def ingress_sentences(policy: Policy) -> list[str]:
    """One sentence per mechanism."""
    sentences = []
    if police := policy.police:
        which = "each flow" if police.per_flow else "everything together"
        classes, rate = ranges_text(bits(police.classes)), rate_text(police.rate_bps)
        sentences.append(
            f"Policer: {which} in class {classes} is limited to {rate} with bursts of "
            f"{size_text(police.burst_bytes)}; excess traffic is dropped."
        )
    sentences += [group_words(group, group.lossless) for group in policy.groups if group.lossless]
    if pause := policy.pause:
        sentences.append(pause_words(pause))
    return sentences


def group_words(group: Group, lossless: Lossless) -> str:
    """A lossless priority group."""
    who = (
        "everything"
        if group.priorities == EVERY
        else f"priority {ranges_text(bits(group.priorities))}"
    )
    return (
        f"Lossless at ingress: {who} pauses its sender above {threshold_text(group)} and resumes "
        f"it {size_text(lossless.xon_offset_bytes)} lower; {size_text(lossless.headroom_bytes)} of "
        "headroom."
    )


def threshold_text(group: Group) -> str:
    """XOFF of a group."""
    limit = group.limit
    shared = f"{alpha_text(limit)} × free buffer" if limit.bytes is None else size_text(limit.bytes)
    return f"{size_text(group.reserved_bytes)} + {shared}" if group.reserved_bytes else shared


def pause_words(pause: Pause) -> str:
    """The pauses that a port obeys and sends."""
    obeys = (
        "802.3x pauses"
        if pause.obeys_link_pause
        else f"pauses of priority {ranges_text(bits(pause.obeys))}"
    )
    words = f"Obeys {obeys}" if pause.obeys_link_pause or pause.obeys else "Obeys no pauses"
    words += f" within {span_text(pause.response_ps)}; sends {pause.quanta} quanta"
    words += " (802.3x)" if pause.sends_link_pause else " (802.1Qbb)"
    if watchdog := pause.watchdog:
        detection, restoration = (
            span_text(watchdog.detection_ps),
            span_text(watchdog.restoration_ps),
        )
        words += f"; the watchdog drops the frames of a queue paused for {detection}, "
        words += f"until {restoration} have passed without a pause"
    return words + "."
