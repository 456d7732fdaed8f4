"""Status of a trial: a failed trial has no result, an invalid one has a result that is excluded from all averages."""

from typing import Any

from tailrace.experiment.engine import Engine
from tailrace.scenario.scenario import Scenario


def judged(outcome: dict[str, Any], scenario: Scenario, engine: Engine) -> dict[str, Any]:
    """The outcome with its status (`ok`, `invalid`, `failed`) and, unless ok, the reason.

    `is_machine_fault` marks an invalid trial whose reasons all lie in the machine: repeating it does not select
    results. A trial that is invalid only because workloads did not finish names them: its rates and latencies are still
    results.
    """
    if outcome.get("status") == "failed":
        return outcome
    unfinished = _unfinished(outcome, scenario)
    waited = [f"workload {name} did not finish within experiment.duration" for name in unfinished]
    own = [*_unaccounted(outcome), *waited, *_too_short(outcome, scenario), *_host_drops(outcome, scenario)]
    machine = engine.reasons(outcome, scenario)
    reasons = [*own, *machine]
    status: dict[str, Any] = {"status": "invalid" if reasons else "ok", "reason": "; ".join(reasons)}
    if machine and not own:
        status["is_machine_fault"] = True
    if unfinished and len(reasons) == len(unfinished):
        status["unfinished"] = unfinished
    return status | outcome


def _unaccounted(outcome: dict[str, Any]) -> list[str]:
    frames = outcome.get("conservation")
    if frames is None:  # other fabrics (`--fabric bridge`, `ovs`) do not count frames
        return []
    missing = frames["sent"] - frames["delivered"] - frames["dropped"] - frames["in_network"]
    return [f"{missing} of {frames['sent']} frames are unaccounted for"] if missing else []


def _too_short(outcome: dict[str, Any], scenario: Scenario) -> list[str]:
    """A trial that ends with its last finite workload may end before warm-up does, with nothing measured for the
    others.
    """
    warm_up = scenario.experiment.warm_up
    if not warm_up or outcome["end_ps"] > warm_up:
        return []
    endless = [w["name"] for w in outcome["workloads"] if not _has_end(scenario, w["name"])]
    if not endless:
        return []
    return [f"it ended within experiment.warm_up, before anything was measured for {', '.join(endless)}"]


def _unfinished(outcome: dict[str, Any], scenario: Scenario) -> list[str]:
    """Finite workloads that did not finish, unless the scenario allows that."""
    if "unfinished" not in scenario.experiment.invalid_if:
        return []
    return [
        workload["name"]
        for workload in outcome["workloads"]
        if _has_end(scenario, workload["name"]) and workload["completion_ps"] is None
    ]


def _has_end(scenario: Scenario, name: str) -> bool:
    workload = scenario.workloads[name]
    return bool(workload.work()) and workload.facts().is_ever_done


def _host_drops(outcome: dict[str, Any], scenario: Scenario) -> list[str]:
    if "host-drops" not in scenario.experiment.invalid_if:
        return []
    counted = [(host["name"], host["nic_queue_drops"] + host["rx_ring_drops"]) for host in outcome["hosts"]]
    return [f"host {name} dropped {drops} frames" for name, drops in counted if drops]
