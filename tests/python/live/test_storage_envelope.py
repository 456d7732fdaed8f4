"""Devices with an envelope: their limits, what the machine has to reach, what is refused; and
shared devices."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from storage_of import planned, refusals, work
from tailrace.live.storage import Backing
from tailrace.live.trial.validity import reasons
from tailrace.outcome.types import DiskRates, Outcome
from tailrace.programs import envelope, fio, pattern
from tailrace.programs.command import Command
from tailrace.programs.envelope import Envelope
from tailrace.programs.errors import ProgramError
from tailrace.scenario.live import Live
from whole import part

US_PS = 10**6
SSD = {
    "name": "sata-ssd",
    "servers": 10,
    "read_latency": {"constant": 100 * US_PS},
    "write_latency": {"exponential": {"mean": 200 * US_PS}},
    "read_bps": 540_000_000 * 8,
    "write_bps": 520_000_000 * 8,
}
LIMITS = Envelope(540_000_000, 520_000_000, 100_000, 50_000)


class FakeLab:
    """A lab that notes commands and answers checks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scratch = str(folder / "scratch")
        self.commands: list[Command] = []

    def run(self, command: Command, limit_s: float) -> str:
        """Runs nothing but what makes folders."""
        self.commands.append(command)
        if command.argv[0] == "mkdir":
            Path(command.argv[-1]).mkdir(parents=True, exist_ok=True)
        return told(80_000, 60_000, 600e6, 500e6) if command.argv[0] == "fio" else "abc\n"


def told(reads: float, writes: float, read_bps: float, write_bps: float) -> str:
    """fio's report of a check."""
    values = {
        "read_iops": reads,
        "write_iops": writes,
        "read_bps": read_bps,
        "write_bps": write_bps,
    }
    rows = []
    for key, value in values.items():
        op, figure = key.split("_")
        own = {"iops": value, "bw_bytes": 0} if figure == "iops" else {"iops": 0, "bw_bytes": value}
        rows.append({"jobname": key, op: own})
    return "fio: a line before\n" + json.dumps({"jobs": rows})


def test_an_envelope_has_both_rates_and_what_all_servers_do() -> None:
    assert Envelope.of(SSD) == LIMITS
    assert Envelope.of(SSD | {"name": "memory"}) is None
    endless = Envelope.of(SSD | {"read_latency": {"constant": 0}})
    assert endless is not None
    assert endless.read_iops == envelope.IOPS_MAX


def test_what_a_disk_does_without_limits_is_read_and_compared() -> None:
    measured = envelope.read_check(told(80_000, 60_000, 600e6, 500e6))
    assert measured == DiskRates(
        read_iops=80_000, write_iops=60_000, read_bps=600e6, write_bps=500e6
    )
    backing = {
        "device": "sata-ssd",
        "host": "san",
        "envelope": vars(LIMITS),
        "measured": structs.asdict(measured),
    }

    def outcome() -> Outcome:
        return part(Outcome, fabric={}, live={}, workloads=[{"name": "disk", "backing": [backing]}])

    before = "the disk of disk on san is too slow: without limits it "
    assert reasons(outcome(), Live()) == [
        f"{before}writes 500,000,000 B/s, and the device 'sata-ssd' has 520,000,000",
        f"{before}reads 80,000 requests/s, and the device 'sata-ssd' has 100,000",
    ]
    backing["measured"] = dict.fromkeys(measured.__struct_fields__, 1e9)
    assert reasons(outcome(), Live()) == []
    with pytest.raises(ProgramError, match="did not report what the disk does"):
        envelope.read_check('{"jobs": []}')


def test_a_file_in_memory_is_on_no_disk_and_others_name_a_whole_one(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="no disk whose rate could be limited"):
        envelope.disk_of(Path("/proc/self/status"))
    if os.major(tmp_path.stat().st_dev):
        number = envelope.disk_of(tmp_path)
        assert (envelope.DEVICES / number).exists()
        assert not (envelope.DEVICES / number / "partition").exists()


def test_workloads_of_one_device_have_one_file_which_holds_both_areas(tmp_path: Path) -> None:
    lab: Any = FakeLab(tmp_path)
    backing = Backing(
        lab,
        "san",
        [work(), work(name="log", offset_bytes=64 << 20), work(name="x", device="other")],
    )
    assert backing.paths == {
        name: f"{lab.scratch}/devices-san/{name}" for name in ("memory", "other")
    }
    assert backing.write() == {"memory": "abc", "other": "abc"}
    assert [command.argv[-1] for command in lab.commands[1:]] == [str(128 << 20), str(64 << 20)]
    assert (backing.limits("memory"), backing.disks) == (None, {})
    assert backing.report.startswith("memory: written and verified in ")


def test_a_device_with_an_envelope_is_checked_on_the_disk_and_limits_its_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.live.storage.disk_of", lambda _: "254:0")
    lab: Any = FakeLab(tmp_path)
    backing = Backing(lab, "san", [work(device="sata-ssd", device_values=SSD)])
    backing.write()
    assert backing.paths["sata-ssd"] == str(tmp_path.absolute() / "devices" / "san" / "sata-ssd")
    assert [command.argv[0] for command in lab.commands] == ["mkdir", "fio", sys.executable], (
        "the pattern comes last"
    )
    assert backing.disks["sata-ssd"].envelope == LIMITS.limits
    assert backing.limits("sata-ssd") == {
        "name": "disk-san-sata-ssd",
        "disk": "254:0",
        **vars(LIMITS),
    }


def test_damage_ends_the_program_that_writes_a_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "device")
    monkeypatch.setattr(sys, "argv", ["pattern.py", path, "4096"])
    assert pattern.main() == 0
    monkeypatch.setattr(pattern, "read", lambda *_: "other")
    assert pattern.main() == 1
    assert "has the checksum other, not " in capsys.readouterr().err


def test_an_area_begins_where_the_scenario_says() -> None:
    assert "offset=1048576" in fio.job_file(work(offset_bytes=1 << 20), "/d", 5).splitlines()
    assert not any(
        line.startswith("offset=") for line in fio.job_file(work(), "/d", 5).splitlines()
    )
    assert planned(offset="1MiB").offset_bytes == 1 << 20


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"device": "disk-7200"}, ".device: the times of 'disk-7200' depend on where its head is"),
        (
            {"device": "nvme", "protocol": "nbd", "target": "c"},
            ".device: nbdkit serves its files from the page cache",
        ),
        ({"size": "800MiB", "offset": "300MiB"}, ".size: the area does not end within the 1 GiB"),
        ({"device": "sata-ssd", "protocol": "iscsi", "target": "c"}, None),
    ],
)
def test_what_no_limit_imposes_is_refused(keys: dict[str, Any], what: str | None) -> None:
    found = refusals(**keys)
    assert (not found) if what is None else [one for one in found if one.startswith(what)]
