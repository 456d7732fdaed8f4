"""`tailrace fit`."""

from dataclasses import dataclass
from pathlib import Path

from tailrace.cli.console import emit_json, emit_text, note
from tailrace.cli.vendors import write_text
from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import Simulated
from tailrace.experiment.options import jobs_of
from tailrace.experiment.reporter import reporter_for
from tailrace.fit.comparing import compare
from tailrace.fit.scenario import Stated, fit_capture
from tailrace.fit.text import fit_data, fit_text
from tailrace.profile.capture import random_key
from tailrace.scenario.text.units import RATE, TIME, Dimension, QuantityError, parse

PS_PER_NS = 1000


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    out: Path | None = None
    line: str | None = None
    delay: str | None = None
    is_anonymous: bool = False
    jobs: int | None = None


def fit_file(path: Path, wanted: Wanted, *, json_: bool) -> None:
    """Writes the scenario, and how well it fits."""
    if wanted.out is not None and wanted.out.exists():
        raise RunRefusedError(f"{wanted.out}: the file exists already (hint: choose another name, or remove it)")
    rate_bps = _quantity("--line", wanted.line, RATE)
    delay_ps = _quantity("--delay", wanted.delay, TIME)
    key = random_key() if wanted.is_anonymous else None
    found = fit_capture(path, Stated(rate_bps, None if delay_ps is None else delay_ps // PS_PER_NS, key))
    compared = compare(found, jobs_of(wanted.jobs, Simulated()), reporter_for(json_lines=json_, quiet=not json_))
    text = found.text(path.name)
    if json_:
        emit_json(fit_data(found, compared))
    if wanted.out is not None:
        write_text(text, wanted.out)
    elif not json_:
        emit_text(text)
    if not json_:
        note(fit_text(found, compared))


def _quantity(option: str, text: str | None, dimension: Dimension) -> int | None:
    if text is None:
        return None
    try:
        value = parse(text, dimension)
    except QuantityError as error:
        raise RunRefusedError(f"{option}: {error.what} (hint: {error.hint})") from None
    if value <= 0:
        raise RunRefusedError(f"{option}: it must be greater than zero (hint: {dimension.hint})")
    return value
