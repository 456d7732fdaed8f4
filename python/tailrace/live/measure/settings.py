"""Settings of a host at the start of a trial, as its kernel reports them: recorded, and required to
be clean."""

import re
from collections.abc import Mapping

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.measure.probe import DEVICE
from tailrace.outcome.types import HostSettings, NetworkOutcome
from tailrace.programs.command import Command

LIMIT_S = 10.0
SYSCTLS = (
    "tcp_ecn",
    "tcp_rmem",
    "tcp_wmem",
    "tcp_sack",
    "tcp_early_retrans",
    "tcp_slow_start_after_idle",
    "tcp_autocorking",
    "tcp_no_metrics_save",
)
OFFLOADS = (
    "tx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
)


def read(lab: Lab, host: str) -> HostSettings:
    """A host's route, TCP settings and offloads, and how many TCP metrics of earlier connections it
    remembers."""
    route = _run(lab, host, "route", ["ip", "route", "show", "dev", DEVICE])
    files = [f"/proc/sys/net/ipv4/{name}" for name in SYSCTLS]
    values = _run(lab, host, "sysctls", ["cat", *files]).splitlines()
    features = _run(lab, host, "offloads", ["ethtool", "--show-offload", DEVICE])
    metrics = _run(lab, host, "metrics", ["ip", "tcp_metrics", "show"]).split("\n")
    return HostSettings(
        route=" ".join(route.split()),
        sysctls={
            name: " ".join(value.split()) for name, value in zip(SYSCTLS, values, strict=True)
        },
        offloads=parse_offloads(features),
        tcp_metrics=sum(bool(line.strip()) for line in metrics),
    )


def parse_offloads(text: str) -> dict[str, str]:
    """`on` or `off` of each offload, from ethtool."""
    found = dict(re.findall(r"^\s*([a-z0-9-]+): (on|off)\b", text, re.MULTILINE))
    return {name.replace("-", "_"): found[name] for name in OFFLOADS if name in found}


def require_clean(settings: Mapping[str, HostSettings], counters: NetworkOutcome) -> None:
    """Raises `FabricError` when a host has TCP metrics of earlier connections, or frames are still
    in the network."""
    for host, found in settings.items():
        if found.tcp_metrics:
            raise FabricError(
                f"host {host} remembers {found.tcp_metrics} TCP metrics before the trial"
            )
    waiting = counters.conservation.in_network if counters.conservation else 0
    if waiting:
        raise FabricError(f"{waiting} frames are in the network before the trial")


def _run(lab: Lab, host: str, what: str, argv: list[str]) -> str:
    return lab.run(Command(f"{what}-{host}", argv, host=host, observes=True), LIMIT_S)
