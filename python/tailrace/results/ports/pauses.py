"""Pauses of one trial: pauses sent and obeyed, storms, and deadlocks."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from tailrace.outcome.types import Pause, Port
from tailrace.results.directory.run_directory import Trial
from tailrace.results.summary.means import means_of
from tailrace.results.summary.network import Deadlock, PauseMeans
from tailrace.results.summary.summary import ArmSummary

# Rows of the summary: a fabric has hundreds of ports.
ROWS_MAX = 48
NOTHING = Pause(received=[0], paused_ps=[0], storms_detected=0, storms_ended=0)


def pauses_sent(trial: Trial, port: str | None) -> float:
    """Pauses that switches sent, to one neighbour or to all; renewals are not counted."""
    return float(
        sum(group.xoff_sent for found in trial.ports(port) for group in found.groups or [])
    )


def paused_percent(trial: Trial, port: str | None) -> float:
    """Part of the run for which a transmitter was paused, of the priority and the transmitter
    paused longest."""
    return max((_percent(pause, trial) for pause in _transmitters(trial, port)), default=0.0)


def storms_found(trial: Trial, port: str | None) -> float:
    """Storms that the watchdogs of ports detected."""
    return float(sum(found.pause.storms_detected for found in trial.ports(port) if found.pause))


def circle_words(circle: list[str]) -> str:
    """`s0 → s1 → s2 → s0`."""
    ends = [link.split(">") for link in circle]
    return " → ".join([*(node for node, _ in ends), ends[-1][1]])


def deadlocks_of(trials: list[Trial]) -> list[Deadlock]:
    """The cycles of pauses at the end of trials, each with its trials."""
    found: dict[str, Deadlock] = {}
    for trial in trials:
        if circle := trial.outcome.deadlock:
            words = circle_words(circle)
            found.setdefault(words, Deadlock(words=words, links=circle, trials=[])).trials.append(
                trial.number
            )
    return list(found.values())


def deadlock_sentences(arms: Mapping[str, ArmSummary]) -> list[str]:
    """One sentence for every arm and cycle."""
    return [_sentence(arm, circle) for arm, summary in arms.items() for circle in summary.deadlocks]


def _sentence(arm: str, circle: Deadlock) -> str:
    which = f"trial{'s' * (len(circle.trials) > 1)} {', '.join(map(str, circle.trials))}"
    return (
        f"Deadlock with {arm} ({which}): {circle.words} are paused in a cycle, so their frames "
        "can never be forwarded."
    )


def summarise_pauses(trials: list[Trial]) -> list[PauseMeans]:
    """Ports of switches and interfaces of hosts with pauses, means over trials.

    Those with lost frames or storms come first, then those with the longest paused time.
    """
    rows: dict[str, list[PauseMeans]] = {}
    for trial in trials:
        # A port without groups and pauses takes no part in pausing: nothing of it would be listed.
        found = [_of_port(trial, port) for port in trial.outcome.ports if port.groups or port.pause]
        found += [
            _obeyed(trial, f"{host.name} → network", host.interface.pause)
            for host in trial.outcome.hosts
            if host.interface
        ]
        for row in found:
            rows.setdefault(row.label, []).append(row)
    means = [means_of(PauseMeans, seen, len(trials)) for seen in rows.values()]
    busy = [row for row in means if row.xoff_sent or row.received]
    busy.sort(key=lambda row: (-row.drops_frames, -row.storms_detected, -row.paused_percent))
    return busy[:ROWS_MAX]


def _of_port(trial: Trial, port: Port) -> PauseMeans:
    groups = port.groups or []
    return replace(
        _obeyed(trial, f"{port.node} → {port.towards}", port.pause or NOTHING),
        xoff_sent=sum(group.xoff_sent for group in groups),
        headroom_max_bytes=max((group.headroom_max_bytes for group in groups), default=0),
        drops_frames=sum(group.drop_frames for group in groups),
    )


def _obeyed(trial: Trial, label: str, pause: Pause) -> PauseMeans:
    """The pauses that a receiver of pauses obeyed; it sends none."""
    return PauseMeans(
        label=label,
        xoff_sent=0,
        received=sum(pause.received),
        paused_percent=_percent(pause, trial),
        storms_detected=pause.storms_detected,
        storms_ended=pause.storms_ended,
        headroom_max_bytes=0,
        drops_frames=0,
    )


def _percent(pause: Pause, trial: Trial) -> float:
    counted_ps = trial.counted_ps
    return max(pause.paused_ps) / counted_ps * 100 if counted_ps else 0.0


def _transmitters(trial: Trial, port: str | None) -> Iterator[Pause]:
    """Pauses that ports and, where they take part, hosts have obeyed. A host has one link: its name
    is enough."""
    for found in trial.ports(port):
        if found.pause:
            yield found.pause
    for host in trial.hosts.values() if port is None else [trial.hosts.get(port.partition(">")[0])]:
        if host and host.interface:
            yield host.interface.pause
