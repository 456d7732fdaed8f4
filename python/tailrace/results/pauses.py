"""Pauses of one trial: who sent them, who stood still, storms, and circles that never end."""

from collections.abc import Iterator
from typing import Any

from tailrace.results.run_directory import Trial


def ports_of(trial: Trial, port: str | None) -> list[dict[str, Any]]:
    """Switch ports of one trial: the one named `node>neighbour`, or all."""
    return [p for p in trial.outcome.get("ports", []) if port in (None, f"{p['node']}>{p['towards']}")]


def pauses_sent(trial: Trial, port: str | None) -> float:
    """Pauses that switches sent, to one neighbour or to all; renewals are not counted."""
    return float(sum(group["xoff_sent"] for found in ports_of(trial, port) for group in found.get("groups") or []))


def paused_percent(trial: Trial, port: str | None) -> float:
    """Part of the run for which a transmitter was paused, of the priority and the transmitter paused longest."""
    end_ps = trial.outcome["end_ps"]
    longest = max((max(pause["paused_ps"]) for pause in _transmitters(trial, port)), default=0)
    return float(longest / end_ps * 100) if end_ps else 0.0


def storms_found(trial: Trial, port: str | None) -> float:
    """Storms that the watchdogs of ports detected."""
    return float(sum(found["pause"]["storms_detected"] for found in ports_of(trial, port) if found.get("pause")))


def deadlock_of(outcome: dict[str, Any]) -> list[str]:
    """Links of a circle of pauses, in order; empty when there is none."""
    return [str(link) for link in outcome.get("deadlock") or []]


def circle_words(circle: list[str]) -> str:
    """`s0 → s1 → s2 → s0`."""
    ends = [link.split(">") for link in circle]
    return " → ".join([*(node for node, _ in ends), ends[-1][1]])


def deadlocks_of(trials: list[Trial]) -> list[dict[str, Any]]:
    """The circles that trials ended with."""
    return [
        {"trial": trial.number, "links": circle, "words": circle_words(circle)}
        for trial in trials
        if (circle := deadlock_of(trial.outcome))
    ]


def _transmitters(trial: Trial, port: str | None) -> Iterator[dict[str, Any]]:
    """Pauses that ports and, where they take part, hosts have obeyed. A host has one link: its name is enough."""
    for found in ports_of(trial, port):
        if found.get("pause"):
            yield found["pause"]
    for host in trial.outcome.get("hosts", []):
        is_meant = port is None or port.partition(">")[0] == host["name"]
        if is_meant and host.get("interface"):
            yield host["interface"]["pause"]
