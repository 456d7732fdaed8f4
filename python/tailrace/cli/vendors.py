"""`tailrace import` and `tailrace export`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit_json, emit_text, note, overrides
from tailrace.cli.outputs import refuse_unwritable
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError, closest, known_arm, reason_of
from tailrace.files import read_text
from tailrace.importers.eos.importer import import_eos
from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.of_switch import export_switch
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.storage.source import IMPORTED_BYTES_MAX
from tailrace.importers.vendor import NEXUS_7000, SUPPORTED, also_valid, excluded, other_vendor
from tailrace.scenario.network.topology import expand
from tailrace.scenario.text.quantities import NAME_CHARACTERS_MAX, NAME_PATTERN

LINES_MAX = 200_000
"""Lines of a running configuration; the largest switch has a tenth of it."""
QUOTED_MAX = 70
"""Characters of a line that a message quotes."""


def import_file(
    vendor: str,
    file: Path,
    out: Path | None,
    scenario: Path | None,
    *,
    is_strict: bool,
    is_json: bool,
    is_verbose: bool = False,
    name: str | None = None,
) -> int:
    """Writes the section and the remarks; returns the exit code, 1 for a section that `check` would
    reject."""
    if name is not None and not re.fullmatch(NAME_PATTERN, name):
        hint = f"letters, digits, - and _, at most {NAME_CHARACTERS_MAX}"
        raise RunRefusedError(f"--name: '{name}' is not a valid name (hint: {hint})")
    text = read_file(file, "expected a switch configuration")
    _refuse_others(text, vendor, file)
    mtus = _host_mtus(scenario) if scenario else {}
    match vendor:
        case "nxos":
            section, remarks = import_nxos(text, mtus)
        case "eos":
            section, remarks = import_eos(text, mtus)
        case _:
            section, remarks = import_sonic(text, mtus, str(file))
    if others := also_valid(text, vendor):
        words = (
            f"no line tells that this is {SUPPORTED[vendor]}: also valid "
            f"{' and '.join(others)}, read as {vendor}"
        )
        remarks.lead("assumed", words)
    if section.refused:
        note(remarks.text(str(file), is_verbose=is_verbose))
        raise RunRefusedError(f"{file}: no queueing configuration found (hint: {section.refused})")
    if name is not None:
        if name in (*section.switch.get("ports", {}), *section.switch.get("port_mtu", {})):
            raise RunRefusedError(
                f"--name: a neighbour of the switch is called '{name}' (hint: choose another name)"
            )
        section.rename(name, remarks)
    if not section.is_sound and not is_json:
        note(remarks.text(str(file), is_verbose=is_verbose))
        note(
            f"{file}: not written, `tailrace check` would reject this section; see the "
            "contradictions above"
        )
        return EXPECTATION_FAILED
    _write_section(section, remarks, file, out, is_json=is_json, is_verbose=is_verbose)
    if not section.is_sound:
        return EXPECTATION_FAILED
    return EXPECTATION_FAILED if is_strict and not remarks.is_complete else DONE


def _refuse_others(text: str, vendor: str, file: Path) -> None:
    """A configuration of another vendor, or one that is too long, is refused before it is read."""
    other = other_vendor(text, vendor)
    if other is not None:
        found = f"{file}:{other.line}: this is {other.name} ('{other.text[:QUOTED_MAX]}')"
        importer = next((name for name, of in SUPPORTED.items() if of == other.name), None)
        if importer is not None:
            raise RunRefusedError(f"{found} (hint: tailrace import {importer} {file})")
        models = "NX-OS of Nexus 3000, 5000 and 9000" if other.name == NEXUS_7000 else "NX-OS"
        raise RunRefusedError(f"{found}: not supported; {models}, SONiC and EOS are")
    if (no := excluded(text, vendor)) is not None:
        found = f"{file}:{no.line}: this is not {SUPPORTED[vendor]} ('{no.text[:QUOTED_MAX]}')"
        can = [
            f"tailrace import {name}, if it is {of}"
            for name, of in SUPPORTED.items()
            if of in no.others
        ]
        raise RunRefusedError(
            f"{found}; {' or '.join(no.others) or 'others'} have that"
            + f" (hint: {can[0]})" * bool(can)
        )
    lines = text.count("\n")
    if vendor != "sonic" and lines > LINES_MAX:
        hint = "is this the running configuration of one switch?"
        raise RunRefusedError(
            f"{file}:{LINES_MAX + 1}: {lines} lines, more than {LINES_MAX} (hint: {hint})"
        )


def refuse_storage_options(vendor: str, given: list[str]) -> None:
    """Options of storage tests do not apply to switches."""
    if given:
        raise RunRefusedError(
            f"{given[0]}: a configuration of {vendor} has no drives (hint: leave the option out)"
        )


def export_scenario(
    vendor: str,
    scenario: list[Path],
    switch: str | None,
    arm: str | None,
    out: Path | None,
    assignments: Mapping[str, Any] | None,
) -> None:
    """Writes the configuration of one switch."""
    if out is not None:
        refuse_unwritable("--out", out, "switch.cfg")
    loaded = loaded_of(scenario, overrides(assignments))
    chosen_arm = known_arm(arm or loaded.scenario.baseline, list(loaded.arms))
    chosen = loaded.arms[chosen_arm]
    names = expand(chosen.network).switches
    name = switch or next(iter(names), "")
    if name not in names:
        raise RunRefusedError(
            f"there is no switch '{name}' (hint: {closest(name, names, 'switches')})"
        )
    text, remarks = export_switch(export_nxos if vendor == "nxos" else export_sonic, chosen, name)
    write_text(text, out)
    note(remarks.text(f"{scenario[0]} {name}", "the policy is written completely"))


def _write_section(
    section: Section,
    remarks: Remarks,
    file: Path,
    out: Path | None,
    *,
    is_json: bool,
    is_verbose: bool,
) -> None:
    if is_json:
        mtus = {"mtu_bytes": section.mtu_bytes, "class_mtu_bytes": section.class_mtus}
        rates = {"port_rate_bps": section.port_rates}
        data = section.data() if section.is_sound else None
        emit_json({"section": data, **mtus, **rates, "remarks": remarks.data()})
        return
    write_text(section.text(file.name), out)
    note(remarks.text(str(file), is_verbose=is_verbose))


def write_text(text: str, out: Path | None) -> None:
    """Writes to the file, which must not exist, or to stdout."""
    if out is None:
        emit_text(text)
        return
    if out.exists():
        raise RunRefusedError(
            f"{out}: the file exists already (hint: choose another name, or remove it)"
        )
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunRefusedError(f"{out}: cannot write it: {error.strerror}") from None
    note(f"wrote {out}")


def read_file(file: Path, expected: str) -> str:
    """The text of a file; `expected` is the hint of an error."""
    try:
        text = read_text(file, IMPORTED_BYTES_MAX)
    except OSError as error:
        raise RunRefusedError(
            f"{file}: cannot read it: {error.strerror} (hint: {expected})"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8 text"
        raise RunRefusedError(f"{file}:{line}: {reason_of(error)} (hint: {hint})") from None
    if "\0" in text:
        raise RunRefusedError(f"{file}: it contains NUL bytes (hint: {expected} as UTF-8 text)")
    if not text.strip():
        raise RunRefusedError(f"{file}: the file is empty")
    return text


def _host_mtus(scenario: Path) -> dict[str, int]:
    """The distinct MTUs of the scenario's hosts."""
    loaded = loaded_of([scenario], {})
    mtus: dict[int, str] = {}
    for name in expand(loaded.scenario.network).hosts:
        mtus.setdefault(loaded.scenario.host(name).mtu, name)
    return {name: mtu for mtu, name in mtus.items()}
