"""One simulated trial of a fitted scenario."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.experiment.options import Options
from tailrace.experiment.reporter import reporter_for
from tailrace.experiment.run import ExperimentRun
from tailrace.results import Run, summarise_run
from tailrace.results.summary.summary import ArmSummary
from tailrace.scenario.loading import load_scenario


def simulate(scenario: Path | Mapping[str, Any]) -> ArmSummary:
    """Runs the first trial of the first arm; gives the arm as results summarise it."""
    loaded = load_scenario(scenario, {"experiment.trials": 1})
    with tempfile.TemporaryDirectory(prefix="tailrace-fit-") as folder:
        options = Options(out=Path(folder) / "run")
        finished = ExperimentRun(loaded, options, reporter_for(json_lines=False, quiet=True)).run()
        if finished.is_interrupted:
            raise KeyboardInterrupt
        summary = summarise_run(Run.read(finished.path))
    return next(iter(summary.arms.values()))
