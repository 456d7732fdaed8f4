"""`tailrace explain`."""

from functools import partial
from pathlib import Path

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.experiment.explained_run import Explained, Wanted, explain_run
from tailrace.experiment.reporter import reporter_for
from tailrace.results import Run
from tailrace.results.causes.kept import as_data
from tailrace.results.text.causes import causes_text


def explain(path: Path, wanted: Wanted, *, json_: bool) -> None:
    """Prints where the time went, by arm and workload."""
    run = Run.read(path)
    explained = explain_run(run, wanted, reporter_for(json_lines=json_))
    for key in explained.changed:
        note(f"warning: {key} had other events when it was run: the simulator has changed since (hint: run it again)")
    told = [one for one in explained.found if one.transactions]
    if json_:
        data = [as_data(one.arm, one.workload, one.transactions, wanted.slowest) for one in told]
        emit_json({"run": str(run.path), "trial": wanted.number, "explained": data})
        return
    for one in explained.found:
        if one.transactions:
            emit_table(partial(_text, one, wanted.slowest))
        else:
            note(f"{one.workload} {one.arm}: no transaction was complete after the warm-up")


def _text(one: Explained, slowest: int) -> str:
    return causes_text(one.arm, one.workload, one.transactions, slowest) + "\n"
