"""Defaults of the program without a source for every machine, with the ranges that their pages
state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.scenario.variation import Variation

OF_SWITCHES = "switches.defaults."
"""Keys of all switches: those that the scenario names, where it names some."""


@dataclass(frozen=True)
class Default:
    """A default that is varied where the scenario does not state the value."""

    name: str
    present: str
    variation: Variation

    def of(self, data: Mapping[str, Any]) -> Variation:
        """The variation for a scenario."""
        named = [name for name in data.get("switches") or {} if name != "defaults"]
        [key] = self.variation.keys
        if not named or not key.startswith(OF_SWITCHES):
            return self.variation
        keys = [f"switches.{name}.{key.removeprefix(OF_SWITCHES)}" for name in named]
        return self.variation.model_copy(update={"keys": keys})


def _over(path: str, span: str) -> Variation:
    return Variation(keys=[path], range=span)


DEFAULTS = (
    Default("clock error", "50 ppm", _over("experiment.clock", "5ppm..100ppm")),
    Default("delay of a cable", "500 ns", _over("network.link.delay", "100ns..5us")),
    Default("latency of a switch", "1 us", _over(f"{OF_SWITCHES}latency", "500ns..5us")),
    Default(
        "interrupt moderation of receivers",
        "8 us",
        _over("hosts.defaults.nic.rx_coalesce", "2us..50us"),
    ),
    Default(
        "timing noise of receivers",
        "exponential(2us)",
        Variation(
            keys=["hosts.defaults.nic.rx_jitter"],
            values=["exponential(2us)", "exponential(500ns)", "exponential(8us)"],
        ),
    ),
)
"""Keys of the scenario reference marked as known from practice or assumed, of mechanisms that every
scenario has."""
