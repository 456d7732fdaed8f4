"""Services that only live runs have."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.programs import LIVE_ONLY, SERVICE_KEY
from tailrace.scenario.scenario import Scenario

Found = Iterator[tuple[KeyPath, str, str]]


def absent(scenario: Scenario, engine: str) -> Found:
    """Workloads that use a cluster, for an engine without clusters."""
    for name, workload in scenario.running.items():
        service = workload.live_choices().get(SERVICE_KEY)
        if service in LIVE_ONLY:
            what = f"{engine} runs do not have {service}: {LIVE_ONLY[service]}"
            yield (
                ("workloads", name, SERVICE_KEY),
                what,
                "use --live, or omit it for one database without replication",
            )
