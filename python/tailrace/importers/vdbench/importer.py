"""Converts a vdbench parameter file to a scenario with workloads of the kind `storage`."""

import shlex
from pathlib import Path

from tailrace.importers.remarks import Remarks
from tailrace.importers.storage.scenario import Setting, StorageScenario
from tailrace.importers.storage.source import Findings, Line
from tailrace.importers.storage.values import name_of
from tailrace.importers.vdbench.arms import write_runs
from tailrace.importers.vdbench.definitions import Definitions, read_definitions
from tailrace.importers.vdbench.devices import LOCAL_HOST, read_devices
from tailrace.importers.vdbench.lines import Lines, repeated_for_hosts
from tailrace.importers.vdbench.pieces import pieces
from tailrace.importers.vdbench.runs import read_runs
from tailrace.importers.vdbench.workloads import read_loads


def import_vdbench(
    text: str, file: Path, setting: Setting
) -> tuple[StorageScenario | None, Remarks]:
    """The scenario, and a remark about every piece of every line; None if no run has a workload of
    devices.

    Raises `ScenarioError` with all problems for which vdbench or tailrace could not run the file.
    """
    findings = Findings(source=f"vdbench {shlex.quote(str(file))}")
    lines = Lines(findings, setting.variables).read(text, file)
    found = _definitions(lines, setting, findings)
    hosts = _hosts(found, setting, findings)
    devices = read_devices(found, hosts, findings)
    names = [device.name for device in devices]
    loads = read_loads(found, names, hosts, findings)
    runs = read_runs(found, found.names("wd"), names, findings)
    findings.stop_if_faulty()
    if not runs:
        return None, findings.remarks
    scenario = StorageScenario(name_of(file.stem, "vdbench", ()), setting=setting)
    write_runs(scenario, runs, loads, devices, hosts, findings)
    findings.stop_if_faulty()
    scenario.check(str(file))
    return scenario, findings.remarks


def _definitions(lines: list[Line], setting: Setting, findings: Findings) -> Definitions:
    """All definitions; those that name `$host` are first repeated for each host."""
    hosts = [line.text[3:].split(",")[0] for line in lines if line.text.startswith("hd=")]
    hosts = [name for name in hosts if name != "default"] or setting.clients or [LOCAL_HOST]
    return read_definitions(pieces(repeated_for_hosts(lines, hosts), findings), findings)


def _hosts(found: Definitions, setting: Setting, findings: Findings) -> list[str]:
    """Names of the hosts in the file, otherwise the clients that the user names, otherwise one."""
    names = found.names("hd")
    for definition in found.by_kind["hd"]:
        findings.say(definition.location, f"hd={definition.name}", "understood", "host")
    if names and setting.clients:
        findings.assume("the file defines hosts: --client is not used")
    return names or setting.clients or [LOCAL_HOST]
