"""The servers of a trial: one service for every host and sort of server that a workload uses."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tailrace.live import registry
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.load import Task
from tailrace.live.service import Service
from tailrace.programs.command import Ended


class Servers:
    """Services by host and name."""

    def __init__(self, workloads: Iterable[tuple[str, Mapping[str, Any]]], templates: Path) -> None:
        """`workloads` are kinds and workloads of the plan; `templates` is a folder that outlives
        trials."""
        asking: dict[tuple[str, type[Service]], list[Mapping[str, Any]]] = {}
        self._of: dict[str, tuple[str, type[Service]]] = {}
        for _, service, host, raw in registry.sharing(workloads):
            asking.setdefault((host, service), []).append(raw)
            self._of[raw["name"]] = (host, service)
        self._services = {
            (host, service): service(host, raws, templates / service.service_name)
            for (host, service), raws in asking.items()
        }
        for made in self._services.values():
            made.meet(list(self._services.values()))

    def of(self, workload: str) -> Service | None:
        """The service that a workload uses; None for a workload whose load has its own server."""
        return self._services[self._of[workload]] if workload in self._of else None

    def task(self, raw: Mapping[str, Any], seed: int, limit_s: float, **ports: int) -> Task:
        """The work of a workload's load, with the addresses of its server."""
        return Task(raw, seed, limit_s, self.of(raw["name"]), **ports)

    def make_templates(self) -> None:
        """Creates the missing templates; each in a lab of its own, before the trial's."""
        for service in self._services.values():
            service.make_template()

    def start(self, lab: Lab, cpus: Mapping[str, float | None]) -> None:
        """Restores, starts and verifies every server."""
        for service in self._services.values():
            service.start(lab, cpus.get(service.host))
        for service in self._services.values():
            service.wait_until_ready()
            service.verify(lab)

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Hosts and ports at which they listen."""
        return [(service.host, service.port) for service in self._services.values()]

    @property
    def programs(self) -> list[Program]:
        """The started programs of all services."""
        return [program for service in self._services.values() for program in service.programs]

    @property
    def configurations(self) -> dict[str, str]:
        """The text of the configuration of each that has one, by service and host."""
        every = (
            (f"{service.service_name}-{service.host}", service.configuration)
            for service in self._services.values()
        )
        return {name: text for name, text in every if text}

    @property
    def reports(self) -> dict[str, str]:
        """The reports of services with one, by service and host."""
        every = (
            (f"{service.service_name}-{service.host}", service.report())
            for service in self._services.values()
        )
        return {name: text for name, text in every if text}

    def stop(self) -> list[tuple[str, Ended]]:
        """Ends all services; returns the host of each and its resource usage."""
        return [(service.host, service.stop()) for service in self._services.values()]
