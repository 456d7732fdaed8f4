"""Checks that real kernels in virtual time can run a scenario, made before anything starts."""

from collections.abc import Mapping

from tailrace.errors import KeyPath, Problem
from tailrace.experiment.real_kernel import Found, framing, host_settings, problems_of, raise_found
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.host import Cpu, Host, Tcp
from tailrace.scenario.programs import CHOICE_KEY, SERVICE_KEY
from tailrace.scenario.scenario import Scenario

ENGINE = "exact"
SIMULATE = "omit it, or omit --exact to simulate it"
INTERFACE = {
    "pfc": "priority flow control",
    "link_pause": "802.3x pauses",
    "qcn": "QCN",
    "storm": "pause storms",
}
"""Settings of an interface that only a simulated host has."""
TCP_MODEL = {
    "growth": "Linux grows its window by the segments that an acknowledgement covers",
    "reno_friendly": "CUBIC of Linux always has its Reno-friendly region",
    "small_queue": "Linux always limits a socket to 1 ms at its pacing rate",
    "small_queue_bound": "Linux limits a socket by its pacing rate alone",
    "delayed_ack": "Linux always uses 40 ms",
}
"""TCP settings of the model that a kernel does not have, and what it does."""
HOSTS_MAX = 250
"""Guests are processes with their own memory; addresses of one network."""


def refuse(loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
    """Raises `ScenarioError` with everything in these arms that exact runs do not support."""
    raise_found(loaded, arms, _find)


def ignored(loaded: Loaded, arms: Mapping[str, Scenario]) -> list[Problem]:
    """Settings of the scenario that have no effect in an exact run, with their paths."""
    return problems_of(loaded, arms, _ignored)


def _ignored(scenario: Scenario) -> Found:
    for name, host in scenario.hosts.items():
        if host.cpu != Cpu():
            yield ("hosts", name, "cpu"), "ignored in an exact run: processor time of its hosts is free", ""
    for name, workload in scenario.running.items():
        for key in {CHOICE_KEY, SERVICE_KEY} & workload.model_fields_set:
            yield ("workloads", name, key), "ignored in an exact run: the traffic program is on every host", ""


def _find(scenario: Scenario) -> Found:
    yield from framing(scenario, ENGINE)
    for name, host in scenario.hosts.items():
        yield from host_settings(("hosts", name), host, ENGINE)
        yield from _host(("hosts", name), host)
    count = len(scenario.graph.hosts)
    if count > HOSTS_MAX:
        yield ("network",), f"it has {count} hosts, each of which would be a kernel of its own", f"at most {HOSTS_MAX}"


def _host(at: KeyPath, host: Host) -> Found:
    for key, words in INTERFACE.items():
        if getattr(host.nic, key):
            yield (*at, "nic", key), f"the interface of a host in an exact run does not take part in {words}", SIMULATE
    usual = Tcp()
    for key, fact in TCP_MODEL.items():
        if getattr(host.tcp, key) != getattr(usual, key):
            yield (*at, "tcp", key), f"not adjustable in exact runs: {fact}", "omit it"
    if host.tcp.effective_exit != host.tcp.model_copy(update={"slow_start_exit": "auto"}).effective_exit:
        what = "not adjustable in exact runs: CUBIC of Linux has HyStart, other congestion controls do not"
        yield (*at, "tcp", "slow_start_exit"), what, "omit it"
