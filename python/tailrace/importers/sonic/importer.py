"""Converts the tables of a SONiC database to the switch section of a scenario."""

from collections import Counter
from typing import Any

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, Section, usable_name
from tailrace.importers.sonic.buffers import buffer_bytes
from tailrace.importers.sonic.classes import fold_classes
from tailrace.importers.sonic.mtu import read_mtus
from tailrace.importers.sonic.policy import PortPolicy, port_policies
from tailrace.importers.sonic.ports import why_refused
from tailrace.importers.sonic.read import PORTS_SEPARATOR, Tables, read_tables
from tailrace.importers.sonic.tables import remark_on_rows, remark_on_tables, row_of

SWITCH_NAME = "switch"
POLICY_NAME = "sonic"
CLASS_MAX = 7
CLASS_DEFAULT = 0
"""SAI_SWITCH_ATTR_QOS_DEFAULT_TC (saiswitch.h) is 0 unless set, and SONiC does not set it [K]."""
DSCP_MAX = 63

Yaml = dict[str, Any]


def import_sonic(
    text: str, host_mtus: dict[str, int] | None = None, file: str = "file"
) -> tuple[Section, Remarks]:
    """The section, and a remark about every row. `host_mtus` of a scenario are compared with the
    configuration's."""
    remarks = Remarks()
    tables = read_tables(text, file, remarks)
    section = Section(switch_name=_switch_name(tables))
    fold_classes(tables, remarks)
    found = port_policies(tables, remarks)
    _policies(section, found, tables, remarks)
    if (size := buffer_bytes(tables)) is not None:
        section.switch["buffer"] = size
    rules = _classify(tables, remarks)
    if rules:
        section.switch["classify"] = rules
    read_mtus(tables, section, host_mtus or {}, remarks)
    remark_on_tables(tables, remarks)
    remark_on_rows(tables, remarks)
    section.check(remarks)
    section.refused = why_refused(tables)
    return section, remarks


def _switch_name(tables: Tables) -> str:
    row = row_of(tables, "DEVICE_METADATA", "localhost")
    return usable_name((row.take("hostname") if row else None) or "", SWITCH_NAME)


def _policies(
    section: Section, found: dict[str, PortPolicy], tables: Tables, remarks: Remarks
) -> None:
    """Ports with the same settings share a policy; the most common one of the ports in use becomes
    that of the switch.
    """
    kinds: list[tuple[PortPolicy, list[str]]] = []
    for port, policy in found.items():
        alike = next((ports for known, ports in kinds if known == policy), None)
        if alike is None:
            kinds.append((policy, [port]))
        else:
            alike.append(port)
    kinds.sort(key=lambda kind: -len(kind[1]))
    for number, (policy, ports) in enumerate(kinds):
        usual = usable_name(policy.name or "", POLICY_NAME)
        name = (
            usual
            if usual not in section.policies
            else usable_name(f"{usual}-{ports[0]}", f"{usual}-{number}")
        )
        section.policies[name] = policy.data
        if number == 0:
            section.switch["policy"] = name
            continue
        for port in ports:
            _own_policy(section, port, name, tables, remarks)


def _own_policy(section: Section, port: str, name: str, tables: Tables, remarks: Remarks) -> None:
    row = row_of(tables, "DEVICE_NEIGHBOR", port)
    neighbour = row.take("name") if row else None
    if neighbour:
        section.switch.setdefault("ports", {})[usable_name(neighbour, port)] = name
    else:
        words = f"DEVICE_NEIGHBOR has no entry for {port}: write ports: {{NEIGHBOUR: {name}}}"
        remarks.add(0, port, "assumed", words)


def _classify(tables: Tables, remarks: Remarks) -> list[Yaml]:
    rules = _rules(tables, remarks, "dscp_to_tc_map", "DSCP_TO_TC_MAP", "dscp", DSCP_MAX)
    tagged = _rules(tables, remarks, "dot1p_to_tc_map", "DOT1P_TO_TC_MAP", "pcp", CLASS_MAX)
    if rules and tagged:
        remarks.add(0, "", "assumed", "a mapped DSCP takes precedence over the 802.1Q priority")
    mapped = {
        key: {value for rule in rules + tagged for value in rule.get(key, [])}
        for key in ("dscp", "pcp")
    }
    if (rules or tagged) and len(mapped["dscp"]) <= DSCP_MAX and len(mapped["pcp"]) <= CLASS_MAX:
        words = (
            "frames that no map names are in traffic class "
            f"{CLASS_DEFAULT}, whatever their priority"
        )
        remarks.add(0, "", "assumed", words)
        tagged.append({"pcp": list(PRIORITIES), "class": CLASS_DEFAULT})
    if not rules and not tagged:
        remarks.add(
            0,
            "",
            "assumed",
            "no classification map: the priority of a workload (0 to 7) is its traffic class",
        )
    return rules + tagged


def _rules(
    tables: Tables, remarks: Remarks, field: str, table: str, key: str, value_max: int
) -> list[Yaml]:
    """The map of most ports; in a scenario a switch has only one classification."""
    named: Counter[str] = Counter()
    for key_of_row, ports in tables.get("PORT_QOS_MAP", {}).items():
        if name := ports.reference(field):
            named[name] += len(key_of_row.split(PORTS_SEPARATOR))
    if not named:
        return []
    chosen = named.most_common(1)[0][0]
    for other in (name for name in named if name != chosen):
        words = f"a switch has only one classification in a scenario: that of '{chosen}' is used"
        unused = row_of(tables, table, other)
        remarks.add(unused.line if unused else 0, f"{table}|{other}", "not-modelled", words)
        if unused:
            unused.has_remark = True
    row = row_of(tables, table, chosen)
    if row is None:
        remarks.add(0, f"{field}: {chosen}", "contradiction", f"{table} has no such row")
        return []
    by_class: dict[int, list[int]] = {}
    for text in row.fields:
        value, traffic_class = _small(text, value_max), _small(row.take(text) or "", CLASS_MAX)
        if value is None or traffic_class is None:
            words = f"{text}: {row.fields[text]} maps 0-{value_max} to 0-{CLASS_MAX}"
            remarks.add(row.line, f"{table}|{chosen}", "not-understood", words)
        else:
            by_class.setdefault(traffic_class, []).append(value)
    return [
        {key: sorted(values), "class": traffic_class}
        for traffic_class, values in sorted(by_class.items())
    ]


def _small(text: str, value_max: int) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 4 and int(text) <= value_max else None
