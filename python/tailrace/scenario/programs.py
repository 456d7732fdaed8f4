"""The programs that a scenario can choose for its live runs: loads, and the services that they ask.

This is the one list of names. What each program is stands in `tailrace.live.programs`, a module each; a test compares
the two. The simulator does not look at the choice.
"""

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticKnownError

LOADS: dict[str, tuple[str, ...]] = {
    "transactions": ("pgbench", "hammerdb"),
    "tcp-stream": ("iperf3",),
    "udp-datagrams": ("iperf3",),
}
"""Names of the programs of each sort of load, the usual one first."""
SERVICES: dict[str, tuple[str, ...]] = {"transactions": ("postgresql",)}
"""Names of the services that loads of each sort can ask, the usual one first."""
SERVICE_KEY = "database"
"""Key of a workload with the name of a service; left out for the usual one."""
CHOICE_KEY = "load_generator"
"""Key of a workload with the name of a program; left out for the usual one."""


def one_of(names: dict[str, tuple[str, ...]], sort: str) -> AfterValidator:
    """Refuses a name that `names` (`LOADS` or `SERVICES`) does not list for this sort, as every choice is refused."""

    def known(name: str) -> str:
        if name not in names[sort]:
            expected = ", ".join(f"'{each}'" for each in names[sort])
            raise PydanticKnownError("literal_error", {"expected": expected})
        return name

    return AfterValidator(known)


def choices_of(names: dict[str, tuple[str, ...]], sort: str) -> WithJsonSchema:
    """The names of this sort, in the JSON schema."""
    return WithJsonSchema({"type": "string", "enum": list(names[sort])})
