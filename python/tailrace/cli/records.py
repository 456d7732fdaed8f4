"""`tailrace import postgres` and `tailrace import flows`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tailrace.cli.storage_tests import checked_name, variable, write_scenario
from tailrace.errors import RunRefusedError
from tailrace.importers.flow_lists.importer import import_flows
from tailrace.importers.postgres.importer import import_postgres
from tailrace.importers.remarks import Remarks
from tailrace.importers.whole import WholeScenario

Importer = Callable[[Path, dict[str, str]], tuple[WholeScenario | None, Remarks]]
FLOW_LIST = "flows"
IMPORTERS: Mapping[str, tuple[Importer, str]] = {
    "postgres": (
        import_postgres,
        "no line has the duration of a statement: set log_min_duration_statement = 0",
    ),
    FLOW_LIST: (import_flows, "the list has no flow"),
}
"""Importers, and why a file has nothing for them."""


def import_record(
    source: str,
    file: Path,
    out: Path | None,
    define: Sequence[str],
    given: list[str],
    *,
    is_strict: bool,
    is_json: bool,
    is_verbose: bool = False,
    name: str | None = None,
) -> int:
    """Writes the scenario and the remarks; returns the exit code. `given` are options that records
    do not have."""
    if given:
        raise RunRefusedError(
            f"{given[0]}: {source} does not have this option (hint: leave the option out)"
        )
    checked_name(name)
    importer, nothing = IMPORTERS[source]
    scenario, remarks = importer(file, dict(variable(text) for text in define))
    return write_scenario(
        *(scenario, remarks, nothing, file, out),
        name=name,
        is_strict=is_strict,
        is_json=is_json,
        is_verbose=is_verbose,
    )
