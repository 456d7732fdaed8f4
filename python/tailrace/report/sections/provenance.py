"""Everything needed to get the same numbers again."""

from dataclasses import dataclass

from msgspec import Struct, convert

from tailrace.report.limits import TRIALS_MAX
from tailrace.results.format.numbers import PS_PER_S, bytes_text
from tailrace.results.summary.hosts import Fidelity
from tailrace.results.summary.summary import Summary
from tailrace.scenario.experiment import SOLO


class Machine(Struct, frozen=True):
    """The machine on which a run was made."""

    cpu: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None
    kernel: str | None = None
    architecture: str | None = None

    @property
    def words(self) -> str:
        """`AMD EPYC, 2 cores, 25.3 GB, Linux 6.18`."""
        cores = f"{self.cores} cores" if self.cores else None
        memory = bytes_text(self.memory_bytes) if self.memory_bytes else None
        return ", ".join(part for part in (self.cpu, cores, memory, self.kernel, self.architecture) if part)


class ChosenWork(Struct, frozen=True):
    """What calibration chose for one workload."""

    workload: str
    transactions: int
    gap_factor: float
    wanted_ps: int
    alone_ps: int

    @property
    def wanted_s(self) -> float:
        """The time that the workload is to take alone."""
        return self.wanted_ps / PS_PER_S

    @property
    def alone_s(self) -> float:
        """The time that it took."""
        return self.alone_ps / PS_PER_S


class Calibration(Struct, frozen=True):
    """A calibration of workloads."""

    choices: list[ChosenWork] = []


@dataclass(frozen=True)
class ListedTrial:
    """A trial with what it was made from and what it cost."""

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
    """Seeds and digests of trials, the machine, its fidelity, and what calibration chose."""
    arms = {**summary.arms, **{f"{SOLO}{name}": arm for name, arm in summary.solo.items()}}
    trials = [
        ListedTrial(name, *listed)
        for name, arm in arms.items()
        for listed in zip(arm.trials, arm.seeds, arm.digests, arm.wall_s, arm.packet_hops, strict=True)
    ]
    return Provenance(
        trials=trials[:TRIALS_MAX],
        fidelity=[ArmFidelity(name, arm.fidelity) for name, arm in arms.items() if arm.fidelity],
        hops=sum(trial.hops or 0 for trial in trials),
        machine=convert(summary.run.machine or {}, Machine).words,
        calibration=convert(summary.run.calibration or {}, Calibration).choices,
    )
