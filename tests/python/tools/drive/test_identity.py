"""What drives say of themselves. The values are those of real drives, as other projects recorded
them."""

from pathlib import Path
from typing import Any

import pytest

from tailrace.tools.drive import identity
from tailrace.tools.drive.identity import Identity, identity_of, merged
from tailrace.tools.drive.link import link_of, pcie_bytes_per_s

# A SATA disk (HUH721010ALE600) by smartctl 7.3.
DISK: dict[str, Any] = {
    "device": {"name": "/dev/sda", "protocol": "ATA"},
    "model_name": "HUH721010ALE600",
    "firmware_version": "T3C0",
    "rotation_rate": 7200,
    "sata_version": {"string": "SATA 3.2", "value": 255},
    "interface_speed": {
        "max": {
            "sata_value": 14,
            "string": "6.0 Gb/s",
            "units_per_second": 60,
            "bits_per_unit": 100000000,
        },
        "current": {
            "sata_value": 3,
            "string": "6.0 Gb/s",
            "units_per_second": 60,
            "bits_per_unit": 100000000,
        },
    },
}
# A SATA disk (WDC WD80EFZZ) whose port gives half of its rate.
SLOWED: dict[str, Any] = {
    "model_name": "WDC WD80EFZZ-68BTXN0",
    "interface_speed": {
        "max": {"string": "6.0 Gb/s", "units_per_second": 60, "bits_per_unit": 100000000},
        "current": {"string": "3.0 Gb/s", "units_per_second": 30, "bits_per_unit": 100000000},
    },
}
# An NVMe drive (PM983) by nvme-cli.
CONTROLLER: dict[str, Any] = {
    "mn": "SAMSUNG MZ1LB3T8HMLA-00007  ",
    "fr": "EDB7602Q",
    "mdts": 9,
    "ver": 0x10200,
}


def test_smartctl_tells_model_motor_and_link() -> None:
    found = merged(DISK, {})
    assert (found.model, found.firmware, found.rotation_rpm) == ("HUH721010ALE600", "T3C0", 7200)
    assert (found.interface, found.link_bits_per_s, found.link_most_bits_per_s) == (
        "SATA 3.2",
        6 * 10**9,
        6 * 10**9,
    )
    assert found.told_by == ("smartctl",)


def test_a_link_below_what_the_drive_can_is_seen() -> None:
    found = merged(SLOWED, {})
    assert (found.link_bits_per_s, found.link_most_bits_per_s) == (3 * 10**9, 6 * 10**9)


def test_nvme_tells_the_largest_transfer_and_its_version() -> None:
    found = merged({}, CONTROLLER)
    assert (found.model, found.firmware, found.interface) == (
        "SAMSUNG MZ1LB3T8HMLA-00007",
        "EDB7602Q",
        "NVMe 1.2",
    )
    assert found.transfer_bytes == 2 * 2**20, "2^9 pages of 4 KiB"
    assert merged({}, CONTROLLER | {"mdts": 0}).transfer_bytes is None, "no limit"


@pytest.mark.parametrize(
    "told", [{}, {"model_name": 7, "interface_speed": "fast", "rotation_rate": True}, {"mdts": -1}]
)
def test_what_is_not_told_is_none(told: dict[str, Any]) -> None:
    assert merged(told, told) == Identity(told_by=("nvme",) if told else ())


@pytest.mark.parametrize(
    "script", ["echo '[1]'", "echo nonsense", "exit 3", 'echo \'{"model_name": "X"}\'']
)
def test_a_program_that_answers_otherwise_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    program = tmp_path / "smartctl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = identity_of(Path("/dev/null"), is_nvme=False)
    assert found == (
        Identity(model="X", told_by=("smartctl",)) if "model_name" in script else Identity()
    )


def test_without_the_programs_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "path_of", lambda _: None)
    assert identity_of(Path("/dev/null"), is_nvme=True) == Identity()


def made(folder: Path, files: dict[str, str]) -> Path:
    """Files of the kernel's tree."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    return folder


def test_a_sata_link_carries_eight_bits_of_ten(tmp_path: Path) -> None:
    sys = made(
        tmp_path,
        {
            "class/ata_link/link3/sata_spd": "3.0 Gbps",
            "class/ata_link/link3/hw_sata_spd_limit": "6.0 Gbps",
        },
    )
    found = link_of(sys / "devices" / "pci0" / "ata3" / "host2" / "block" / "sda", sys)
    assert found is not None
    assert (found.bytes_per_s, found.most_bytes_per_s, found.is_slowed) == (300e6, 600e6, True)


def test_an_nvme_link_is_that_of_its_function(tmp_path: Path) -> None:
    function = "devices/pci0000:00/0000:01:00.0"
    speeds = {"current_link_speed": "8.0 GT/s PCIe", "current_link_width": "4", "max_link_speed": "16.0 GT/s PCIe",  # noqa: E501
              "max_link_width": "4"}  # fmt: skip
    sys = made(tmp_path, {f"{function}/{name}": text for name, text in speeds.items()})
    found = link_of(sys / function / "nvme" / "nvme0" / "nvme0n1", sys)
    assert found is not None
    assert found.bytes_per_s == pytest.approx(3938.5e6, rel=1e-4)
    assert found.is_slowed
    assert pcie_bytes_per_s(2.5, 1) == 250e6
    assert pcie_bytes_per_s(64.0, 4) == pytest.approx(30.25e9)


def test_usb_comes_before_what_lies_behind_it_and_virtio_has_no_link(tmp_path: Path) -> None:
    sys = made(
        tmp_path, {"devices/usb2/2-1/speed": "5000", "class/ata_link/link1/sata_spd": "6.0 Gbps"}
    )
    found = link_of(sys / "devices" / "usb2" / "2-1" / "ata1" / "block" / "sdb", sys)
    assert found is not None
    assert (found.kind, found.bytes_per_s) == ("USB", 500e6)
    assert link_of(sys / "devices" / "virtio1" / "block" / "vda", sys) is None
    assert link_of(sys / "devices" / "ata9" / "block" / "sda", sys) is None
