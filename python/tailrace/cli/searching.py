"""`tailrace search`."""

from functools import partial
from pathlib import Path

from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit_json, emit_table, note, overrides
from tailrace.cli.running import refuse_scale
from tailrace.cli.scenarios import loaded_of
from tailrace.experiment.reporter import reporter_for
from tailrace.search.options import SearchOptions
from tailrace.search.search import search
from tailrace.search.text import search_data, search_text, write_search


def search_for(scenario: list[Path], options: SearchOptions) -> int:
    """Searches and prints the answer; returns the exit code."""
    refuse_scale(options.scale)
    options.execution.refuse_unsound(options.jobs)
    reporter = reporter_for(json_lines=options.json)
    loaded = loaded_of(scenario, overrides(options.set, seed=options.seed), reporter)
    with options.execution.opened(note) as executor:
        found = search(loaded, options, reporter, executor)
    write_search(found)
    if options.json:
        emit_json({**search_data(found), "path": str(found.path)})
    else:
        emit_table(partial(search_text, found))
        note(f"results: {found.path}")
    return DONE if found.found is not None else EXPECTATION_FAILED
