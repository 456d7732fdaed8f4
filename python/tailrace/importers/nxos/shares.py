"""Shares of the weighted queues from `bandwidth percent` and `bandwidth remaining percent`.

An absolute percentage refers to the link, a remaining one to the rest after the absolute ones
(Nexus 9000 QoS guide, "Configuring queuing and scheduling"). Strict queues are served before both,
and the shares of a scenario refer to the rest after them.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tailrace.importers.nxos.config import NxosConfig
from tailrace.importers.nxos.parse import ConfigCommand
from tailrace.importers.section import share

LEAST = Fraction(1, 10)
"""Percent for a queue with frames but without bandwidth: the least share of a scenario."""
BANDWIDTH = "bandwidth"
"""Key for the bandwidth of a queue until all queues of its policy are known."""

Yaml = dict[str, Any]


@dataclass(frozen=True)
class Bandwidth:
    """One `bandwidth` command."""

    percent: int
    is_remaining: bool
    command: ConfigCommand


def resolve(
    config: NxosConfig, groups: dict[int, Yaml], needed: set[int], absent: set[int]
) -> None:
    """Converts the bandwidth of all queues to shares.

    `needed` are the groups that must have a separate queue, `absent` those of them that the policy
    does not name.
    """
    stated = {group: queue.pop(BANDWIDTH) for group, queue in groups.items() if BANDWIDTH in queue}
    weighted = [group for group, queue in groups.items() if "strict" not in queue]
    shares = _of_the_link(config, {group: stated[group] for group in weighted if group in stated})
    unstated = [group for group in weighted if group not in shares]
    if not unstated and shares and not any(shares.values()):
        _note(
            config,
            f"every queue has a bandwidth of 0 percent: the {len(shares)} queues get equal shares",
        )
        shares = {group: Fraction(100 // len(shares)) for group in shares}
    shares |= dict.fromkeys(sorted(absent), Fraction(0))
    unstated = [group for group in unstated if group not in absent]
    without = [group for group in shares if not shares[group]]
    if sum(shares.values()) >= 100:
        without += unstated
    for group in without:
        shares[group] = LEAST
        if group not in needed:
            _note(config, f"queue {group} has no share: its frames use the default queue")
            del groups[group], shares[group]
        else:
            _note(
                config,
                f"queue {group} has frames but no share: it gets the least share, {share(LEAST)}",
            )
    _fit(shares, 100 + LEAST * len(without))
    for group, percent in shares.items():
        groups[group] = {"share": share(percent), **groups[group]}


def _of_the_link(config: NxosConfig, stated: dict[int, Bandwidth]) -> dict[int, Fraction]:
    absolute = sum(own.percent for own in stated.values() if not own.is_remaining)
    remaining = sum(own.percent for own in stated.values() if own.is_remaining)
    is_mixed = any(own.is_remaining for own in stated.values()) and not all(
        own.is_remaining for own in stated.values()
    )
    left = max(0, 100 - absolute)
    shares: dict[int, Fraction] = {}
    for group, own in stated.items():
        shares[group], words = Fraction(own.percent), f"queue {group}: share {own.percent}%"
        if is_mixed and own.is_remaining:
            shares[group] = Fraction(left * own.percent, remaining) if remaining else Fraction(0)
            words = (
                f"queue {group}: share {share(shares[group])}, {own.percent} of {remaining} parts "
                f"of the {left}% that the absolute percentages leave"
            )
        config.remarks.add(own.command.line, own.command.text, "understood", words)
    return shares


def _fit(shares: dict[int, Fraction], most: Fraction) -> None:
    """Subtracts the least shares from the largest share; shares that exceed 100 % are left
    unchanged."""
    whole = sum(shares.values())
    if 100 < whole <= most:
        largest = max(shares, key=lambda group: shares[group])
        shares[largest] -= whole - 100


def _note(config: NxosConfig, words: str) -> None:
    config.remarks.add(0, "", "assumed", words)
