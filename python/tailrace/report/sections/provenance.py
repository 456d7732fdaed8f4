"""Everything needed to get the same numbers again."""

from dataclasses import dataclass

from msgspec import convert

from tailrace.report.limits import TRIALS_MAX
from tailrace.results.directory.shown import Calibration, ChosenWork, Machine
from tailrace.results.summary.hosts import Fidelity
from tailrace.results.summary.summary import Summary
from tailrace.scenario.experiment import SOLO


@dataclass(frozen=True)
class ListedTrial:
    """A trial with its inputs and costs."""

    arm: str
    trial: int
    seed: int
    digest: str | None
    wall_s: float
    hops: int | None
    """Packet-hops that were simulated."""


@dataclass(frozen=True)
class ArmFidelity:
    """How true the live trials of an arm are."""

    arm: str
    found: Fidelity


@dataclass(frozen=True)
class Provenance:
    """The section."""

    trials: list[ListedTrial]
    fidelity: list[ArmFidelity]
    hops: int
    """Of all trials."""
    machine: str
    calibration: list[ChosenWork]


def provenance(summary: Summary) -> Provenance:
    """Seeds and digests of trials, the machine, its fidelity, and the results of calibration."""
    arms = {**summary.arms, **{f"{SOLO}{name}": arm for name, arm in summary.solo.items()}}
    trials = [
        ListedTrial(name, *listed)
        for name, arm in arms.items()
        for listed in zip(
            arm.trials, arm.seeds, arm.digests, arm.wall_s, arm.packet_hops, strict=True
        )
    ]
    return Provenance(
        trials=trials[:TRIALS_MAX],
        fidelity=[ArmFidelity(name, arm.fidelity) for name, arm in arms.items() if arm.fidelity],
        hops=sum(trial.hops or 0 for trial in trials),
        machine=convert(summary.run.machine or {}, Machine).words,
        calibration=convert(summary.run.calibration or {}, Calibration).choices,
    )
