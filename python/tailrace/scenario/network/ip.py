"""Settings of the Internet layer of a host: how it puts datagrams together. Defaults: Linux 6.1."""

from typing import Annotated

from pydantic import Field

from tailrace.scenario.text.quantities import Count, Part, Size, Time, refuse_unless, within
from tailrace.scenario.text.units import SIZE

SECOND_PS = 10**12
HOUR_PS = 3600 * SECOND_PS
MEMORY_BYTES_MIN = 65_536
MEMORY_BYTES_MAX = 1 << 30
DISTANCE_MAX = 65_536

Timeout = Annotated[
    Time,
    refuse_unless(
        lambda time_ps: time_ps % SECOND_PS == 0 and SECOND_PS <= time_ps <= HOUR_PS,
        "the timeout of reassembly must be 1 to 3600 whole seconds, as in Linux (`ipfrag_time`)",
        "write a time such as 30s",
    ),
]


class Ip(Part):
    """Reassembly of datagrams that were sent in fragments; the defaults are Linux sysctls."""

    reassembly_timeout: Timeout = 30 * SECOND_PS
    """How long the fragments that have come wait for the others, in whole seconds; Linux
    `ipfrag_time`, 30s."""
    reassembly_memory: Annotated[
        Size, within(SIZE, least=MEMORY_BYTES_MIN, most=MEMORY_BYTES_MAX)
    ] = 4_194_304
    """Memory of incomplete datagrams above which every fragment is refused, 64KiB to 1GiB; Linux
    `ipfrag_high_thresh`, 4MiB.
    """
    reassembly_distance: Annotated[Count, Field(ge=0, le=DISTANCE_MAX)] = 64
    """A datagram is given up when a fragment of it comes after more than so many others of its
    source; 0 for never. Linux `ipfrag_max_dist`, 64.
    """
