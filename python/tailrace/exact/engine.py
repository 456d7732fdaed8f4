"""The exact engine of an experiment: every host of a scenario is a Linux kernel whose clock the
engine owns."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.exact import program
from tailrace.exact.refuse import refuse
from tailrace.exact.trial import Cores, ExactTrial
from tailrace.experiment.cores import ONE
from tailrace.experiment.cores import Cores as TrialCores
from tailrace.experiment.engine import EXACT, EngineTrial, Warn, read_plan
from tailrace.folder import Folder
from tailrace.outcome.types import Outcome
from tailrace.programs.local import LocalRunner
from tailrace.programs.templates import Stock
from tailrace.scenario.experiment import Experiment
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario

FOLDER = "exact"
"""Folder in the run directory for running trials, for the consoles of failed ones, and for
captures."""
CAPTURES = "captures"
"""Folder of captures, below it."""
TEMPLATES = "templates"


class ExactEngine:
    """Runs one trial on each core: results do not depend on the machine, and wall time does."""

    name = EXACT
    jobs_max: int | None = None
    has_one_core = True
    # That of the simulator: the same seed gives the same trial.
    calibration_error = 0.002
    _templates: Stock
    """Of the run directory: `open` makes them, before the first trial."""

    def __init__(
        self, captures: Sequence[str] = (), say: Callable[[str], None] = lambda _text: None
    ) -> None:
        """`captures` are ports, as `NODE>TOWARDS`; `say` receives warnings about trials."""
        self._captures = [_port(text) for text in captures]
        self._folder = Path(FOLDER)
        self._cores = Cores()
        self._warn = Warn(say)

    def build(self) -> str:
        """Identifies engine, traffic program and kernel; results of two are never mixed."""
        return f"exact-{program.build()}"

    def versions(self) -> dict[str, str]:
        """The kernel of the hosts."""
        return {"host_kernel": program.kernel_release(program.required_kernel())}

    def facts(self) -> dict[str, Any]:
        """Further entries of the engine in the manifest: none."""
        return {}

    def terms(self, spec: Experiment) -> list[Any]:
        """Further inputs that determine a result: none."""
        return []

    def refuse(self, loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
        """Raises `ScenarioError` with everything that real kernels in virtual time do not
        support."""
        refuse(loaded, arms)
        for arm, scenario in arms.items():
            for node, towards in self._captures:
                if not scenario.graph.are_joined(node, towards):
                    raise RunRefusedError(f"--capture: arm {arm} has no port {node}>{towards}")
        program.kernel_release(program.required_kernel())

    def open(self, folder: Path) -> None:
        """Sets the folder of running trials, below the run directory."""
        self._folder = folder / FOLDER
        run = Folder(folder)
        run.make(FOLDER)
        run.remove_folder(f"{FOLDER}/{TEMPLATES}")  # programs are run on those of this call alone
        self._templates = Stock(self._folder / TEMPLATES, LocalRunner)

    def close(self) -> None:
        """Removes the templates, and the folder when no failed trial has left anything in it."""
        own = Folder(self._folder)
        if self._folder.is_dir():
            own.remove_folder(TEMPLATES)
            if not (own.names() or own.folders()):
                Folder(self._folder.parent).remove_folder(FOLDER)

    def trial(self, plan_json: str, _cores: TrialCores = ONE, /) -> EngineTrial:
        """Makes a trial with guests of its own."""
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", read_plan(plan_json)["name"])
        files = self._files(self._folder / CAPTURES / name)
        return ExactTrial(
            plan_json, self._folder / name, self._cores, self._templates, files, self._warn
        )

    def lacks_captures(self, outcome: Outcome) -> bool:
        """Whether a complete trial was run without one of these captures: it is not run again for
        it."""
        kept = {capture.port for capture in (outcome.exact.captures if outcome.exact else [])}
        return any(f"{node}>{towards}" not in kept for node, towards in self._captures)

    def _files(self, folder: Path) -> dict[str, Path]:
        return {
            f"{node}>{towards}": folder / f"{node}-to-{towards}.pcapng"
            for node, towards in self._captures
        }

    def reasons(self, outcome: Outcome, scenario: Scenario) -> list[str]:
        """Reasons of this engine to invalidate a trial: connections and datagrams that a kernel
        refused."""
        return [
            f"host {host.name}: {failure.error} at {failure.at_ps / 1e12:.6f} s"
            for host in outcome.hosts
            for failure in (host.failures or [])[:1]
        ]


def _port(text: str) -> tuple[str, str]:
    """A port as its node and the neighbour; raises `RunRefusedError` for another text."""
    node, arrow, towards = (part.strip() for part in text.partition(">"))
    if not (node and arrow and towards):
        raise RunRefusedError(
            f"--capture: '{text}' is not a port (hint: write NODE>TOWARDS, such as \"leaf>app\")"
        )
    return node, towards
