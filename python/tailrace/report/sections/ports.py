"""The list of all ports of a large network, with a search box; the first of each arm stand without scripts too."""

import json
from typing import Any

from markupsafe import Markup

from tailrace.report.limits import PORTS_FEW_MAX, PORTS_LISTED_MAX, PORTS_TOP
from tailrace.results import Run
from tailrace.results.ports.listing import PortFigures, listed_ports


def port_list(run: Run, arms: list[str]) -> dict[str, Any] | None:
    """Ports of these arms that sent or lost a frame; None where the table of queues has them all."""
    listed = {arm: listed_ports(run.told(arm)) for arm in arms}
    if max((len(ports) for ports in listed.values()), default=0) <= PORTS_FEW_MAX:
        return None
    each_max = PORTS_LISTED_MAX // len(listed)
    shown = {arm: ports[:each_max] for arm, ports in listed.items()}
    return {
        "first": max(listed, key=lambda arm: sum(port.drops_frames for port in listed[arm])),
        "count": max(len(ports) for ports in listed.values()),
        "lossy": {arm: sum(port.drops_frames > 0 for port in ports) for arm, ports in listed.items()},
        "left_out": max(len(listed[arm]) - len(ports) for arm, ports in shown.items()),
        "top": [
            {"arm": arm, "index": index, "port": port, "is_first": at == 0}
            for index, (arm, ports) in enumerate(shown.items())
            for at, port in enumerate(ports[:PORTS_TOP])
        ],
        "data": _json(shown),
    }


def _json(listed: dict[str, list[PortFigures]]) -> Markup:
    """By arm a row for each port; a node is named once, because a switch has many ports."""
    nodes: dict[str, int] = {}
    arms = []
    for arm, ports in listed.items():
        rows = []
        for port in ports:
            node, _, towards = port.name.partition(">")
            place = nodes.setdefault(node, len(nodes))
            busy = round(port.utilisation_percent, 1)
            rows.append([place, towards, round(port.drops_frames, 1), port.queue_bytes_max, busy])
        arms.append({"name": arm, "rows": rows})
    # JSON without `<` ends no element of the page.
    text = json.dumps({"nodes": list(nodes), "arms": arms}, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))
