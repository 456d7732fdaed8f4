"""The switches of a plan in words."""

from typing import Any

from tailrace.results.numbers import digits_text, size_text, span_text

RESET_WORDS = {
    "order-safe": "unless packets of it still wait in the normal queue",
    "naive": "whatever still waits in the normal queue",
}
FULL_WORDS = {
    "evict-oldest": "the flow that was silent longest is evicted",
    "untracked": "further flows are not tracked",
}


def switch_sentences(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """For every switch: a title, and one sentence per queue and mechanism of each different policy."""
    described = []
    for switch in plan.get("switches", []):
        policies = [("all ports", switch["policy"])] if switch.get("policy") else []
        policies += [(f"port to {port['towards']}", port["policy"]) for port in switch.get("port_policies", [])]
        title = (
            f"{size_text(switch['buffer_bytes'])} shared buffer, {switch['switching'].replace('-', ' ')}, "
            f"{span_text(switch['latency_ps'])} pipeline"
        )
        described.append(
            {
                "names": [switch["name"]],
                "title": title,
                "policies": [{"where": where, "sentences": _policy(policy)} for where, policy in policies],
            }
        )
    return _merged(described)


def _merged(described: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Switches with the same settings share one entry: a fabric has many."""
    merged: list[dict[str, Any]] = []
    for one in described:
        same = next((m for m in merged if m["title"] == one["title"] and m["policies"] == one["policies"]), None)
        if same:
            same["names"] += one["names"]
        else:
            merged.append(one)
    return merged


def _policy(policy: dict[str, Any]) -> list[str]:
    sentences = [_queue(queue) for queue in policy["queues"]]
    if policy.get("dpp"):
        sentences.append(_dpp(policy["dpp"], policy["queues"]))
    return sentences


def _queue(queue: dict[str, Any]) -> str:
    parts = [_service(queue["service"]), _limit(queue["limit"])]
    if (aqm := _aqm(queue["aqm"])) != "":
        parts.append(aqm)
    return f"Queue {queue['name']}: {', '.join(parts)}."


def _service(service: dict[str, int]) -> str:
    if "strict" in service:
        return f"strict priority, level {service['strict']}"
    return f"weighted {service['dwrr'] / 10:g} %"


def _limit(limit: dict[str, int]) -> str:
    if "bytes" in limit:
        return f"at most {size_text(limit['bytes'])}"
    if "frames" in limit:
        return f"at most {limit['frames']} frames"
    return f"at most {limit['alpha-milli'] / 1000:g} times the free buffer"


def _aqm(aqm: str | dict[str, Any]) -> str:
    if isinstance(aqm, str):
        return "" if aqm == "none" else aqm
    if step := aqm.get("step"):
        return f"marks above {size_text(step['threshold_bytes'])}"
    if red := aqm.get("red"):
        verb = "marks" if red["ecn"] else "drops"
        bounds = f"{size_text(red['minimum_bytes'])} and {size_text(red['maximum_bytes'])}"
        return f"RED {verb} up to {red['probability_milli'] / 10:g} % between {bounds}"
    codel = aqm["codel"]
    verb = "marks" if codel["ecn"] else "drops"
    return f"CoDel {verb} above {span_text(codel['target_ps'])} over {span_text(codel['interval_ps'])}"


def _dpp(dpp: dict[str, Any], queues: list[dict[str, Any]]) -> str:
    express = queues[dpp["express_queue"]]["name"]
    return (
        f"Dynamic packet prioritisation: the first {dpp['max_packets']} packets of a flow go to {express}; after "
        f"{span_text(dpp['age_ps'])} of silence a flow is new again, {RESET_WORDS[dpp['reset']]}; "
        f"{digits_text(dpp['table_entries'])} flow entries, and when they are full {FULL_WORDS[dpp['when_full']]}."
    )
