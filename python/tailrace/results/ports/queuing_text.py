"""The counters of ports in the layout of `show queuing interface` (NX-OS)."""

import re
from typing import Any

from tailrace.results.format.numbers import size_text, span_text
from tailrace.results.ports.queuing import Counters
from tailrace.scenario.policies.limit import VENDOR_ALPHAS_MILLI

WIDE = "-" * 78
BOX = "+" + "-" * 67 + "+"
NAME_WIDTH, VALUE_WIDTH = 38, 26
WORDS_OF_VENDOR = {"nxos": "dynamic", "nxos-nfe": "dynamic", "sonic": "dynamic_th"}
"""The word before a vendor's number of a dynamic limit."""
VENDOR_NUMBER = re.compile(r"dynamic\(\s*(nxos-nfe|nxos|sonic)\s*:")
VENDOR_USUAL = "nxos"
"""Whose layout this is."""
ROWS = (
    ("Tx Pkts", "txPackets"),
    ("Tx Byts", "txBytes"),
    ("Tail Drop Pkts", "dropPackets"),
    ("Tail Drop Byts", "dropBytes"),
    ("WRED/AFD Drop Pkts", "randDropPackets"),
    ("WRED/AFD Drop Byts", "randDropBytes"),
    ("ECN Marked Pkts", "randEcnMarkedPackets"),
    ("Q Depth Byts, at end", "currQueueDepth"),
    ("Q Depth Byts, mean", "meanQueueDepth"),
    ("Q Depth Byts, max", "maxQueueDepth"),
    ("WD Flushed Pkts", "pfcwdFlushedPackets"),
    ("CNM Tx Pkts", "cnmTx"),
    ("CNM Fb, sum", "cnmFbSum"),
)


def format_ports(ports: list[Counters], vendor: str = VENDOR_USUAL) -> str:
    """Every port, one below the other. `vendor` is whose numbers dynamic limits are shown in."""
    return "\n\n".join("\n".join(_port(port, vendor)) for port in ports)


def vendor_of(scenario: str) -> str:
    """The vendor whose numbers the limits of a scenario file are; NX-OS where it has those of none or of several."""
    named = set(VENDOR_NUMBER.findall(scenario))
    return named.pop() if len(named) == 1 else VENDOR_USUAL


def format_switches(switches: list[Counters]) -> str:
    """What every switch dropped before any queue."""
    lines = [
        "Dropped before queueing",
        WIDE,
        f"{'Switch':<22}{'Cause':<18}{'Drop Pkts':>14}{'Drop Byts':>22}",
        WIDE,
    ]
    for switch in switches:
        for cause, lost in switch["earlyDrops"].items() or [("none", {"dropPackets": 0, "dropBytes": 0})]:
            size = "–" if lost["dropBytes"] is None else lost["dropBytes"]
            lines.append(f"{switch['switch']:<22}{cause:<18}{lost['dropPackets']:>14}{size:>22}")
    return "\n".join([*lines, WIDE])


def _port(port: Counters, vendor: str) -> list[str]:
    lines = [f"Egress Queuing for {port['port']}"]
    if all(queue["setting"] for queue in port["queues"]):
        lines += _settings(port["queues"], vendor)
    for queue in port["queues"]:
        lines += _queue(queue)
    if port["ingress"]:
        lines += _ingress(port)
    if port["pfc"]:
        lines += _pfc(port["pfc"])
    if port["elephants"]:
        found = port["elephants"]
        share = f", {100 * found['elephant_bytes'] / found['bytes']:.3g} % of the bytes" if found["bytes"] else ""
        lines.append(f"ETRAP: {found['found']} elephants detected{share}, {found['evictions']} evicted")
    if port["dpp"]:
        dpp = port["dpp"]
        lines.append(f"DPP: {dpp['prioritised_frames']} pkts prioritized, {dpp['normal_frames']} not")
    return lines


def _settings(queues: list[Counters], vendor: str) -> list[str]:
    lines = [
        WIDE,
        f"{'Queue':<16}{'QoS-Group':>10}{'Bandwidth%':>11}{'PrioLevel':>10}{'Shape min/max':>15}{'QLimit':>16}",
        WIDE,
    ]
    # Weights that add up to less than 1000 are thousandths; others are parts of their sum.
    whole = max(1000, sum(queue["setting"]["service"].get("dwrr", 0) for queue in queues))
    for queue in queues:
        setting = queue["setting"]
        service = setting["service"]
        share = f"{100 * service['dwrr'] / whole:.4g}" if "dwrr" in service else "-"
        level = str(service.get("strict", "-"))
        groups = _ranges(queue["qosGroups"]) or "-"
        shape = "/".join(_gbps(setting.get(f"shape_{end}_bps", 0)) for end in ("min", "max"))
        lines.append(
            f"{queue['name']:<16}{groups:>10}{share:>11}{level:>10}{shape:>15}{_limit(setting['limit'], vendor):>16}"
        )
    return [*lines, WIDE]


def _queue(queue: Counters) -> list[str]:
    groups = _ranges(queue["qosGroups"])
    title = f"{queue['name']}, QOS GROUP {groups}" if groups else str(queue["name"])
    lines = [BOX, f"|{title:^67}|", BOX]
    for name, key in ROWS:
        if queue.get(key) is not None:
            lines.append(f"|{name:>{NAME_WIDTH}} |{queue[key]:>{VALUE_WIDTH}} |")
    return [*lines, BOX]


def _ingress(port: Counters) -> list[str]:
    lines = [
        f"Ingress Queuing for {port['port']}",
        WIDE,
        f"{'QoS-Group':<12}{'Drop Pkts':>10}{'Depth':>11}{'Depth max':>12}{'Headroom max':>13}{'XOFF':>10}{'XON':>10}",
        WIDE,
    ]
    for group in port["ingress"]:
        groups, now = _ranges(group["priorities"]), group["ingQDepthBytes"]
        lines.append(
            f"{groups:<12}{group['ingQDropPackets']:>10}{'-' if now is None else size_text(now):>11}"
            f"{size_text(group['ingQMaxDepthBytes']):>12}{size_text(group['headroomMaxBytes']):>13}"
            f"{group['xoffTx']:>10}{group['xonTx']:>10}"
        )
    return [*lines, WIDE]


def _pfc(pfc: Counters) -> list[str]:
    lines = [
        "PFC Statistics",
        WIDE,
        f"TxPPP: {pfc['pfcTxPpp']:>20},   RxPPP: {pfc['pfcRxPpp']:>20}",
        WIDE,
        f"{'PFC_COS':>7}{'TxCount':>14}{'RxCount':>14}{'Paused for':>16}",
    ]
    for priority, (sent, received, paused_ps) in enumerate(
        zip(pfc["txCount"], pfc["rxCount"], pfc["pausedPs"], strict=True)
    ):
        lines.append(f"{priority:>7}{sent:>14}{received:>14}{span_text(paused_ps):>16}")
    watchdog = f"Watch-dog: {pfc['pfcwdShutdownCount']} shutdowns, {pfc['pfcwdRestoredCount']} restores"
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


def _limit(limit: dict[str, Any], vendor: str) -> str:
    if "bytes" in limit:
        return size_text(limit["bytes"])
    if "frames" in limit:
        return f"{limit['frames']} pkts"
    alpha_milli = limit["alpha-milli"]
    table = VENDOR_ALPHAS_MILLI[vendor]
    own = next((number for number, milli in table.items() if milli == alpha_milli), None)
    return f"{alpha_milli / 1000:g}(D)" if own is None else f"{WORDS_OF_VENDOR[vendor]} {own}"
