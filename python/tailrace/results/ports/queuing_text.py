"""The counters of ports in the layout of `show queuing interface` (NX-OS)."""

import re

from msgspec import UNSET, UnsetType

from tailrace.plan import types as planned
from tailrace.results.format.numbers import size_text, span_text
from tailrace.results.ports.classification import ClassifyRule
from tailrace.results.ports.queuing import (
    EarlyCounters,
    GroupCounters,
    PfcCounters,
    PortCounters,
    QueueCounters,
    SwitchCounters,
)
from tailrace.scenario.policies.limit import VENDOR_ALPHAS_MILLI

WIDE = "-" * 78
BOX = "+" + "-" * 67 + "+"
NAME_WIDTH, VALUE_WIDTH = 38, 26
WORDS_OF_VENDOR = {"nxos": "dynamic", "nxos-nfe": "dynamic", "sonic": "dynamic_th"}
"""The word before a vendor's number of a dynamic limit."""
VENDOR_NUMBER = re.compile(r"dynamic\(\s*(nxos-nfe|nxos|sonic)\s*:")
VENDOR_USUAL = "nxos"
"""Whose layout this is."""
NOTHING = EarlyCounters(drop_packets=0, drop_bytes=0)


def format_ports(ports: list[PortCounters], vendor: str = VENDOR_USUAL) -> str:
    """Every port, one below the other. `vendor` is whose numbers dynamic limits are shown in."""
    return "\n\n".join("\n".join(_port(port, vendor)) for port in ports)


def vendor_of(scenario: str) -> str:
    """The vendor whose numbers the limits of a scenario file are; NX-OS where it has those of none
    or of several."""
    named = set(VENDOR_NUMBER.findall(scenario))
    return named.pop() if len(named) == 1 else VENDOR_USUAL


def format_switches(switches: list[SwitchCounters]) -> str:
    """Drops of every switch before any queue."""
    lines = [
        "Dropped before queueing",
        WIDE,
        f"{'Switch':<22}{'Cause':<18}{'Drop Pkts':>14}{'Drop Byts':>22}",
        WIDE,
    ]
    for switch in switches:
        for cause, lost in switch.early_drops.items() or [("none", NOTHING)]:
            size = "–" if lost.drop_bytes is None else lost.drop_bytes
            lines.append(f"{switch.switch:<22}{cause:<18}{lost.drop_packets:>14}{size:>22}")
    return "\n".join([*lines, WIDE])


def format_rules(rules: list[ClassifyRule]) -> str:
    """Rules of `classify`, each with the frames whose first match it is."""
    lines = [
        "Classification",
        WIDE,
        f"{'Switch':<16}{'Rule':>4} {'Class':>5}  {'Conditions':<36}Matches",
        WIDE,
    ]
    for rule in rules:
        first, *more = rule.matches or ["nothing"]
        lines.append(
            f"{rule.switch:<16}{rule.number:>4} {rule.to_class:>5}  "
            f"{rule.conditions:<36}{first}".rstrip()
        )
        lines += [f"{'':<64}{each}" for each in more]
    return "\n".join([*lines, WIDE])


def _port(port: PortCounters, vendor: str) -> list[str]:
    lines = [f"Egress Queuing for {port.port}"]
    settings = [queue.setting for queue in port.queues if queue.setting]
    if len(settings) == len(port.queues):
        lines += _settings(port.queues, settings, vendor)
    for queue in port.queues:
        lines += _queue(queue)
    if port.ingress:
        lines += _ingress(port.port, port.ingress)
    if port.pfc:
        lines += _pfc(port.pfc)
    if found := port.elephants:
        share = (
            f", {100 * found.elephant_bytes / found.bytes:.3g} % of the bytes"
            if found.bytes
            else ""
        )
        lines.append(f"ETRAP: {found.found} elephants detected{share}, {found.evictions} evicted")
    if dpp := port.dpp:
        lines.append(f"DPP: {dpp.prioritised_frames} pkts prioritized, {dpp.normal_frames} not")
    return lines


