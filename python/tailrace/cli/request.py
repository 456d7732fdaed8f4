"""What `tailrace run` is asked for."""

from dataclasses import dataclass, field
from pathlib import Path

from tailrace.experiment.executor import Local
from tailrace.experiment.remote.credentials import Credentials
from tailrace.experiment.remote.slurm import NAME as SLURM
from tailrace.experiment.remote.slurm import Jobs


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    """The options of `tailrace run`."""

    scenario: list[Path]
    """Files that are merged in this order."""
    assignments: list[str] | None
    arms: list[str] | None
    trials: str | None
    """A number, or `auto`."""
    seed: int | None
    baseline: str | None
    """Arm that the others are compared with; None for that of the scenario."""
    jobs: int | None
    scale: float
    out: Path | None
    is_json: bool
    is_dry: bool
    calibrated: Path | None = None
    is_live: bool = False
    is_exact: bool = False
    is_logged: bool = False
    fabric: str | None = None
    """Kind of fabric; None for the built-in switch."""
    live_scale: int = 1
    time_budget: str | None = None
    sweep: list[str] | None = None
    """Axes of a sweep, as given on the command line."""
    is_paired: bool = False
    captures: list[str] | None = None
    """Ports of an exact run whose frames are written to files."""
    is_explained: bool | None = None
    """Whether the first trial of every arm is explained after the run; None for what takes a third
    of the time."""
    is_full: bool = False
    """Whether all tables are printed, not one screen."""
    on: str = Local.name
    """Where trials run."""
    jobs_of_slurm: Jobs = field(default_factory=Jobs)
    credentials: Credentials = field(default_factory=Credentials)
    cores: int | None = None
    """Cores of each local trial; None for as many as are free and faster."""

    def at_once(self, here: int) -> int:
        """Trials that run at once where they are sent; `here` are those of this machine."""
        return self.jobs_of_slurm.slots if self.on == SLURM else here
