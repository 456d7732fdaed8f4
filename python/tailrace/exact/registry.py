"""The real programs of exact runs: those of the modules of `tailrace.exact.programs`."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tailrace.exact import programs
from tailrace.exact.load import GuestLoad
from tailrace.scenario.programs import CHOICE_KEY, PRESET_KEY, SERVICE_KEY, usual_load
from tailrace.scenario.workloads.kinds import facts_of

ALWAYS_REAL = frozenset({"block-storage"})
"""Sorts that the traffic program cannot generate: a real program always does."""


@cache
def loads() -> Mapping[tuple[str, str], type[GuestLoad]]:
    """Every load, by its sort and its name."""
    return {(each.sort, each.load_name): each for each in _defined()}


def _defined() -> Iterator[type[GuestLoad]]:
    for found in pkgutil.iter_modules(programs.__path__, f"{programs.__name__}."):
        for each in vars(importlib.import_module(found.name)).values():
            if (
                isinstance(each, type)
                and issubclass(each, GuestLoad)
                and each.__module__ == found.name
            ):
                yield each


def chosen(kind: str, raw: Mapping[str, Any]) -> tuple[str, str] | None:
    """Sort and name of the program that a workload of a plan names; None where it names none, and
    the traffic program takes part."""
    sort = facts_of(kind).live_load
    if sort is None or not (sort in ALWAYS_REAL or {CHOICE_KEY, SERVICE_KEY} & raw.keys()):
        return None
    return sort, str(raw.get(CHOICE_KEY) or usual_load(sort, raw.get(PRESET_KEY)))


def named(sort: str) -> list[str]:
    """Names of the programs of a sort that exact runs have."""
    return sorted(name for own, name in loads() if own == sort)
