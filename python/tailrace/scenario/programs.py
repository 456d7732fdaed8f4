"""The programs that a scenario can choose for its live runs, by the sort of load that they make.

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
CHOICE_KEY = "load_generator"
"""Key of a workload with the name of a program; left out for the usual one."""


def program_of(sort: str) -> AfterValidator:
    """Refuses a name that no program of this sort has, in the words for every other choice."""

    def known(name: str) -> str:
        if name not in LOADS[sort]:
            expected = ", ".join(f"'{each}'" for each in LOADS[sort])
            raise PydanticKnownError("literal_error", {"expected": expected})
        return name

    return AfterValidator(known)


def choices_of(sort: str) -> WithJsonSchema:
    """The names of this sort's programs, in the JSON schema."""
    return WithJsonSchema({"type": "string", "enum": list(LOADS[sort])})
