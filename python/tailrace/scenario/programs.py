"""The programs that a scenario can choose for its live runs: load generators, and the services that
they use.

This is the only list of names. `tailrace.live.programs` has a module for each program; a test
compares the two. The simulator ignores the choice.
"""

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticKnownError

LOADS: dict[str, tuple[str, ...]] = {
    "transactions": ("pgbench", "hammerdb", "sysbench"),
    "tcp-stream": ("iperf3",),
    "udp-datagrams": ("iperf3",),
    "raw-frames": ("blast",),
    "block-exchange": ("tailrace-traffic",),
    "recorded-requests": ("tailrace-traffic",),
    "block-storage": ("fio",),
    "mpi-job": ("mpi4py", "netpipe", "hpcc"),
    "request-response": ("wrk", "redis-benchmark", "dnsperf", "perf-test"),
}
"""Names of the programs for each sort of load, the default first."""
SERVICES: dict[str, tuple[str, ...]] = {
    "transactions": ("postgresql", "mariadb", "galera"),
    "block-storage": ("tgt", "nbdkit"),
    "request-response": ("nginx", "redis-server", "knot", "rabbitmq"),
}
"""Names of the services that loads of each sort can use, the default first."""
MYSQL_SERVICES = ("mariadb", "galera")
"""Services that speak MySQL's protocol."""
LIVE_ONLY = {
    "galera": "replication between databases is not modelled, and the "
    "servers do not start in a guest"
}
"""Services that only live runs have, and why."""
SERVICE_KEY = "database"
"""Key of a workload with the name of a service; omitted for the default."""
PRESET_KEY = "preset"
"""Key of a workload of requests with the name of a common service."""
PRESET_LOADS = {
    "redis": "redis-benchmark",
    "dns": "dnsperf",
    "mq-publish": "perf-test",
    "mq-confirm": "perf-test",
    "mq-consume": "perf-test",
}
"""Loads of presets that the default load does not generate."""
LOAD_PRESETS = {load: preset for preset, load in reversed(PRESET_LOADS.items())}
"""By program, the first preset that it generates."""
CHOICE_KEY = "load_generator"
"""Key of a workload with the name of a program; omitted for the default."""


def usual_load(sort: str, preset: str | None = None) -> str:
    """The load of a workload that names none."""
    return PRESET_LOADS.get(preset or "", LOADS[sort][0])


def one_of(names: dict[str, tuple[str, ...]], sort: str) -> AfterValidator:
    """Rejects a name that `names` (`LOADS` or `SERVICES`) does not list for this sort, with the
    error of other choices.
    """

    def known(name: str) -> str:
        if name not in names[sort]:
            expected = ", ".join(f"'{each}'" for each in names[sort])
            raise PydanticKnownError("literal_error", {"expected": expected})
        return name

    return AfterValidator(known)


def choices_of(names: dict[str, tuple[str, ...]], sort: str) -> WithJsonSchema:
    """The names of this sort, in the JSON schema."""
    return WithJsonSchema({"type": "string", "enum": list(names[sort])})
