"""`tailrace import` and `tailrace export`: their options."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Files, OutFile
from tailrace.cli.storage_arguments import StorageOptions
from tailrace.option import Json, OfArm, Set


class Vendor(StrEnum):
    """Vendors whose configurations can be written."""

    NXOS = "nxos"
    SONIC = "sonic"


class Source(StrEnum):
    """Files that can be read."""

    NXOS = "nxos"
    SONIC = "sonic"
    EOS = "eos"
    VDBENCH = "vdbench"
    FIO = "fio"
    POSTGRES = "postgres"
    FLOWS = "flows"


def import_(
    source: Annotated[Source, typer.Argument(help="Program or operating system whose file it is.")],
    file: Annotated[
        Path,
        typer.Argument(
            help="Running configuration, config_db.json, vdbench parameter file, fio job file, "
            "PostgreSQL's csvlog, jsonlog or pg_stat_statements, or list of flows."
        ),
    ],
    *,
    out: OutFile = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario", metavar="SCENARIO", help="Scenario whose MTUs are compared (switches)."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="Name of switch and policy, or of the scenario."
        ),
    ] = None,
    storage: StorageOptions,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 unless every line is understood.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="List every remark instead of one of each kind.")
    ] = False,
    json_: Json = False,
) -> None:
    """Convert a switch configuration to the switch section of a scenario, or a storage test, a
    database's log or a list of flows to a whole one.
    """
    from tailrace.cli.records import import_record
    from tailrace.cli.storage_tests import import_storage
    from tailrace.cli.vendors import import_file, refuse_storage_options

    if source in (Source.VDBENCH, Source.FIO):
        convert = partial(import_storage, source, file, out, storage, scenario)
    elif source in (Source.POSTGRES, Source.FLOWS):
        given = [one for one in storage.given if one != "--define"]
        given += ["--scenario"] if scenario else []
        convert = partial(import_record, source, file, out, storage.define, given)
    else:
        refuse_storage_options(source, storage.given)
        convert = partial(import_file, source, file, out, scenario)
    raise typer.Exit(convert(is_strict=strict, is_json=json_, is_verbose=verbose, name=name))


def export_(
    vendor: Annotated[Vendor, typer.Argument(help="Vendor of the configuration to write.")],
    scenario: Files,
    *,
    switch: Annotated[
        str | None, typer.Option("--switch", metavar="NAME", help="Switch; default: the first.")
    ] = None,
    arm: OfArm = None,
    out: OutFile = None,
    set_: Set = None,
) -> None:
    """Write the policy of a switch as a vendor configuration; settings that it cannot express go to
    stderr."""
    from tailrace.cli.vendors import export_scenario

    export_scenario(vendor, scenario, switch, arm, out, set_)
