"""Settings of TCP on hosts: timers, windows, ECN, congestion control."""

from collections.abc import Iterator, Mapping
from typing import Any

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, Candidate, Settings
from tailrace.advice.settings import route_settings, sysctl_settings
from tailrace.advice.situation import Situation

RTO_MS = 10
"""With clock ticks of 4 ms, fewer would be noise."""
PS_PER_MS = 10**9
INITIAL_WINDOW = 40
EVIDENCE = "docs/validation.md, simulated against real kernels"
BUFFER_BYTES = 64 * 1024 * 1024


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Settings that differ from those of at least one host."""
    if not situation.uses_tcp:
        return
    tcp = [situation.scenario.host(name).tcp for name in situation.hosts]
    if any(one.rto_min > RTO_MS * PS_PER_MS for one in tcp):
        yield Candidate(
            name=f"rto-min-{RTO_MS}ms",
            group="rto-min",
            title=f"The smallest retransmission timeout is {RTO_MS} ms",
            changes=situation.of_hosts("tcp.rto_min", f"{RTO_MS}ms"),
            acts_on=frozenset({"timeout"}),
            costs="Where round trips or delayed acknowledgements take longer, "
            "it expires without a loss.",
            settings=(_route(situation, f"rto_min {RTO_MS}ms"),),
            evidence=EVIDENCE,
        )
    if any(one.delayed_ack > 0 for one in tcp):
        yield Candidate(
            name="quick-ack",
            group="quick-ack",
            title="Receivers acknowledge at once",
            changes=situation.of_hosts("tcp.delayed_ack", "0s"),
            acts_on=frozenset({"delayed_ack", WINDOW, "sender_hold"}),
            costs="More acknowledgements, each with its cost on both hosts.",
            settings=(_route(situation, "quickack 1"),),
            evidence=EVIDENCE,
        )
    if any(one.slow_start_after_idle for one in tcp):
        yield Candidate(
            name="no-restart",
            group="no-restart",
            title="Windows stay as they are after an idle time",
            changes=situation.of_hosts("tcp.slow_start_after_idle", value=False),
            acts_on=frozenset({WINDOW}),
            costs="A burst of a whole window after each pause.",
            settings=(_sysctl(situation, {"net.ipv4.tcp_slow_start_after_idle": "0"}),),
            evidence=EVIDENCE,
        )
    if any(one.initial_window < INITIAL_WINDOW for one in tcp):
        yield Candidate(
            name=f"initial-window-{INITIAL_WINDOW}",
            group="initial-window",
            title=f"Connections begin with {INITIAL_WINDOW} segments",
            changes=situation.of_hosts("tcp.initial_window", INITIAL_WINDOW),
            acts_on=frozenset({WINDOW}),
            costs="Longer bursts into queues that may be short.",
            settings=(_route(situation, f"initcwnd {INITIAL_WINDOW}"),),
            evidence=EVIDENCE,
        )
    if any(max(one.send_buffer.maximum, one.receive_buffer.maximum) < BUFFER_BYTES for one in tcp):
        yield _buffers(situation)
    if any(one.congestion_control != "bbr" for one in tcp):
        changes, settings = congestion_control(situation, "bbr")
        yield Candidate(
            name="bbr",
            group="congestion control",
            title="Hosts pace by measured rate (BBR version 1)",
            changes=changes,
            acts_on=QUEUES | REPEATS | {WINDOW},
            costs="Beside CUBIC its share of a link is hard to predict.",
            settings=settings,
            evidence=EVIDENCE,
        )


def _buffers(situation: Situation) -> Candidate:
    changes = {
        path: value
        for name in ("send_buffer", "receive_buffer")
        for path, value in situation.of_hosts(
            f"tcp.{name}", {"maximum": f"{BUFFER_BYTES}B"}
        ).items()
    }
    triples = {
        "net.ipv4.tcp_wmem": f'"4096 16384 {BUFFER_BYTES}"',
        "net.ipv4.tcp_rmem": f'"4096 131072 {BUFFER_BYTES}"',
    }
    return Candidate(
        name="socket-buffers-64MiB",
        group="socket-buffers-64MiB",
        title="Socket buffers may grow to 64 MiB",
        changes=changes,
        acts_on=frozenset({WINDOW, "sender_hold"}),
        costs="Memory of each connection, and longer queues at switches.",
        settings=(_sysctl(situation, triples),),
        evidence=EVIDENCE,
    )


def congestion_control(
    situation: Situation, wanted: str
) -> tuple[dict[str, Any], tuple[Settings, ...]]:
    """Changes and settings for another congestion control of every host."""
    values = {"net.ipv4.tcp_congestion_control": wanted}
    if wanted == "dctcp":
        values["net.ipv4.tcp_ecn"] = "1"
    return situation.of_hosts("tcp.congestion_control", wanted), (_sysctl(situation, values),)


def ecn(
    situation: Situation, name: str, title: str, policies: Mapping[str, Any], needs: str
) -> Candidate:
    """A mechanism of switches that marks, with hosts that negotiate ECN."""
    changes = {**policies, **situation.of_hosts("tcp.ecn", value=True)} if policies else {}
    return Candidate(
        name=name,
        group="queue management",
        title=f"{title}, and hosts negotiate ECN",
        changes=changes,
        acts_on=QUEUES | REPEATS | {WINDOW},
        costs=f"{needs} ECN on both ends of every connection that should be "
        "marked instead of dropped.",
        settings=(_sysctl(situation, {"net.ipv4.tcp_ecn": "1"}),),
        evidence="docs/validation.md, against published results",
    )


def _sysctl(situation: Situation, values: Mapping[str, str]) -> Settings:
    return sysctl_settings(situation.hosts_text(situation.hosts), values)


def _route(situation: Situation, wanted: str) -> Settings:
    return route_settings(situation.hosts_text(situation.hosts), wanted)
