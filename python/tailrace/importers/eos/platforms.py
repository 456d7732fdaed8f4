"""Sizes of buffer cells, by the model that the header of a configuration names."""

import re
from dataclasses import dataclass

HEADER = re.compile(r"^! device: \S+ \(((?:DCS-)?[\w-]+), EOS-", re.MULTILINE)
"""`! device: leaf1 (DCS-7060CX-32S-F, EOS-4.28.3M)`, as `show running-config` prints it."""
HEADER_CHARACTERS_MAX = 4000
"""Characters of a file in which the header is searched."""


@dataclass(frozen=True)
class Cell:
    """The unit in which an ASIC stores frames."""

    asic: str
    size_bytes: int


CELLS: tuple[tuple[str, Cell], ...] = (
    (r"DCS-7050QX", Cell("Trident2", 208)),
    (r"DCS-7050CX3", Cell("Trident3", 256)),
    (r"DCS-7060CX-", Cell("Tomahawk", 208)),
    (r"DCS-7260CX3", Cell("Tomahawk2", 208)),
    (r"DCS-7060DX5", Cell("Tomahawk4", 254)),
    (r"DCS-7060X6", Cell("Tomahawk5", 254)),
)
"""ASICs of models: sonic-net/sonic-mgmt, ansible/group_vars/sonic/variables (`broadcom_*_hwskus`).
Sizes: the same, tests/qos/files/qos_params.*.yaml (`cell_size`); Tomahawk4: facebook/fboss,
Tomahawk4Asic.h (`getMMUCellSize`).
"""


def cell_of(text: str) -> Cell | None:
    """The cell of the model in the header of a configuration; None for others."""
    found = HEADER.search(text[:HEADER_CHARACTERS_MAX])
    return next((cell for model, cell in CELLS if found and re.match(model, found[1])), None)
