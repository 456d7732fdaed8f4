"""The configuration of each arm's switches as their vendors write it, as lines, in which a knob
changes some."""

from typing import Any

from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.of_switch import Export, export_switch
from tailrace.importers.sonic.export import export_sonic
from tailrace.scenario.scenario import Scenario

VENDORS: dict[str, Export] = {"NX-OS": export_nxos, "SONiC": export_sonic}
SWITCHES_MAX = 8
"""Switches whose configurations differ, at most."""
OWN = frozenset({"classify", "ports", "port_mtu", "mtu"})
"""Keys that make the configuration of a switch another one than that of the others with its
policy."""


Written = dict[tuple[str, str], dict[str, Any]]
"""The output of a vendor's exporter, by vendor and input."""


def configurations(scenario: Scenario, written: Written) -> dict[str, Any]:
    """By vendor and switch, its lines: one switch for each policy that the network has, and each
    with keys of its own. Which these are does not depend on positions of knobs. `written` keeps the
    lines.
    """
    names: dict[tuple[str, str], str] = {}
    for name in scenario.graph.switches:
        section = scenario.switches.get(name)
        has_own = section is not None and bool(section.model_fields_set & OWN)
        names.setdefault((scenario.switch(name).policy, name if has_own else ""), name)
    chosen = sorted(names.values())[:SWITCHES_MAX]
    return {
        vendor: {name: _lines(vendor, scenario, name, written) for name in chosen}
        for vendor in VENDORS
    }


def _lines(vendor: str, scenario: Scenario, name: str, written: Written) -> dict[str, Any]:
    """`lines`, and `remarks` by their subject."""
    switch = scenario.switch(name)
    policies = [
        scenario.policy(one)
        for one in dict.fromkeys([switch.policy, *sorted(switch.ports.values())])
    ]
    mtus = [scenario.host(host).mtu for host in scenario.graph.hosts]
    key = (vendor, repr((name, switch, policies, max(mtus, default=0))))
    if key not in written:
        text, remarks = export_switch(VENDORS[vendor], scenario, name)
        words_of = {remark.text: remark.words for remark in remarks.noteworthy()}
        written[key] = {"lines": text.splitlines(), "remarks": words_of}
    return written[key]


def without_words(value: Any) -> Any:
    """Configurations without the words of their remarks: one remark may name several values, and
    belongs to the knob that moved last. Plans are unchanged."""
    if not isinstance(value, dict) or not set(value) <= set(VENDORS):
        return value
    return {
        vendor: {name: {**one, "remarks": sorted(one["remarks"])} for name, one in switches.items()}
        for vendor, switches in value.items()
    }
