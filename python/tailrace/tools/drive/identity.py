"""What a drive says of itself, by `smartctl -i -j` (smartmontools) and `nvme id-ctrl -o json`
(nvme-cli)."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.programs.needed import Needed, path_of

SMARTCTL = Needed("smartctl", "smartmontools", "--version", "the model of a drive in `disk`")
NVME = Needed("nvme", "nvme-cli", "version", "the largest transfer of an NVMe drive in `disk`")
ASK_LIMIT_S = 20.0
"""A disk that sleeps takes up to ten seconds to turn; it is not woken (`-n standby`), but may not
answer at once."""
PAGE_BYTES = 4096
"""Unit of MDTS: the controller's smallest page, which is 4 KiB wherever the Linux driver has no
other."""


@dataclass(frozen=True)
class Identity:
    """Facts from the drive; None for what it, or its programs, do not tell."""

    model: str | None = None
    family: str | None = None
    firmware: str | None = None
    rotation_rpm: int | None = None
    """0 for a drive without a motor."""
    interface: str | None = None
    """Version of the standard: `SATA 3.2`, `NVMe 1.3`."""
    link_bits_per_s: int | None = None
    link_most_bits_per_s: int | None = None
    """The largest that the drive can do."""
    transfer_bytes: int | None = None
    """Largest transfer (MDTS of NVMe)."""
    controller_model: str | None = None
    told_by: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"told_by": list(self.told_by)}


def identity_of(device: Path, *, is_nvme: bool) -> Identity:
    """Asks the drive. Nothing is written, and a disk that sleeps is not woken."""
    smart, control, place = (
        {},
        {},
        str(device.absolute()),
    )  # a name that begins with a dash is no option
    if path_of(SMARTCTL) is not None:
        smart = _asked([SMARTCTL.program, "--info", "--json", "--nocheck=standby", place])
    if is_nvme and path_of(NVME) is not None:
        control = _asked([NVME.program, "id-ctrl", place, "--output-format=json"])
    return merged(smart, control)


def merged(smart: Mapping[str, Any], control: Mapping[str, Any]) -> Identity:
    """Facts of both programs; the standard of an NVMe drive and its largest transfer come from its
    controller."""
    told = tuple(
        name
        for name, found in (
            (SMARTCTL.program, _word(smart.get("model_name"))),
            (NVME.program, control),
        )
        if found
    )
    speeds = _mapping(smart.get("interface_speed"))
    transfer = control.get("mdts")
    return Identity(
        model=_word(smart.get("model_name"))
        or _word(control.get("mn"))
        or _word(smart.get("scsi_model_name")),
        family=_word(smart.get("model_family")),
        firmware=_word(smart.get("firmware_version")) or _word(control.get("fr")),
        rotation_rpm=_whole(smart.get("rotation_rate")),
        interface=_nvme_version(control)
        or _word(_mapping(smart.get("sata_version")).get("string"))
        or _smart_nvme(smart),
        link_bits_per_s=_speed(_mapping(speeds.get("current"))),
        link_most_bits_per_s=_speed(_mapping(speeds.get("max"))),
        # Zero is no limit (NVM Express base specification, identify controller).
        transfer_bytes=(1 << transfer) * PAGE_BYTES
        if isinstance(transfer, int) and 0 < transfer < 32
        else None,
        controller_model=_word(control.get("mn")),
        told_by=told,
    )


def _nvme_version(control: Mapping[str, Any]) -> str | None:
    """`NVMe 1.3` of 0x10300."""
    version = control.get("ver")
    return (
        f"NVMe {version >> 16}.{version >> 8 & 255}"
        if isinstance(version, int) and version
        else None
    )


def _smart_nvme(smart: Mapping[str, Any]) -> str | None:
    version = _word(_mapping(smart.get("nvme_version")).get("string"))
    return f"NVMe {version}" if version else None


def _speed(found: Mapping[str, Any]) -> int | None:
    units, bits = _whole(found.get("units_per_second")), _whole(found.get("bits_per_unit"))
    return units * bits if units and bits else None


def _asked(words: Sequence[str]) -> dict[str, Any]:
    """The JSON that a program prints; empty where it fails, hangs, or prints something else."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_LIMIT_S,
            check=False,
        )
        found = json.loads(done.stdout)
    except (OSError, ValueError, RecursionError, subprocess.TimeoutExpired):
        return {}
    return found if isinstance(found, dict) else {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _word(value: object) -> str | None:
    return " ".join(value.split()) or None if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
