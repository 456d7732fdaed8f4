"""Scenario properties that were not validated, and mechanisms that were validated with known
shortfalls."""

from collections.abc import Iterator

from tailrace.scenario.scenario import Scenario

RATE_BPS_MAX = 100 * 10**9
HOSTS_MAX = 1024
"""No measurement on faster links, and no other system with more hosts, was compared
(docs/validation.md)."""
PROCESSORS = (
    "Processors: programs at other loads were not all predicted within 20 % "
    "(docs/models/live-costs.md)."
)
HYPERVISORS = (
    "Hypervisors: the order of virtual switches is that of the publication, most of its figures "
    "are not reached (reproductions/yahoo-ovs-dpdk)."
)
BBR = (
    "BBR: version 1 of Linux 6.1; beside others its share depends on the buffer "
    "(docs/models/tcp.md)."
)


def doubts(scenario: Scenario) -> Iterator[str]:
    """One sentence for each of them."""
    names = scenario.graph.host_names
    fastest = max((scenario.graph.rates_bps[name] for name in names), default=0)
    if fastest > RATE_BPS_MAX:
        yield (
            f"Links of {fastest / 1e9:g} Gbit/s: nothing above 100 was compared "
            "(docs/validation.md)."
        )
    if len(names) > HOSTS_MAX:
        yield f"{len(names)} hosts: nothing above {HOSTS_MAX} was compared (docs/validation.md)."
    if any(scenario.host(name).cpu.cores for name in names):
        yield PROCESSORS
    if scenario.hypervisors:
        yield HYPERVISORS
    if any(scenario.host(name).tcp.congestion_control == "bbr" for name in names):
        yield BBR
