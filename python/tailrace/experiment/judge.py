"""Status of a trial: a failed trial has no result, an invalid one has a result that is excluded
from all averages."""

from dataclasses import dataclass

from tailrace.experiment.engine import Engine
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.conservation import unaccounted
from tailrace.outcome.stored import FORMAT, Status, StoredTrial
from tailrace.outcome.types import Outcome
from tailrace.scenario.scenario import Scenario


@dataclass(frozen=True)
class Verdict:
    """How a trial ended, in the terms of `StoredTrial`."""

    status: Status
    reason: str = ""
    is_machine_fault: bool = False
    unfinished: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """`ok`, or the status with its reason."""
        return f"{self.status}: {self.reason}" if self.reason else self.status


def judged(ended: Ran | Failed, scenario: Scenario, engine: Engine) -> Verdict:
    """Whether a trial is a result, and why not.

    An invalid trial whose reasons all lie in the machine is marked: repeating it does not select
    results. A trial that is invalid only because workloads did not finish names them: its rates and
    latencies are still results.
    """
    if isinstance(ended, Failed):
        return Verdict("failed", ended.reason)
    outcome = ended.outcome
    unfinished = _unfinished(outcome, scenario)
    waited = [f"workload {name} did not finish within experiment.duration" for name in unfinished]
    lost = unaccounted(outcome)
    own = [
        *([lost] if lost else []),
        *waited,
        *_too_short(outcome, scenario),
        *_host_drops(outcome, scenario),
    ]
    machine = engine.reasons(outcome, scenario)
    reasons = [*own, *machine]
    if not reasons:
        return Verdict("ok")
    kept = tuple(unfinished) if len(reasons) == len(unfinished) else ()
    return Verdict("invalid", "; ".join(reasons), bool(machine and not own), kept)


def stored_trial(
    key: TrialKey, plan_hash: str, ended: Ran | Failed, verdict: Verdict
) -> StoredTrial:
    """A trial as a run directory keeps it."""
    ran = ended if isinstance(ended, Ran) else None
    return StoredTrial(
        format=FORMAT,
        arm=key.arm,
        trial=key.number,
        plan_hash=plan_hash,
        status=verdict.status,
        reason=verdict.reason,
        is_machine_fault=verdict.is_machine_fault,
        unfinished=[*verdict.unfinished],
        cores=ran.cores if ran else 1,
        outcome=ran.outcome if ran else None,
    )


def _too_short(outcome: Outcome, scenario: Scenario) -> list[str]:
    """A trial that ends with its last finite workload may end before warm-up does, with nothing
    measured for the others.
    """
    warm_up = scenario.experiment.warm_up
    if not warm_up or outcome.end_ps > warm_up:
        return []
    endless = [one.name for one in outcome.workloads if not _has_end(scenario, one.name)]
    if not endless:
        return []
    return [
        f"it ended within experiment.warm_up, before anything was measured for {', '.join(endless)}"
    ]


def _unfinished(outcome: Outcome, scenario: Scenario) -> list[str]:
    """Finite workloads that did not finish, unless the scenario allows that."""
    if "unfinished" not in scenario.experiment.invalid_if:
        return []
    return [
        workload.name
        for workload in outcome.workloads
        if _has_end(scenario, workload.name) and workload.completion_ps is None
    ]


def _has_end(scenario: Scenario, name: str) -> bool:
    workload = scenario.workloads[name]
    return bool(workload.work()) and workload.facts().is_ever_done


def _host_drops(outcome: Outcome, scenario: Scenario) -> list[str]:
    if "host-drops" not in scenario.experiment.invalid_if:
        return []
    counted = [(host.name, host.nic_queue_drops + host.rx_ring_drops) for host in outcome.hosts]
    return [f"host {name} dropped {drops} frames" for name, drops in counted if drops]
