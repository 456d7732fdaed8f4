"""The switches of a plan in words."""

from typing import Any

from tailrace.report.policy_ingress import bits, ingress_sentences, ranges_text, rule_words
from tailrace.results.numbers import digits_text, rate_text, size_text, span_text

# Ports that are named before "and N more".
NAMES_MAX = 4

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
        title = (
            f"{size_text(switch['buffer_bytes'])} shared buffer, {switch['switching'].replace('-', ' ')}, "
            f"{span_text(switch['latency_ps'])} pipeline"
        )
        described.append(
            {
                "names": [switch["name"]],
                "title": title,
                "rules": [rule_words(rule) for rule in switch.get("classify", [])],
                "policies": [
                    {"where": where, "sentences": policy_sentences(policy), "policy": policy}
                    for where, policy in _policies(switch, _switches_beside(plan, switch["name"]))
                ],
            }
        )
    return _merged(described)


def _switches_beside(plan: dict[str, Any], name: str) -> set[str]:
    """Switches that a switch has a link to."""
    names = {switch["name"] for switch in plan["switches"]}
    ends = [(link["a"], link["b"]) for link in plan.get("links", [])]
    return {b if a == name else a for a, b in ends if name in (a, b)} & names


def _policies(switch: dict[str, Any], switches_beside: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """Different policies of a switch and where they are; ports with the same one share an entry."""
    own: list[tuple[list[str], dict[str, Any]]] = []
    for port in switch.get("port_policies", []):
        same = next((names for names, policy in own if policy == port["policy"]), None)
        if same is None:
            own.append(([port["towards"]], port["policy"]))
        else:
            same.append(port["towards"])
    if len(own) == 1 and set(own[0][0]) == switches_beside and switch.get("policy"):
        # The same words for every switch of a fabric, so that they share an entry.
        return [("ports to hosts", switch["policy"]), ("ports to switches", own[0][1])]
    others = "all other ports" if own else "all ports"
    usual = [(others, switch["policy"])] if switch.get("policy") else []
    return usual + [(_where(names), policy) for names, policy in own]


def _where(names: list[str]) -> str:
    if len(names) == 1:
        return f"port to {names[0]}"
    shown = ", ".join(names[:NAMES_MAX])
    return f"ports to {shown}" + (f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else "")


def _merged(described: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Switches with the same settings share one entry: a fabric has many."""
    merged: list[dict[str, Any]] = []
    for one in described:
        same = next((m for m in merged if all(m[key] == one[key] for key in ("title", "rules", "policies"))), None)
        if same:
            same["names"] += one["names"]
        else:
            merged.append(one)
    return merged


def policy_sentences(policy: dict[str, Any]) -> list[str]:
    """One sentence per queue and mechanism of a policy."""
    sentences = [_queue(queue) for queue in policy["queues"]]
    if policy.get("dpp"):
        sentences.append(_dpp(policy["dpp"], policy["queues"]))
    if policy.get("etrap"):
        sentences.append(_etrap(policy["etrap"]))
    return sentences + ingress_sentences(policy)


def _queue(queue: dict[str, Any]) -> str:
    parts = [service_words(queue["service"]), limit_words(queue["limit"])]
    if reserved := queue.get("reserved_bytes"):
        parts.append(f"{size_text(reserved)} always its own")
    for end, words in (("min", "at least"), ("max", "at most")):
        if rate_bps := queue.get(f"shape_{end}_bps"):
            parts.append(f"{words} {rate_text(rate_bps)}")
    if (aqm := aqm_words(queue["aqm"])) != "":
        parts.append(aqm)
    if qcn := queue.get("qcn"):
        parts.append(f"QCN around {size_text(qcn['set_point_bytes'])}")
    return f"Queue {queue['name']}: {', '.join(parts)}."


def service_words(service: dict[str, int]) -> str:
    """How a queue is served."""
    if "strict" in service:
        return f"strict priority, level {service['strict']}"
    return f"weighted {service['dwrr'] / 10:g} %"


def limit_words(limit: dict[str, int]) -> str:
    """When a queue is full."""
    if "bytes" in limit:
        return f"at most {size_text(limit['bytes'])}"
    if "frames" in limit:
        return f"at most {limit['frames']} frames"
    return f"at most {limit['alpha-milli'] / 1000:g} times the free buffer"


def aqm_words(aqm: str | dict[str, Any]) -> str:
    """Who is marked or dropped before; empty for nobody."""
    if isinstance(aqm, str):
        return "" if aqm == "none" else aqm
    if step := aqm.get("step"):
        return f"marks above {size_text(step['threshold_bytes'])}"
    if red := aqm.get("red"):
        verb = "marks" if red["ecn"] else "drops"
        bounds = f"{size_text(red['minimum_bytes'])} and {size_text(red['maximum_bytes'])}"
        words = f"RED {verb} up to {red['probability_milli'] / 10:g} % between {bounds}{_beyond(red)}"
        if other := red.get("not_capable"):
            low, high, milli = other
            words += f", drops the rest up to {milli / 10:g} % between {size_text(low)} and {size_text(high)}"
        return words
    if afd := aqm.get("afd"):
        verb = "marks" if afd["ecn"] else "drops"
        return f"AFD {verb} elephants to keep {size_text(afd['desired_bytes'])}"
    codel = aqm["codel"]
    verb = "marks" if codel["ecn"] else "drops"
    return f"CoDel {verb} above {span_text(codel['target_ps'])} over {span_text(codel['interval_ps'])}"


def _beyond(red: dict[str, Any]) -> str:
    """What happens above the maximum."""
    return ", rising to all at twice the maximum" if red.get("gentle") else " and everything above"


def _dpp(dpp: dict[str, Any], queues: list[dict[str, Any]]) -> str:
    express = queues[dpp["express_queue"]]["name"]
    return (
        f"Dynamic packet prioritisation: the first {dpp['max_packets']} packets of a flow{_in_classes(dpp)} go to "
        f"{express}; after "
        f"{span_text(dpp['age_ps'])} of silence a flow is new again, {RESET_WORDS[dpp['reset']]}; "
        f"{digits_text(dpp['table_entries'])} flow entries, and when they are full {FULL_WORDS[dpp['when_full']]}."
    )


def _in_classes(dpp: dict[str, Any]) -> str:
    return f" in class {ranges_text(bits(dpp['classes']))}" if "classes" in dpp else ""


def _etrap(etrap: dict[str, Any]) -> str:
    return (
        f"Elephant trap: a flow of more than {size_text(etrap['byte_count'])} that sends "
        f"{size_text(etrap['bandwidth_threshold_bytes'])} in every {span_text(etrap['age_ps'])} is an elephant; "
        f"{digits_text(etrap['table_entries'])} flow entries."
    )
