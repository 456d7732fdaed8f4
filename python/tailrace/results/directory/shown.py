"""Parts of a manifest that pages show and results do not use; they are checked where the manifest
is read."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from tailrace.results.format.numbers import PS_PER_S, bytes_text


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
        return ", ".join(
            part for part in (self.cpu, cores, memory, self.kernel, self.architecture) if part
        )


class ChosenWork(Struct, frozen=True):
    """The calibrated work of one workload."""

    workload: str
    transactions: int
    gap_factor: float
    wanted_ps: Annotated[int, Meta(gt=0)]
    alone_ps: int

    @property
    def wanted_s(self) -> float:
        """The time that the workload is to take alone."""
        return self.wanted_ps / PS_PER_S

    @property
    def alone_s(self) -> float:
        """The measured time alone."""
        return self.alone_ps / PS_PER_S


class Calibration(Struct, frozen=True):
    """A calibration of workloads."""

    choices: list[ChosenWork] = []


class Assumption(Struct, frozen=True):
    """An assumption of the scenario."""

    name: str
    value: Any
    mark: str
    range: str | None
    source: str | None


class Shown(Struct, frozen=True):
    """These parts of a manifest."""

    machine: Machine | None = None
    calibration: Calibration | None = None
    assumptions: list[Assumption] = []
