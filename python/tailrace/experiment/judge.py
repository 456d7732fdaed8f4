"""Whether a trial counts: a failed one has no result, an invalid one has a result that must not be averaged."""

from typing import Any

from tailrace.experiment.engine import Engine
from tailrace.experiment.scale import work_of
from tailrace.scenario.scenario import Scenario


def judged(outcome: dict[str, Any], scenario: Scenario, engine: Engine) -> dict[str, Any]:
    """The outcome with its status (`ok`, `invalid`, `failed`) and, unless ok, the reason.

    An invalid trial is `spoilt` where nothing but the machine is at fault: a repetition chooses no result.
    """
    if outcome.get("status") == "failed":
        return outcome
    own = [*_books(outcome), *_refusals(outcome, scenario)]
    machine = engine.reasons(outcome, scenario)
    reasons = [*own, *machine]
    status = {"status": "invalid" if reasons else "ok", "reason": "; ".join(reasons)}
    return status | ({"spoilt": True} if machine and not own else {}) | outcome


def _books(outcome: dict[str, Any]) -> list[str]:
    books = outcome.get("conservation")
    if books is None:  # where a switch that is not ours stands between the hosts, nobody keeps them
        return []
    missing = books["sent"] - books["delivered"] - books["dropped"] - books["in_network"]
    return [f"{missing} of {books['sent']} frames are unaccounted for"] if missing else []


def _refusals(outcome: dict[str, Any], scenario: Scenario) -> list[str]:
    reasons = _too_short(outcome, scenario)
    refused = scenario.experiment.invalid_if
    if "unfinished" in refused:
        for workload in outcome["workloads"]:
            # Datagrams are never done: nobody waits for those that were lost.
            is_finite = workload["kind"] != "datagrams" and work_of(scenario.workloads[workload["name"]])
            if is_finite and workload["completion_ps"] is None:
                reasons.append(f"workload {workload['name']} did not finish within experiment.duration")
    if "host-drops" in refused:
        for host in outcome["hosts"]:
            drops = host["nic_queue_drops"] + host["rx_ring_drops"]
            if drops:
                reasons.append(f"host {host['name']} dropped {drops} frames")
    return reasons


def _too_short(outcome: dict[str, Any], scenario: Scenario) -> list[str]:
    """A trial that ends with its last number to do may end before anything else is counted."""
    warm_up = scenario.experiment.warm_up
    if not warm_up or outcome["end_ps"] > warm_up:
        return []
    endless = [
        w["name"]
        for w in outcome["workloads"]
        if w["kind"] == "datagrams" or not work_of(scenario.workloads[w["name"]])
    ]
    if not endless:
        return []
    return [f"it ended within experiment.warm_up, so that nothing was counted of {', '.join(endless)}"]
