"""Which programs there are: every module below `tailrace.live.programs` registers what it defines."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from tailrace.live import programs
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.needed import Needed
from tailrace.live.load import Load, Task
from tailrace.live.service import Service
from tailrace.scenario.programs import CHOICE_KEY, LOADS
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
            is_own = isinstance(each, type) and issubclass(each, base) and each.__module__ == found.name
            if is_own and is_program(each):
                yield each


def is_program(each: type[Load] | type[Service]) -> bool:
    """Whether a class is a program and no common part of several; raises `TypeError` for an unfinished one.

    A program has a name of its own, answers every abstract method and states every fact that its base class asks for.
    """
    base, name = (Load, "load_name") if issubclass(each, Load) else (Service, "service_name")
    missing = sorted(getattr(each, "__abstractmethods__", ()))
    if missing and name not in vars(each):
        return False
    missing += [fact for fact in base.__annotations__ if not hasattr(each, fact)]
    if missing:
        raise TypeError(f"{each.__module__}.{each.__name__} lacks {', '.join(missing)}")
    return True


def load_class(kind: str, raw: Any) -> type[Load]:
    """The load of a workload of this kind, in the plan or in the scenario; raises `FabricError` where there is none."""
    sort = facts_of(kind).live_load
    if sort is None:
        raise FabricError(f"no program makes the load of a workload of kind {kind}")
    chosen = raw.get(CHOICE_KEY) if isinstance(raw, Mapping) else getattr(raw, CHOICE_KEY, None)
    name = chosen or LOADS[sort][0]
    found = loads().get((sort, name))
    if found is None:
        raise FabricError(f"no program '{name}' is registered for {sort} (hint: see python/tailrace/live/programs)")
    return found


def service_class(load: type[Load]) -> type[Service] | None:
    """The service that a load asks; None for a load that brings its own server."""
    return services()[load.services[0]] if load.services else None


def make_load(kind: str, task: Task) -> Load:
    """The load that does a task."""
    return load_class(kind, task.raw)(task)


def usual_service(sort: str) -> type[Service]:
    """The service of the usual load of a sort; raises `FabricError` where that brings its own server."""
    found = service_class(loads()[sort, LOADS[sort][0]])
    if found is None:
        raise FabricError(f"loads of the sort {sort} ask no service")
    return found


def needs_of(chosen: Iterable[type[Load]]) -> list[Needed]:
    """Programs of these loads and of the services that they ask, each once."""
    found = [needed for load in chosen for needed in (*load.needs, *_service_needs(load))]
    return list(dict.fromkeys(found))


def _service_needs(load: type[Load]) -> tuple[Needed, ...]:
    service = service_class(load)
    return service.needs if service else ()


def all_needs() -> list[Needed]:
    """Programs of everything that is registered, each once."""
    return list(
        dict.fromkeys([needed for one in services().values() for needed in one.needs] + needs_of(loads().values()))
    )


def sharing(workloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, type[Service], str, Any]]:
    """Kind, service, its host and the workload, for every workload that asks a service."""
    for kind, raw in workloads:
        if facts_of(kind).live_load is None:
            continue
        load = load_class(kind, raw)
        service = service_class(load)
        if service is not None and load.server_key is not None:
            host = raw[load.server_key] if isinstance(raw, Mapping) else getattr(raw, load.server_key)
            yield kind, service, str(host), raw
