"""The link between a drive and this machine: the rate that was negotiated, and the most that both
ends could have."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MBIT, GBIT = 1e6, 1e9
PCIE_128B_FROM_GT, PCIE_FLIT_FROM_GT = 8.0, 64.0
"""PCI Express codes 8 bits as 10 below 8 GT/s, 128 as 130 from there on, and frames of 242 bytes in
256 from 64 GT/s on (PCI Express base specification, revisions 3.0 and 6.0)."""
USB_GEN2_FROM_MBIT = 10_000.0
"""USB codes 8 bits as 10 at 5 Gbit/s, and 128 as 132 from 10 Gbit/s on (USB 3.2, section 6.3.1)."""


@dataclass(frozen=True)
class Link:
    """A link to a drive."""

    kind: str
    bytes_per_s: float
    """Least upper bound of data: the rate of the line without its code. Headers of frames lower it
    by some percent."""
    text: str
    """Rate and width, for people."""
    most_bytes_per_s: float | None = None
    """What both ends could have had; None where the kernel does not tell."""

    @property
    def is_slowed(self) -> bool:
        """Whether less was negotiated than both ends can."""
        return self.most_bytes_per_s is not None and self.bytes_per_s < 0.99 * self.most_bytes_per_s


def link_of(whole: Path, sys: Path = Path("/sys")) -> Link | None:
    """The link of the drive with this folder in the tree of devices; None where it has none, or the
    kernel tells none.

    A virtual machine's disk (virtio) has no link of its own: that of its PCI function says nothing
    about the disk.
    """
    makers: dict[str, Callable[[], Link | None]] = {
        "usb": lambda: _usb(whole),
        "ata": lambda: _sata(whole, sys),
        "nvme": lambda: _pcie(whole),
    }
    # A drive behind USB may be one of SATA or NVMe, and is told of as one of USB.
    return next(
        (
            make()
            for name, make in makers.items()
            if any(part.startswith(name) for part in whole.parts)
        ),
        None,
    )


def _sata(whole: Path, sys: Path) -> Link | None:
    port = next(
        (found[1] for part in whole.parts if (found := re.fullmatch(r"ata(\d+)", part))), None
    )
    place = sys / "class" / "ata_link" / f"link{port}"
    rate, most = _gbit(place / "sata_spd"), _gbit(place / "hw_sata_spd_limit")
    if rate is None:
        return None
    return Link("SATA", _coded_10(rate), f"SATA, {rate / GBIT:g} Gbit/s", most and _coded_10(most))


def _gbit(path: Path) -> float | None:
    """`6.0 Gbps` in bit/s."""
    found = re.match(r"(\d+(?:\.\d+)?) Gbps", _text(path))
    return float(found[1]) * GBIT if found else None


def _coded_10(bits_per_s: float) -> float:
    """SATA codes 8 bits as 10 (Serial ATA 3, section 7)."""
    return bits_per_s * 0.8 / 8


def _pcie(whole: Path) -> Link | None:
    for place in whole.parents:
        rate, width = _gt(place / "current_link_speed"), _text(place / "current_link_width")
        if rate is not None and width.isdecimal():
            most_rate, most_width = _gt(place / "max_link_speed"), _text(place / "max_link_width")
            most = (
                pcie_bytes_per_s(most_rate, int(most_width))
                if most_rate and most_width.isdecimal()
                else None
            )
            text = f"PCI Express, {rate:g} GT/s, {width} lanes"
            return Link("PCI Express", pcie_bytes_per_s(rate, int(width)), text, most)
    return None


def _gt(path: Path) -> float | None:
    """`8.0 GT/s PCIe` in GT/s."""
    found = re.match(r"(\d+(?:\.\d+)?) GT/s", _text(path))
    return float(found[1]) if found else None


def pcie_bytes_per_s(gt_per_s: float, lanes: int) -> float:
    """Data of a link of PCI Express, without its code."""
    code = (
        0.8
        if gt_per_s < PCIE_128B_FROM_GT
        else 242 / 256
        if gt_per_s >= PCIE_FLIT_FROM_GT
        else 128 / 130
    )
    return gt_per_s * 1e9 * code / 8 * lanes


def _usb(whole: Path) -> Link | None:
    for place in whole.parents:
        speed = _text(place / "speed")
        if speed and speed.replace(".", "", 1).isdecimal():
            mbit = float(speed)
            code = 1.0 if mbit < 5_000 else 0.8 if mbit < USB_GEN2_FROM_MBIT else 128 / 132
            return Link("USB", mbit * MBIT * code / 8, f"USB, {mbit:g} Mbit/s")
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
