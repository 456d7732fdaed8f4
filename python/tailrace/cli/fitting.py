"""`tailrace fit`."""

from functools import partial
from pathlib import Path

from tailrace.cli.capture_arguments import FitArguments
from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit_json, emit_table, note
from tailrace.cli.profiling import parsed
from tailrace.errors import RunRefusedError
from tailrace.experiment.reporter import reporter_for
from tailrace.files import write_text
from tailrace.fit.compared import fit_compared
from tailrace.fit.document import recordings_of, scenario_text
from tailrace.fit.fitting import FitOptions
from tailrace.fit.paths import Vantage
from tailrace.fit.text import fit_data, fit_text
from tailrace.scenario.text.units import RATE, TIME


def fit_file(request: FitArguments, *, json_: bool, is_strict: bool = False) -> int:
    """Writes the scenario of a capture and says how well it fits; returns the exit code, 1 if
    strict and a statistic is far from the capture.
    """
    out = request.out or Path(request.path.name.split(".")[0] + ".yaml")
    _check_free(out)
    fitting, compared = fit_compared(
        request.path, options_of(request), reporter_for(json_lines=json_)
    )
    recordings = {
        out.with_name(name): text for name, text in recordings_of(fitting, out.stem).items()
    }
    for path in recordings:
        _check_free(path)
    for path, text in recordings.items():
        write_text(path, text)
        note(f"written: {path}")
    write_text(out, scenario_text(fitting, out.stem))
    if json_:
        emit_json({"file": str(out), **fit_data(fitting, compared)})
    else:
        emit_table(partial(fit_text, fitting, compared))
    note(f"written: {out}")
    return EXPECTATION_FAILED if is_strict and any(one.is_far for one in compared) else DONE


def _check_free(path: Path) -> None:
    if path.exists():
        raise RunRefusedError(f"{path}: this file exists (hint: name another scenario with -o)")


def options_of(request: FitArguments) -> FitOptions:
    """The options; raises `RunRefusedError` for one that is wrong."""
    line = parsed("--line", request.line, RATE)
    if line == 0:
        raise RunRefusedError("--line: the rate must be greater than zero (hint: write 10Gbit/s)")
    if request.vantage is not None and request.vantage not in list(Vantage):
        raise RunRefusedError(
            f"--vantage: '{request.vantage}' is no point of capture (hint: {', '.join(Vantage)})"
        )
    vantage = Vantage(request.vantage) if request.vantage else None
    return FitOptions(line, parsed("--delay", request.delay, TIME), vantage, request.is_replay)
