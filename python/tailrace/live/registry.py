"""The registry of programs: every module in `tailrace.live.programs` registers the classes that it
defines."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from tailrace.live import programs
from tailrace.live.lab.fabric import FabricError
from tailrace.live.load import Load, Task
from tailrace.live.service import Service
from tailrace.programs.needed import Needed
from tailrace.scenario.programs import CHOICE_KEY, PRESET_KEY, SERVICE_KEY, usual_load
from tailrace.scenario.workloads.kinds import facts_of

Registered = TypeVar("Registered", Load, Service)


@cache
def loads() -> Mapping[tuple[str, str], type[Load]]:
    """Every load, by its sort and its name."""
    return {(each.sort, each.load_name): each for each in _defined(Load)}  # type: ignore[type-abstract]


@cache
def services() -> Mapping[str, type[Service]]:
    """Every service, by its name."""
    return {each.service_name: each for each in _defined(Service)}  # type: ignore[type-abstract]


def _defined(base: type[Registered]) -> Iterator[type[Registered]]:
    for found in pkgutil.iter_modules(programs.__path__, f"{programs.__name__}."):
        module = importlib.import_module(found.name)
        for each in vars(module).values():
            is_own = (
                isinstance(each, type) and issubclass(each, base) and each.__module__ == found.name
            )
            if is_own and is_program(each):
                yield each


def is_program(each: type[Load] | type[Service]) -> bool:
    """Whether a class is a program rather than a common base; raises `TypeError` for an incomplete
    program.

    A program has a name of its own, implements every abstract method and states every fact that its
    base class requires.
    """
    base, name = (Load, "load_name") if issubclass(each, Load) else (Service, "service_name")
    missing = sorted(getattr(each, "__abstractmethods__", ()))
    if missing and name not in vars(each):
        return False
    missing += [fact for fact in base.__annotations__ if not hasattr(each, fact)]
    if missing:
        raise TypeError(f"{each.__module__}.{each.__name__} lacks {', '.join(missing)}")
    return True


@dataclass(frozen=True)
class ProgramChoice:
    """The programs of one workload."""

    load: type[Load]
    service: type[Service] | None
    """The service that the load uses; None for a load with its own server."""

    @property
    def needs(self) -> tuple[Needed, ...]:
        """Executables of both."""
        return (*self.load.needs, *(self.service.needs if self.service else ()))


def load_class(kind: str, raw: Any) -> type[Load]:
    """The load of a workload of this kind, in the plan or in the scenario; raises `FabricError`
    where there is none."""
    sort = facts_of(kind).live_load
    if sort is None:
        raise FabricError(f"no live program generates the load of kind {kind}")
    name = _chosen(raw, CHOICE_KEY) or usual_load(sort, _chosen(raw, PRESET_KEY))
    load = loads().get((sort, name))
    if load is None:
        raise FabricError(
            f"no program '{name}' is registered for {sort} (hint: see "
            "python/tailrace/live/programs)"
        )
    return load


def choice(kind: str, raw: Any) -> ProgramChoice:
    """Its load and the service that the load uses; raises `FabricError` where there is none."""
    load = load_class(kind, raw)
    return ProgramChoice(load, _service(load, load.service_of(raw)))


def foreign_service(kind: str, raw: Any) -> str | None:
    """The service of a workload that its load cannot use; None if there is no problem, or no live
    program."""
    if facts_of(kind).live_load is None:
        return None
    load, name = load_class(kind, raw), _chosen(raw, SERVICE_KEY)
    return name if name is not None and load.services and name not in load.services else None


def _chosen(raw: Any, key: str) -> str | None:
    return raw.get(key) if isinstance(raw, Mapping) else getattr(raw, key, None)


def _service(load: type[Load], name: str | None) -> type[Service] | None:
    """The service of this name; None for a load without a service."""
    if name is None or not load.services:
        return None
    if name not in load.services:
        able = ", ".join(load.services)
        raise FabricError(
            f"{load.load_name} cannot use {name} (hint: write {SERVICE_KEY} as one of: {able})"
        )
    return services()[name]


def make_load(kind: str, task: Task) -> Load:
    """The load that does a task."""
    return choice(kind, task.raw).load(task)


def needs_of(chosen: Iterable[ProgramChoice]) -> list[Needed]:
    """Executables of these programs, each once."""
    return list(dict.fromkeys(needed for each in chosen for needed in each.needs))


def all_needs() -> list[Needed]:
    """Executables of everything that is registered, each once."""
    every: tuple[type[Load] | type[Service], ...] = (*services().values(), *loads().values())
    return list(dict.fromkeys(needed for each in every for needed in each.needs))


def sharing(workloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, type[Service], str, Any]]:
    """Kind, service, its host and the workload, for every workload that uses a service."""
    for kind, raw in workloads:
        if facts_of(kind).live_load is None:
            continue
        chosen = choice(kind, raw)
        host = chosen.load.server_of(raw)
        if chosen.service is not None and host is not None:
            yield kind, chosen.service, host, raw
