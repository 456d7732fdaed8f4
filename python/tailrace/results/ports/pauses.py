"""Pauses of one trial: pauses sent and obeyed, storms, and deadlocks."""

from collections.abc import Iterator
from typing import Any

from tailrace.results.directory.run_directory import Trial

# Rows of the summary: a fabric has hundreds of ports.
ROWS_MAX = 48
NOTHING: dict[str, Any] = {"received": [0], "paused_ps": [0], "storms_detected": 0, "storms_ended": 0}


def ports_of(trial: Trial, port: str | None) -> list[dict[str, Any]]:
    """Switch ports of one trial: the one named `node>neighbour`, or all."""
    return trial.ports(port)


def pauses_sent(trial: Trial, port: str | None) -> float:
    """Pauses that switches sent, to one neighbour or to all; renewals are not counted."""
    return float(sum(group["xoff_sent"] for found in ports_of(trial, port) for group in found.get("groups") or []))


def paused_percent(trial: Trial, port: str | None) -> float:
    """Part of the run for which a transmitter was paused, of the priority and the transmitter paused longest."""
    return max((_percent(pause, trial) for pause in _transmitters(trial, port)), default=0.0)


def storms_found(trial: Trial, port: str | None) -> float:
    """Storms that the watchdogs of ports detected."""
    return float(sum(found["pause"]["storms_detected"] for found in ports_of(trial, port) if found.get("pause")))


def deadlock_of(outcome: dict[str, Any]) -> list[str]:
    """Links of a cycle of pauses, in order; empty when there is none."""
    return [str(link) for link in outcome.get("deadlock") or []]


def circle_words(circle: list[str]) -> str:
    """`s0 → s1 → s2 → s0`."""
    ends = [link.split(">") for link in circle]
    return " → ".join([*(node for node, _ in ends), ends[-1][1]])


def deadlocks_of(trials: list[Trial]) -> list[dict[str, Any]]:
    """The cycles of pauses at the end of trials, each with its trials."""
    found: dict[str, dict[str, Any]] = {}
    for trial in trials:
        if circle := deadlock_of(trial.outcome):
            words = circle_words(circle)
            found.setdefault(words, {"words": words, "links": circle, "trials": []})["trials"].append(trial.number)
    return list(found.values())


def deadlock_sentences(arms: dict[str, dict[str, Any]]) -> list[str]:
    """One sentence for every arm and cycle."""
    sentences = []
    for arm, summary in arms.items():
        for circle in summary.get("deadlocks", []):
            numbers = ", ".join(str(number) for number in circle["trials"])
            which = f"trial{'s' * (len(circle['trials']) > 1)} {numbers}"
            sentences.append(
                f"Deadlock with {arm} ({which}): {circle['words']} are paused in a cycle, "
                "so their frames can never be forwarded."
            )
    return sentences


def summarise_pauses(trials: list[Trial]) -> list[dict[str, Any]]:
    """Ports of switches and interfaces of hosts where anything was paused, means over trials.

    First where frames were lost or a storm was found, then those that stood still longest.
    """
    rows: dict[str, list[dict[str, float]]] = {}
    for trial in trials:
        for port in trial.outcome.get("ports", []):
            if not port.get("groups") and not port.get("pause"):
                continue  # it takes no part in pausing: nothing of it would be listed
            rows.setdefault(f"{port['node']} → {port['towards']}", []).append(_of_port(trial, port))
        for host in trial.outcome.get("hosts", []):
            if interface := host.get("interface"):
                rows.setdefault(f"{host['name']} → network", []).append(_of_host(trial, interface))
    means = {
        place: {key: sum(row[key] for row in seen) / len(trials) for key in seen[0]} for place, seen in rows.items()
    }
    busy = [(place, row) for place, row in means.items() if row["xoff_sent"] or row["received"]]
    busy.sort(key=lambda pair: tuple(-pair[1][key] for key in ("drops_frames", "storms_detected", "paused_percent")))
    return [{"place": place, **row} for place, row in busy[:ROWS_MAX]]


def _of_port(trial: Trial, port: dict[str, Any]) -> dict[str, float]:
    groups = port.get("groups") or []
    pause = port.get("pause") or NOTHING
    return {
        "xoff_sent": sum(group["xoff_sent"] for group in groups),
        "received": sum(pause["received"]),
        "paused_percent": _percent(pause, trial),
        "storms_detected": pause["storms_detected"],
        "storms_ended": pause["storms_ended"],
        "headroom_max_bytes": max((group["headroom_max_bytes"] for group in groups), default=0),
        "drops_frames": sum(group["drop_frames"] for group in groups),
    }


def _of_host(trial: Trial, interface: dict[str, Any]) -> dict[str, float]:
    return _of_port(trial, {"pause": interface["pause"]})


def _percent(pause: dict[str, Any], trial: Trial) -> float:
    counted_ps = trial.counted_ps
    return float(max(pause["paused_ps"]) / counted_ps * 100) if counted_ps else 0.0


def _transmitters(trial: Trial, port: str | None) -> Iterator[dict[str, Any]]:
    """Pauses that ports and, where they take part, hosts have obeyed. A host has one link: its name is enough."""
    for found in ports_of(trial, port):
        if found.get("pause"):
            yield found["pause"]
    hosts = trial.outcome.get("hosts", []) if port is None else [trial.hosts.get(port.partition(">")[0])]
    for host in hosts:
        if host and host.get("interface"):
            yield host["interface"]["pause"]
