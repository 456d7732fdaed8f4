"""Print which share of the bytes the elephant trap sees as elephants', for streams of TCP through
one port with AFD.

`elephant_shares.py` runs 4, 8 and 20 connections at 10 and 100 Gbit/s, with and without
segmentation offload, with the profile's age and with the one that `tailrace check` proposes. The
table is that of docs/models/afd.md.
"""

import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import tailrace
from tailrace.outcome.types import Port
from tailrace.results import Run
from tailrace.scenario.loading import load_scenario

CONNECTIONS = (4, 8, 20)
RATES_GBPS = (10, 100)
TSO = ("64kB", "0B")
GIGABITS = 5
"""What the line carries in a run: half a second at 10 Gbit/s."""
DESIRED_BYTES_PER_GBPS = 15_000
"""120 us of the line, as Cisco recommends."""
HEAD = (
    "| Gbit/s | Connections | TSO | Share of elephants, default age | Tail drops | Age "
    "proposed | Share of elephants | "
    "Drops by AFD | Tail drops | Mean depth / desired |\n|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Prints the table, a row for each case."""
    warnings.simplefilter("ignore")
    print(HEAD)
    for rate in RATES_GBPS:
        for connections in CONNECTIONS:
            for tso in TSO:
                print(row(rate, connections, tso), flush=True)


def scenario(rate: int, connections: int, tso: str, age: str | None) -> dict[str, Any]:
    """Two senders with half of the connections each, one receiver, links of one rate."""
    desired = DESIRED_BYTES_PER_GBPS * rate
    stream = {"kind": "stream", "destination": "sink", "connections": connections // 2}
    return {
        "tailrace": 1,
        "name": "elephant-shares",
        "network": {
            "topology": {"kind": "star", "switch": "leaf", "hosts": ["sink", "a", "b"]},
            "link": {"rate": f"{rate}Gbit/s"},
        },
        "hosts": {"defaults": {"nic": {"tso": tso}}},
        "switches": {"leaf": {"buffer": "60MB", "policy": "fair"}},
        "policies": {
            "fair": {
                "queues": {
                    "all": {
                        "limit": f"{10 * desired}B",
                        "aqm": {"kind": "afd", "desired": f"{desired}B"},
                    }
                },
                "etrap": {} if age is None else {"age": age},
            }
        },
        "workloads": {name: stream | {"source": name} for name in ("a", "b")},
        "experiment": {"duration": f"{1000 * GIGABITS // rate}ms", "trials": 1},
    }


def proposed_age(case: dict[str, Any]) -> str | None:
    """The age in the hint of `tailrace check`; None where it has nothing to say."""
    hints = [re.search(r"age: (\w+)", warning.hint) for warning in load_scenario(case).warnings]
    return next((found[1] for found in hints if found), None)


def row(rate: int, connections: int, tso: str) -> str:
    """One line of the table."""
    case = scenario(rate, connections, tso, None)
    default = measured(case)
    age = proposed_age(case)
    cells = [
        str(rate),
        str(connections),
        "on" if tso != "0B" else "off",
        share(default),
        drops(default, "tail-drop"),
    ]
    helped = measured(scenario(rate, connections, tso, age)) if age else default
    depth = (helped.queues[0].depth_mean_bytes or 0) / (DESIRED_BYTES_PER_GBPS * rate)
    cells += [
        age or "–",
        share(helped),
        drops(helped, "afd"),
        drops(helped, "tail-drop"),
        f"{depth:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def measured(case: dict[str, Any]) -> Port:
    """What the port towards the receiver counted."""
    with tempfile.TemporaryDirectory(prefix="tailrace-elephants-") as folder:
        path = Path(folder) / "run"
        tailrace.run(case, out=path)
        run = Run.read(path)
        [trial] = run.valid(run.arms[0])
    return next(port for port in trial.outcome.ports if port.towards == "sink")


def share(port: Port) -> str:
    """Percent of the bytes that arrived."""
    trap = port.elephants
    assert trap is not None, "the port has a trap"
    return f"{100 * trap.elephant_bytes / trap.bytes:.1f} %"


def drops(port: Port, cause: str) -> str:
    """Frames."""
    return str(lost.frames if (lost := port.queues[0].drops.get(cause)) else 0)


if __name__ == "__main__":
    main()