def _settings(queues: list[QueueCounters], settings: list[planned.Queue], vendor: str) -> list[str]:
    lines = [
        WIDE,
        f"{'Queue':<16}{'QoS-Group':>10}{'Bandwidth%':>11}{'PrioLevel':>10}{'Shape min/max':>15}{'QLimit':>16}",  # noqa: E501
        WIDE,
    ]
    # Weights that add up to less than 1000 are thousandths; others are parts of their sum.
    whole = max(1000, sum(setting.service.dwrr or 0 for setting in settings))
    for queue, setting in zip(queues, settings, strict=True):
        service = setting.service
        share = "-" if service.dwrr is None else f"{100 * service.dwrr / whole:.4g}"
        level = "-" if service.strict is None else str(service.strict)
        groups = _ranges(queue.qos_groups) or "-"
        shape = f"{_gbps(setting.shape_min_bps)}/{_gbps(setting.shape_max_bps)}"
        lines.append(
            f"{queue.name:<16}{groups:>10}{share:>11}{level:>10}{shape:>15}{_limit(setting.limit, vendor):>16}"  # noqa: E501
        )
    return [*lines, WIDE]


def _queue(queue: QueueCounters) -> list[str]:
    groups = _ranges(queue.qos_groups)
    title = f"{queue.name}, QOS GROUP {groups}" if groups else queue.name
    rows: list[tuple[str, int | UnsetType | None]] = [
        ("Tx Pkts", queue.tx_packets),
        ("Tx Byts", queue.tx_bytes),
        ("Tail Drop Pkts", queue.drop_packets),
        ("Tail Drop Byts", queue.drop_bytes),
        ("WRED/AFD Drop Pkts", queue.rand_drop_packets),
        ("WRED/AFD Drop Byts", queue.rand_drop_bytes),
        ("ECN Marked Pkts", queue.rand_ecn_marked_packets),
        ("Q Depth Byts, at end", queue.curr_queue_depth),
        ("Q Depth Byts, mean", queue.mean_queue_depth),
        ("Q Depth Byts, max", queue.max_queue_depth),
        ("WD Flushed Pkts", queue.pfcwd_flushed_packets),
        ("CNM Tx Pkts", queue.cnm_tx),
        ("CNM Fb, sum", queue.cnm_fb_sum),
    ]
    lines = [
        f"|{name:>{NAME_WIDTH}} |{value:>{VALUE_WIDTH}} |"
        for name, value in rows
        if value not in (None, UNSET)
    ]
    return [BOX, f"|{title:^67}|", BOX, *lines, BOX]


def _ingress(port: str, counted: list[GroupCounters]) -> list[str]:
    lines = [
        f"Ingress Queuing for {port}",
        WIDE,
        f"{'QoS-Group':<12}{'Drop Pkts':>10}{'Depth':>11}{'Depth max':>12}{'Headroom max':>13}{'XOFF':>10}{'XON':>10}",  # noqa: E501
        WIDE,
    ]
    for group in counted:
        lines.append(
            f"{_ranges(group.priorities):<12}{group.ing_q_drop_packets:>10}{size_text(group.ing_q_depth_bytes):>11}{size_text(group.ing_q_max_depth_bytes):>12}{size_text(group.headroom_max_bytes):>13}{group.xoff_tx:>10}{group.xon_tx:>10}"
        )
    return [*lines, WIDE]


def _pfc(pfc: PfcCounters) -> list[str]:
    lines = [
        "PFC Statistics",
        WIDE,
        f"TxPPP: {pfc.pfc_tx_ppp:>20},   RxPPP: {pfc.pfc_rx_ppp:>20}",
        WIDE,
        f"{'PFC_COS':>7}{'TxCount':>14}{'RxCount':>14}{'Paused for':>16}",
    ]
    for priority, (sent, received, paused_ps) in enumerate(
        zip(pfc.tx_count, pfc.rx_count, pfc.paused_ps, strict=True)
    ):
        lines.append(f"{priority:>7}{sent:>14}{received:>14}{span_text(paused_ps):>16}")
    watchdog = (
        f"Watch-dog: {pfc.pfcwd_shutdown_count} shutdowns, {pfc.pfcwd_restored_count} restores"
    )
    return [*lines, watchdog, WIDE]


def _ranges(numbers: list[int]) -> str:
    """`0-2,4`, as the switch lists them."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _gbps(rate_bps: int) -> str:
    return f"{rate_bps / 1e9:g}G" if rate_bps else "-"


def _limit(limit: planned.Limit, vendor: str) -> str:
    if limit.bytes is not None:
        return size_text(limit.bytes)
    if limit.frames is not None:
        return f"{limit.frames} pkts"
    alpha_milli = limit.alpha_milli or 0
    table = VENDOR_ALPHAS_MILLI[vendor]
    own = next((number for number, milli in table.items() if milli == alpha_milli), None)
    return f"{alpha_milli / 1000:g}(D)" if own is None else f"{WORDS_OF_VENDOR[vendor]} {own}"
