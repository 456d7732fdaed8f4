"""`tailrace fit`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.cli.profiling import parsed
from tailrace.errors import RunRefusedError
from tailrace.files import write_text
from tailrace.fit.comparing import beside
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.fit.paths import Vantage
from tailrace.fit.simulated import simulate
from tailrace.fit.text import fit_data, fit_text
from tailrace.scenario.text.units import RATE, TIME


@dataclass(frozen=True)
class Request:
    """What is asked for, as it was written."""

    path: Path
    out: Path | None = None
    line: str | None = None
    delay: str | None = None
    vantage: str | None = None


def fit_file(request: Request, *, json_: bool) -> None:
    """Writes the scenario of a capture and says how well it fits."""
    out = request.out or Path(request.path.name.split(".")[0] + ".yaml")
    if out.exists():
        raise RunRefusedError(f"{out}: this file exists (hint: name another with -o)")
    fitting = fit_capture(request.path, options_of(request))
    write_text(out, scenario_text(fitting))
    compared = list(beside(fitting.workloads, simulate(out), fitting.duration_ns))
    if json_:
        emit_json({"file": str(out), **fit_data(fitting, compared)})
    else:
        emit_table(partial(fit_text, fitting, compared))
    note(f"written: {out}")


def options_of(request: Request) -> FitOptions:
    """The options; raises `RunRefusedError` for one that is wrong."""
    line = parsed("--line", request.line, RATE)
    if line == 0:
        raise RunRefusedError("--line: the rate must be greater than zero (hint: write 10Gbit/s)")
    if request.vantage is not None and request.vantage not in list(Vantage):
        raise RunRefusedError(f"--vantage: '{request.vantage}' is no point of capture (hint: {', '.join(Vantage)})")
    vantage = Vantage(request.vantage) if request.vantage else None
    return FitOptions(line, parsed("--delay", request.delay, TIME), vantage)
