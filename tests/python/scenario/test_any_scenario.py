"""Whatever stands in a scenario: it is refused in words, or it becomes plans that the simulator
accepts."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from counts import cases
from lab import sound
from tailrace.errors import KeyPath, ScenarioError
from tailrace.experiment.native import make_trial
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower

RICH = sound(
    workloads__web={"kind": "flows", "sizes": "web-search", "load": "50%"},
    workloads__dns={
        "kind": "datagrams",
        "source": "db",
        "destination": "client",
        "sizes": "100B",
        "interarrival": "1us",
    },
    observe={"ports": ["leaf>client"]},
    hosts={
        "defaults": {
            "mtu": "1500B",
            "nic": {"tso": "0B", "rx_ring": "64 frames"},
            "cpu": {"per_byte": "1ps"},
            "tcp": {"ecn": True, "receive_buffer": {"initial": "64KiB", "maximum": "1MB"}},
        },
        "db": {
            "tcp": {"send_buffer": "1MB"},
            "nic": {"pfc": {"priorities": [3]}, "qcn": {"timer": "1ms"}},
        },
        "bulk": {"nic": {"storm": {"priorities": [3], "end": "1s"}}},
    },
    policies__red={
        "queues": {
            "a": {"aqm": {"kind": "red", "minimum": "1kB", "maximum": "2kB"}},
            "b": {"share": "20%", "aqm": {"kind": "codel"}},
        },
        "priorities": {3: "b"},
    },
    policies__lossless={
        "queues": {
            "a": {
                "aqm": {"kind": "afd", "desired": "150kB"},
                "reserved": "1kB",
                "shape": {"min": "1Mbit/s", "max": "1Gbit/s"},
                "qcn": {"weight": 2},
            },
            "b": {"share": "20%", "aqm": {"kind": "step", "threshold": "1kB"}},
        },
        "priorities": {3: "b"},
        "etrap": {"profile": "mesh", "age": "30us"},
        "pfc": {
            "priorities": [3],
            "xoff": "40kB",
            "watchdog": {"detection": "1ms"},
            "per_priority": {3: {}},
        },
        "police": {"rate": "5Gbit/s", "burst": "100kB"},
    },
    policies__paused={"queues": {"a": {}}, "link_pause": {"headroom": "20kB", "cable": "10m"}},
    switches__leaf__ports={"db": "red", "bulk": "lossless"},
    switches__leaf__classify=[
        {"class": 3, "dscp": ["ef"]},
        {"class": 1, "destination": "db", "destination_port": 1},
    ],
    workloads__orders__dscp="ef",
    workloads__orders__vlan=12,
    network__spanning_tree={
        "protocol": "mstp",
        "instances": {1: {"vlans": "10-20", "bridge_priority": {"leaf": 0}}},
    },
    switches__leaf__bridge_priority=4096,
    network__links=[{"between": ["db", "leaf"], "path_cost": 7, "port_priority": {"leaf": 16}}],
    experiment__calibrate={"to": "1s"},
    expect=[{"metric": "drops_frames", "at_most": 3}],
    assumptions=[{"name": "a", "value": "b", "mark": "seen"}],
)
WORDS = [
    "",
    "x",
    "\x00",
    "é",
    "a.b",
    "'",
    "leaf",
    "client",
    "db",
    "all",
    "none",
    "fifo",
    "dpp",
    "cubic",
    "web-search",
]
QUANTITIES = [
    "0s",
    "1s",
    "5ms",
    "0B",
    "1B",
    "18kB",
    "10Gbit/s",
    "1bit/s",
    "9e99s",
    "100%",
    "0%",
    "0.0001%",
    "1 frame",
]
SHAPES = [
    "exponential(0s)",
    "exponential(1ps)",
    "uniform(0s, 0s)",
    "normal(1ms, 9ms)",
    "lognormal(1ms, 5)",
    "dynamic(1)",
    "dynamic(nxos:9)",
    "auto",
]
NUMBERS: list[Any] = [0, -1, 1, 3, 8, 2**63, 2**70, 1.5, float("nan"), float("inf")]
PARTS: list[Any] = [
    None,
    True,
    [],
    {},
    [[]],
    {"a": 1},
    ["client"],
    {"cdf": [["0B", "0%"], ["1B", "100%"]]},
]
VALUES = st.sampled_from([*WORDS, *QUANTITIES, *SHAPES, *NUMBERS, *PARTS])


def places(data: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every place inside a scenario."""
    inside = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


def parent_of(data: Any, path: KeyPath) -> Any:
    for key in path[:-1]:
        data = data[key]
    return data


PLACES = list(places(RICH))


@settings(max_examples=cases(400, 100))
@given(
    path=st.sampled_from(PLACES),
    value=VALUES,
    change=st.sampled_from(["replace", "replace", "remove", "add"]),
)
def test_any_scenario_is_refused_in_words_or_runs(
    path: KeyPath, value: object, change: str
) -> None:
    data = copy.deepcopy(RICH)
    parent = parent_of(data, path)
    if change == "remove":
        del parent[path[-1]]
    elif change == "add" and isinstance(parent, dict):
        parent["added"] = copy.deepcopy(value)
    else:
        parent[path[-1]] = copy.deepcopy(value)
    try:
        loaded = load_scenario(data)
    except ScenarioError:
        return
    for arm, scenario in loaded.arms.items():
        make_trial(json.dumps(lower(scenario, arm, 1), allow_nan=False))
