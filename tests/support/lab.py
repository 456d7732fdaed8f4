"""What the tests of the lab share: a sound scenario, and how to break it."""

import copy
from typing import Any

from tailrace.errors import ScenarioError
from tailrace.scenario.loading import Loaded, load_scenario

SOUND: dict[str, Any] = {
    "tailrace": 1,
    "name": "sound",
    "network": {"topology": {"kind": "star", "switch": "leaf", "hosts": ["client", "db", "bulk"]}},
    "switches": {"leaf": {"buffer": "4MB", "policy": "dpp"}},
    "policies": {
        "dpp": {
            "queues": {"express": {"strict": 1, "limit": "500kB"}, "normal": {}},
            "dpp": {"max_packets": 20},
        }
    },
    "workloads": {
        "orders": {
            "kind": "oltp",
            "client": "client",
            "server": "db",
            "users": 4,
            "transactions": 100,
            "round_trips": [{"response": "18kB"}],
            "gap": "7ms",
        },
        "backup": {"kind": "stream", "source": "bulk", "destination": "client"},
    },
    "arms": {"fifo": {"switches.leaf.policy": "fifo"}, "dpp": {}},
    "experiment": {"duration": "5s", "trials": 2},
}


def sound(**changes: object) -> dict[str, Any]:
    """The sound scenario with values at dotted paths (`__` for the dot) replaced; `...` removes a
    key."""
    data = copy.deepcopy(SOUND)
    for path, value in changes.items():
        place: Any = data
        *parents, last = [int(key) if key.isdecimal() else key for key in path.split("__")]
        for key in parents:
            place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return data


def load(**changes: object) -> Loaded:
    """`sound(**changes)`, checked."""
    return load_scenario(sound(**changes))


def problems(data: dict[str, Any]) -> list[str]:
    """Every problem of a scenario, without the file's name."""
    try:
        load_scenario(data)
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: ") for problem in error.problems]
    return []
