"""`tailrace advise`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tailrace.advice.advise import Advice, advise
from tailrace.advice.options import AdviceOptions
from tailrace.advice.text import advice_data, advice_text
from tailrace.cli.console import emit_json, emit_table, note, overrides, warn
from tailrace.cli.running import refuse_scale
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError
from tailrace.experiment.reporter import Reporter, Silent, reporter_for
from tailrace.files import opened
from tailrace.fit.compared import fit_compared
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions
from tailrace.fit.text import farthest_text
from tailrace.folder import Folder
from tailrace.json_text import json_text
from tailrace.outcome.run_files import MANIFEST, RunFiles
from tailrace.results.directory.kept import read_text
from tailrace.scenario.loading import Loaded, load_document
from tailrace.scenario.text.document import parse_document

GZIP = b"\x1f\x8b"
MAGICS = frozenset(
    bytes.fromhex(magic)
    for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a", "28b52ffd")
)
"""pcap of microseconds and nanoseconds in both orders, pcapng, zstd (RFC 8878)."""
SUFFIXES = frozenset({".pcap", ".pcapng", ".cap"})
"""Names of captures: a file that has one is read as a capture, and refused as one when it is
none."""
SCENARIO = "scenario.json"


def advise_on(paths: list[Path], options: AdviceOptions) -> None:
    """Simulates, prints the advice, and keeps it with its files beside the runs."""
    refuse_scale(options.scale)
    reporter = reporter_for(json_lines=options.json)
    loaded = scenario_of(paths, options.set, reporter)
    advice = advise(loaded, options, reporter)
    _write(advice)
    if options.json:
        emit_json(advice_data(advice))
    else:
        emit_table(partial(advice_text, advice))
        note(f"results: {advice.path}")


def scenario_of(
    paths: list[Path], assignments: Mapping[str, Any] | None, reporter: Reporter | None = None
) -> Loaded:
    """The scenario of files, the one that a run directory keeps, or one that is fitted to a
    capture.

    The fit is the one of `tailrace fit`, with its correction by simulation: advice about a server
    that seems slow because of a queue would be about another network.
    """
    reporter, path = reporter or Silent(), paths[0]
    if len(paths) == 1 and is_capture(path):
        fitting, compared = fit_compared(path, FitOptions(), reporter)
        note(f"{path}: fitted, and simulated beside the capture; {farthest_text(compared)}")
        loaded = load_document(parse_document(scenario_text(fitting), f"{path}, fitted"))
        warn(loaded.warnings)
        return loaded
    files = RunFiles(path)
    if len(paths) > 1 or not path.is_dir() or not files.folder.has(MANIFEST):
        return loaded_of(paths, overrides(assignments), reporter)
    if (
        read_text(files, SCENARIO) is None
    ):  # `read_text` refuses a file that differs from the run's own
        raise RunRefusedError(
            f"{path}: the run did not keep its scenario (hint: name the scenario file)"
        )
    return loaded_of([path / SCENARIO], overrides(assignments), reporter)


def is_capture(path: Path) -> bool:
    """Whether a file begins as pcap, pcapng, gzip or zstd do, or has the name of a capture."""
    if path.suffix.lower() in SUFFIXES:
        return path.is_file()
    try:
        with opened(path) as file:
            head = file.read(4)
    except OSError:
        return False
    return head in MAGICS or head[:2] == GZIP


def _write(advice: Advice) -> None:
    """The advice as data and text, and the configuration of every candidate that was followed."""
    folder = Folder(advice.path)
    folder.write("advice.json", f"{json_text(advice_data(advice))}\n".encode())
    folder.write("advice.txt", advice_text(advice).encode())
    for one in advice.confirmed:
        for lines in one.configuration.switches:
            if lines.is_change:
                folder.write(
                    f"apply/{one.candidate.name}/{lines.switch}.{lines.suffix}", lines.text.encode()
                )
        if script := one.configuration.script():
            folder.write(f"apply/{one.candidate.name}/elsewhere.sh", script.encode())
