"""A device of scenarios that has the rates of a specification."""

from math import ceil

from tailrace.scenario.text.yaml import yaml_comment
from tailrace.tools.drive.specification import MB, Specification, Value

DISK, SSD, NVME = "disk-7200", "sata-ssd", "nvme"
KIB4 = 4096
US_PER_S = 1e6
SERVERS = {SSD: 10, NVME: 33}
"""Those of the presets, where the sheet has no rate at a depth of 1."""


def as_device(specification: Specification, name: str) -> str:
    """A section `devices` in YAML: a preset with the rates of the sheet. What the sheet lacks stays
    that of the preset.

    With a rate at a depth of 1 (x1) and one at a larger depth (x), the drive has x / x1 servers,
    each of which takes their number over x: the two rates are met.
    """
    preset = _preset(specification)
    rows = [f"preset: {preset}"]
    rows += [
        f"{operation}_rate: {value.rate / MB:g}MB/s"
        for operation in ("read", "write")
        if (value := _rate(specification, operation)) is not None and value.rate
    ]
    if preset != DISK:
        rows += _latencies(specification, SERVERS[preset])
    body = "\n".join(f"    {row}" for row in rows)
    comment = yaml_comment(f"{specification.title}: {specification.source.document}")
    return f"{comment}\ndevices:\n  {name}:\n{body}\n"


def _preset(specification: Specification) -> str:
    if specification.is_rotational:
        return DISK
    return NVME if specification.interface == "nvme" else SSD


def _latencies(specification: Specification, servers: int) -> list[str]:
    deep, single = _iops(specification, "read", deep=True), _iops(specification, "read", deep=False)
    if deep and single:
        servers = ceil(deep / single)
    rows = [f"servers: {servers}"] if deep else []
    for operation in ("read", "write"):
        if (most := _iops(specification, operation, deep=True)) is not None:
            rows.append(f"{operation}_latency: {round(servers / most * US_PER_S * 1000)}ns")
    return rows


def _rate(specification: Specification, operation: str) -> Value | None:
    return next(
        (value for value in specification.values if value.operation == operation and value.rate),
        None,
    )


def _iops(specification: Specification, operation: str, *, deep: bool) -> int | None:
    """Requests of 4 KiB at a depth above one, or of one; a sheet without depths means a deep
    queue."""
    found = [
        value.iops
        for value in specification.values
        if value.operation == operation
        and value.iops
        and (value.block or KIB4) == KIB4
        and (value.depth == 1) is not deep
    ]
    return max(found, default=None)
