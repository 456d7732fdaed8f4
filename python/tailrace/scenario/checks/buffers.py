"""Warnings about switches whose packet memory holds no full frame."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.units import exact_size

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """A warning for each entry of `switches` with such a buffer."""
    frame_bytes = scenario.frame_bytes
    for name, own in scenario.switches.items():
        is_used = name in graph.switch_names or (name == DEFAULTS and graph.switches)
        if is_used and own.buffer < frame_bytes and "buffer" in own.model_fields_set:
            what = (
                f"a buffer of {exact_size(own.buffer)} holds no frame of {frame_bytes} B: all "
                "of these are dropped"
            )
            yield ("switches", name, "buffer"), what, f"write {frame_bytes}B or more; 12MB is usual"
