"""The list of kinds. A new kind is a module in this package, and a line here."""

from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from tailrace.errors import TailraceError, closest
from tailrace.scenario.text.quantities import kind_name
from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.blocks import Blocks
from tailrace.scenario.workloads.datagrams import Datagrams
from tailrace.scenario.workloads.facts import Facts
from tailrace.scenario.workloads.flows import Flows
from tailrace.scenario.workloads.frames import Frames
from tailrace.scenario.workloads.mpi import Mpi
from tailrace.scenario.workloads.oltp import Oltp
from tailrace.scenario.workloads.replay import Replay
from tailrace.scenario.workloads.requests import Requests
from tailrace.scenario.workloads.storage import Storage
from tailrace.scenario.workloads.stream import Stream


def _registered(*kinds: type[WorkloadKind]) -> dict[str, type[WorkloadKind]]:
    """Kinds by the name in scenarios, plans and results. mypy rejects a class that lacks a
    method."""
    return {kind_name(kind): kind for kind in kinds}


KINDS = _registered(
    Oltp,
    Stream,
    Flows,
    Datagrams,
    Frames,
    Requests,
    Blocks,
    Storage,
    Mpi,
    Replay,
)
"""Kinds by name."""

if TYPE_CHECKING:
    Workload = WorkloadKind
    """The type checker sees only the base class; code outside the modules of kinds needs no
    more."""
else:
    Workload = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]


class UnknownKindError(TailraceError):
    """A plan or a result contains a workload of a kind that this version does not have."""


def kind_named(name: str) -> type[WorkloadKind]:
    """The kind of this name; raises `UnknownKindError` for an unknown name."""
    if name not in KINDS:
        raise UnknownKindError(
            f"there is no kind of workload '{name}' ({closest(name, list(KINDS), 'kinds')})"
        )
    return KINDS[name]


@cache
def facts_of(name: str) -> Facts:
    """Facts about the kind of this name; raises `UnknownKindError` for an unknown name."""
    return kind_named(name).facts()
