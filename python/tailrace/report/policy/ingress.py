"""What happens to frames as they enter a switch, in words: classes, policers, priority groups, pauses."""

from typing import Any

from tailrace.results.format.numbers import rate_text, size_text, span_text

PRIORITIES = range(8)
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


def rule_words(rule: dict[str, Any]) -> str:
    """A rule of classification."""
    parts = [
        f"{noun} {ranges_text(rule[key])}"
        for key, noun in (("pcp", "priority"), ("dscp", "DSCP"), ("vlan", "VLAN"))
        if key in rule
    ]
    ends = (("ingress", "in by"), ("source", "from"), ("destination", "to"))
    parts += [f"{words} {rule[key]}" for key, words in ends if key in rule]
    if "protocol" in rule:
        parts.append(PROTOCOL_NAMES.get(rule["protocol"], f"protocol {rule['protocol']}"))
    for key, words in (("source_port", "source port"), ("destination_port", "port")):
        if key in rule:
            first, last = rule[key]
            parts.append(f"{words} {first}" if first == last else f"{words} {first}–{last}")
    return f"{', '.join(parts)} → class {rule['class']}"


def ingress_sentences(policy: dict[str, Any]) -> list[str]:
    """One sentence per mechanism."""
    sentences = []
    if police := policy.get("police"):
        which = "each flow" if police["per_flow"] else "everything together"
        classes, rate = ranges_text(bits(police["classes"])), rate_text(police["rate_bps"])
        sentences.append(
            f"Policer: {which} in class {classes} is limited to {rate} with bursts of "
            f"{size_text(police['burst_bytes'])}; excess traffic is dropped."
        )
    sentences += [group_words(group) for group in policy.get("groups", []) if group.get("lossless")]
    if pause := policy.get("pause"):
        sentences.append(pause_words(pause))
    return sentences


def group_words(group: dict[str, Any]) -> str:
    """A lossless priority group."""
    lossless = group["lossless"]
    who = "everything" if group["priorities"] == 0xFF else f"priority {ranges_text(bits(group['priorities']))}"
    return (
        f"Lossless at ingress: {who} pauses its sender above {threshold_text(group)} and resumes it "
        f"{size_text(lossless['xon_offset_bytes'])} lower; {size_text(lossless['headroom_bytes'])} of headroom."
    )


def threshold_text(group: dict[str, Any]) -> str:
    """XOFF of a group."""
    limit = group["limit"]
    shared = size_text(limit["bytes"]) if "bytes" in limit else f"{limit['alpha-milli'] / 1000:g} × free buffer"
    return f"{size_text(group['reserved_bytes'])} + {shared}" if group["reserved_bytes"] else shared


def pause_words(pause: dict[str, Any]) -> str:
    """What a port obeys and sends."""
    obeys = "802.3x pauses" if pause["obeys_link_pause"] else f"pauses of priority {ranges_text(bits(pause['obeys']))}"
    words = f"Obeys {obeys}" if pause["obeys_link_pause"] or pause["obeys"] else "Obeys no pauses"
    words += f" within {span_text(pause['response_ps'])}; sends {pause['quanta']} quanta"
    words += " (802.3x)" if pause["sends_link_pause"] else " (802.1Qbb)"
    if watchdog := pause.get("watchdog"):
        detection, restoration = span_text(watchdog["detection_ps"]), span_text(watchdog["restoration_ps"])
        words += f"; the watchdog drops the frames of a queue paused for {detection}, "
        words += f"until {restoration} have passed without a pause"
    return words + "."
