"""What deferred resets of packet prioritization mean, and what can be done."""

from typing import Any

from tailrace.results.text.numbers import count_text, span_text


def deferred_reset_words(arm: str, port: dict[str, Any], dpp: dict[str, Any] | None) -> str | None:
    """What happened at a port of an arm, and advice; None where no reset was deferred. `dpp` are its settings."""
    counters = port["dpp"] or {}
    deferred, resets = counters.get("deferred_resets") or 0, counters.get("resets") or 0
    if deferred < 1:
        return None
    age = f"the age of {span_text(dpp['age_ps'])}" if dpp else "the age"
    express = dpp["express_queue"] if dpp else None
    normal = [queue for number, queue in enumerate(port["queues"]) if number != express]
    name = max(normal, key=lambda queue: queue["depth_mean_bytes"] or 0)["name"] if normal else "normal"
    return (
        f"With {arm}, {count_text(deferred)} of {count_text(deferred + resets)} silences per trial ended while frames "
        f"of the flow still waited in {name} at {port['node']} → {port['towards']}: the flow had been silent for "
        f"{age}, but its next packets were not prioritised, because they would have overtaken those. Where these are "
        f"bulk flows, nothing is lost. Where they carry transactions, {name} holds frames for longer than the age: "
        f"make it shorter (a smaller limit, or `aqm` with ECN), give the transactions a queue of their own, or accept "
        f"reordering (`reset: naive`)."
    )
