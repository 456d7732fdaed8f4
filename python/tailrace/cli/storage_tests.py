"""`tailrace import vdbench` and `tailrace import fio`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit_json, note
from tailrace.cli.storage_arguments import StorageOptions
from tailrace.cli.vendors import read_file, write_text
from tailrace.errors import RunRefusedError, closest
from tailrace.importers.fio.importer import import_fio
from tailrace.importers.remarks import Remarks
from tailrace.importers.storage.scenario import LOCAL, PRESETS, Setting, StorageScenario, protocols
from tailrace.importers.vdbench.importer import import_vdbench
from tailrace.importers.whole import WholeScenario
from tailrace.scenario.text.quantities import NAME_CHARACTERS_MAX, NAME_PATTERN

CLIENTS_MAX = 1000
Importer = Callable[[str, Path, Setting], tuple[StorageScenario | None, Remarks]]
IMPORTERS: Mapping[str, tuple[Importer, str]] = {
    "vdbench": (
        import_vdbench,
        "no run has a workload of devices (SD, WD, RD); file systems (FSD, FWD) are not modelled",
    ),
    "fio": (import_fio, "no job has reads or writes of a device"),
}
"""Importers, and why a file has nothing for them."""


def import_storage(
    source: str,
    file: Path,
    out: Path | None,
    options: StorageOptions,
    scenario: Path | None,
    *,
    is_strict: bool,
    is_json: bool,
    is_verbose: bool = False,
    name: str | None = None,
) -> int:
    """Writes the scenario and the remarks; returns the exit code. A scenario that `check` would
    reject is refused."""
    if scenario is not None:
        raise RunRefusedError(
            f"--scenario: {source} writes a whole scenario (hint: leave the option out)"
        )
    checked_name(name)
    setting = _setting(options)
    importer, nothing = IMPORTERS[source]
    found, remarks = importer(read_file(file, f"expected a {source} file"), file, setting)
    return write_scenario(
        *(found, remarks, nothing, file, out),
        name=name,
        is_strict=is_strict,
        is_json=is_json,
        is_verbose=is_verbose,
    )


def write_scenario(
    scenario: WholeScenario | None,
    remarks: Remarks,
    nothing: str,
    file: Path,
    out: Path | None,
    *,
    name: str | None,
    is_strict: bool,
    is_json: bool,
    is_verbose: bool,
) -> int:
    """Writes the imported scenario and the remarks; returns the exit code. `nothing` is the reason
    if there is no scenario."""
    if scenario is None:
        note(remarks.text(str(file), is_verbose=is_verbose))
        raise RunRefusedError(f"{file}: there is nothing to import (hint: {nothing})")
    scenario.name = name or scenario.name
    if is_json:
        emit_json({"scenario": scenario.data(), "remarks": remarks.data()})
    else:
        write_text(scenario.text(file.name), out)
        note(remarks.text(str(file), is_verbose=is_verbose))
    return EXPECTATION_FAILED if is_strict and not remarks.is_complete else DONE


def checked_name(name: str | None) -> None:
    """Refuses a name that a scenario cannot have."""
    if name is not None and not re.fullmatch(NAME_PATTERN, name):
        hint = f"letters, digits, - and _, at most {NAME_CHARACTERS_MAX}"
        raise RunRefusedError(f"--name: '{name}' is not a valid name (hint: {hint})")


def _setting(options: StorageOptions) -> Setting:
    protocol = options.protocol or LOCAL
    if protocol not in protocols():
        raise RunRefusedError(
            f"--protocol: there is no '{protocol}' (hint: "
            f"{closest(protocol, protocols(), 'protocols')})"
        )
    if options.device is not None and options.device not in PRESETS:
        hint = closest(options.device, PRESETS, "presets")
        raise RunRefusedError(f"--device: there is no preset '{options.device}' (hint: {hint})")
    variables = dict(variable(text) for text in options.define)
    clients = list(dict.fromkeys(host for text in options.client for host in _hosts(text)))
    if len(clients) > CLIENTS_MAX:
        raise RunRefusedError(f"--client: more than {CLIENTS_MAX} hosts (hint: name fewer)")
    return Setting(protocol, options.device, clients, variables)


def variable(text: str) -> tuple[str, str]:
    """Name and value of a `--define`."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"^[A-Za-z_]\w*$", name):
        raise RunRefusedError(
            f"--define: expected NAME=VALUE, but read '{text}' (hint: write --define size=10g)"
        )
    return name, value


def _hosts(text: str) -> list[str]:
    """A host, or those in a file with one in each line, as `fio --client` reads it; fio's
    `host,port` is its host."""
    path = Path(text)
    lines = (
        read_file(path, "expected a host in each line").splitlines() if path.is_file() else [text]
    )
    return [
        host for line in lines if (host := line.strip().split(",")[0]) and not host.startswith("#")
    ]
