"""The names of the live engine that programs beside scenarios use: `tailrace.tools` imports from
this module alone."""

from collections.abc import Callable

from tailrace.live.lab import kinds
from tailrace.live.lab.clean import clean_before
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.fabric import program as fabric_program
from tailrace.live.lab.kinds import POLLING, Kind, kind_of
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.lab.standing import Standing, exec_words
from tailrace.live.lab.standing import chosen as standing_fabric
from tailrace.live.machine.doctor import require

__all__ = [
    "POLLING",
    "FabricError",
    "Kind",
    "Lab",
    "Program",
    "Standing",
    "exec_words",
    "fabric_program",
    "kind_of",
    "prepare_machine",
    "standing_fabric",
]


def prepare_machine(kind: Kind, say: Callable[[str], None]) -> None:
    """Removes the remains of a killed run; raises `RunRefusedError` if this machine lacks something
    that the fabric needs."""
    found = require()
    clean_before(say)
    kinds.require(kind, found)
