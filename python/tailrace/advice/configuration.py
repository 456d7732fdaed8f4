"""The configuration of a candidate, and the commands that undo it. Nothing is applied to any
device."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tailrace.advice.candidate import Candidate, Settings
from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.of_switch import Export, export_switch
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.scenario.scenario import Scenario

CHECKPOINT = "tailrace"
NXOS_FRAME = (
    f"checkpoint {CHECKPOINT}",
    f"rollback running-config checkpoint {CHECKPOINT}",
)
"""Commands before the change and to undo it (Cisco Nexus 9000 NX-OS System Management Guide,
Configuring Rollback)."""
SONIC_FRAME = (
    f"sudo config checkpoint {CHECKPOINT}",
    f"sudo config rollback {CHECKPOINT}",
)
"""The same (SONiC, Generic Configuration Update and Rollback)."""
Import = Callable[[str], tuple[Section, Remarks]]
VENDORS: tuple[tuple[str, str, Export, Import, tuple[str, str]], ...] = (
    ("NX-OS", "nxos", export_nxos, import_nxos, NXOS_FRAME),
    ("SONiC", "sonic.json", export_sonic, import_sonic, SONIC_FRAME),
)


@dataclass(frozen=True)
class SwitchLines:
    """The configuration of one switch for one vendor."""

    switch: str
    vendor: str
    suffix: str
    """Of a file with it."""
    text: str
    remarks: list[str]
    """Settings that the vendor cannot express, and their replacements."""
    before: str
    """Command before the change."""
    undo: str
    """Command that undoes it."""
    is_change: bool
    """Whether the lines differ in meaning from those of the present. The remarks give the reason
    where they do not."""


@dataclass(frozen=True)
class Configuration:
    """The whole configuration of one candidate."""

    switches: list[SwitchLines]
    settings: list[Settings]

    def script(self) -> str:
        """Settings outside switches, as lines to copy, with the lines that undo them as
        comments."""
        return "\n".join(self._script()) + "\n" if self.settings else ""

    def _script(self) -> Iterator[str]:
        for one in self.settings:
            yield f"# {one.where}"
            yield from one.apply
            yield from (f"# back: {line}" for line in one.undo)


def configuration(present: Scenario, changed: Scenario, candidate: Candidate) -> Configuration:
    """Switches whose configuration differs, and the candidate's settings of hosts and
    applications."""
    switches = [
        lines for name in changed.graph.switches for lines in _of_switch(name, present, changed)
    ]
    return Configuration(switches, list(dict.fromkeys(candidate.settings)))


def _of_switch(name: str, present: Scenario, changed: Scenario) -> Iterator[SwitchLines]:
    if name in changed.hypervisors:
        return
    for vendor, suffix, export, read, (before, undo) in VENDORS:
        old, new = _exported(export, name, present), _exported(export, name, changed)
        if new[0] == old[0] and new[1] == old[1]:
            continue
        is_change = read(new[0])[0].data() != read(old[0])[0].data()
        yield SwitchLines(name, vendor, suffix, new[0], new[1], before, undo, is_change)


def _exported(export: Export, name: str, scenario: Scenario) -> tuple[str, list[str]]:
    text, remarks = export_switch(export, scenario, name)
    remarked = [f"{remark.text}: {remark.words}" for remark in remarks.noteworthy()]
    return text, remarked
