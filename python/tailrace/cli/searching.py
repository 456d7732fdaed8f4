"""`tailrace search`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tailrace.cli.console import DONE, EXPECTATION_FAILED, emit_json, emit_table, note, overrides
from tailrace.cli.running import refuse_scale
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError
from tailrace.experiment.remote.credentials import Credentials
from tailrace.experiment.remote.executors import opened, refuse_executor
from tailrace.experiment.remote.slurm import Jobs
from tailrace.experiment.reporter import reporter_for
from tailrace.scenario.text.units import SHARE, QuantityError, parse
from tailrace.search.search import search
from tailrace.search.text import search_data, search_text, write_search
from tailrace.search.wanted import Wanted

PARTS_PER_UNIT = 10**9


@dataclass(frozen=True, kw_only=True)
class SearchArguments:
    """The options of `tailrace search`."""

    scenario: list[Path]
    """Files that are merged in this order."""
    vary: list[str]
    goal: list[str]
    minimise: str | None
    maximise: str | None
    arm: str | None
    precision: str
    confidence: str
    trials_max: int
    confirm: int
    sampler: str
    evaluations: int
    scale: float
    seed: int | None
    assignments: list[str] | None
    jobs: int | None
    out: Path | None
    is_json: bool
    on: str
    """Where trials run."""
    jobs_of_slurm: Jobs
    credentials: Credentials
    cores: int | None
    """Of each trial; None for `auto`."""


def search_for(request: SearchArguments) -> int:
    """Searches and prints the answer; returns the exit code."""
    refuse_scale(request.scale)
    refuse_executor(request.on, request.jobs_of_slurm, request.jobs, request.credentials)
    wanted = Wanted(
        vary=request.vary,
        goals=request.goal,
        minimise=request.minimise,
        maximise=request.maximise,
        arm=request.arm,
        precision=share_of("--precision", request.precision),
        confidence=share_of("--confidence", request.confidence),
        trials_max=request.trials_max,
        confirm=request.confirm,
        sampler=request.sampler,
        evaluations=request.evaluations,
        jobs=request.jobs,
        scale=request.scale,
        out=request.out,
        cores=request.cores,
    )
    reporter = reporter_for(json_lines=request.is_json)
    loaded = loaded_of(
        request.scenario, overrides(request.assignments, seed=request.seed), reporter
    )
    with opened(
        request.on, request.jobs_of_slurm, note, credentials=request.credentials
    ) as executor:
        found = search(loaded, wanted, reporter, executor)
    write_search(found)
    if request.is_json:
        emit_json({**search_data(found), "path": str(found.path)})
    else:
        emit_table(partial(search_text, found))
        note(f"results: {found.path}")
    return DONE if found.found is not None else EXPECTATION_FAILED


def share_of(option: str, text: str) -> float:
    """A share such as `5%`; raises `RunRefusedError` with what is wrong."""
    try:
        return parse(text, SHARE) / PARTS_PER_UNIT
    except QuantityError as error:
        raise RunRefusedError(f"{option} {text}: {error.what} (hint: {error.hint})") from None
