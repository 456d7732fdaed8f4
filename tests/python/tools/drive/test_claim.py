"""Writing is refused wherever a drive is in use, and what is lost otherwise is named; nothing is
written by either."""

import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loop_device import loop_device
from tailrace.cli.app import app
from tailrace.errors import RunRefusedError
from tailrace.tools.drive.claim import claimed, lost_by_writing, types_in
from tailrace.tools.drive.drive import Drive, Limits, drive_of

LIMIT_S = 30
MIB = 2**20


def run(*words: str, stdin: str = "") -> None:
    """A command that must succeed."""
    subprocess.run(words, input=stdin, text=True, capture_output=True, timeout=LIMIT_S, check=True)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device of 16 MiB without any signature."""
    with loop_device(tmp_path) as device:
        yield device


def refused(device: str, typed: str | None = None) -> str:
    """What is said, and the data are as before."""
    before = Path(device).read_bytes()
    drive = drive_of(Path(device))
    with (
        pytest.raises(RunRefusedError) as caught,
        claimed(drive, drive.name if typed is None else typed),
    ):
        raise AssertionError("it was claimed")
    assert Path(device).read_bytes() == before
    return str(caught.value)


def lost(device: str) -> list[str]:
    """What is named before anything is written; the claim itself writes nothing."""
    before = Path(device).read_bytes()
    drive = drive_of(Path(device))
    with claimed(drive, drive.name) as named:
        assert Path(device).read_bytes() == before
    return [each.removeprefix(f"{drive.name}: ") for each in named]


def test_a_blank_drive_is_claimed_and_nobody_else_can_have_it_meanwhile(loop: str) -> None:
    assert lost(loop) == []
    with claimed(drive_of(Path(loop)), Path(loop).name), pytest.raises(OSError, match="busy"):
        os.close(os.open(loop, os.O_RDONLY | os.O_EXCL))
    with claimed(drive_of(Path(loop)), loop):
        pass


@pytest.mark.parametrize("typed", ["", "loop", "sda", "yes"])
def test_another_name_than_the_drives_is_refused(loop: str, typed: str) -> None:
    assert f"'{typed}' is not the name of {loop}" in refused(loop, typed)


def test_file_systems_and_swap_spaces_are_named_and_lost(loop: str) -> None:
    run("mkfs.ext4", "-q", "-F", loop)
    assert lost(loop) == ["ext4"]
    run("wipefs", "--all", loop)
    run("mkswap", loop)
    assert lost(loop) == ["swap"]


def test_a_signature_does_not_replace_the_name(loop: str) -> None:
    run("mkfs.ext4", "-q", "-F", loop)
    assert "'ext4' is not the name of" in refused(loop, "ext4")


def test_a_partition_table_is_named_and_lost(loop: str) -> None:
    # A device without partitions in use: loop devices do not read tables unless told to.
    head = bytearray(512)
    head[446:462] = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\0\0\0", 2048, 4096)
    head[510:] = b"\x55\xaa"
    with Path(loop).open("r+b") as device:
        device.write(head)
    assert lost(loop) == ["dos"]


def test_a_member_of_a_raid_is_named_and_lost(loop: str) -> None:
    # Superblock 1.2 of Linux (include/uapi/linux/raid/md_p.h): magic and version, and its own place
    # in sectors.
    block = bytearray(4096)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    struct.pack_into("<Q", block, 144, 8)
    whole = sum(struct.unpack("<64I", bytes(block[:256])))
    struct.pack_into("<I", block, 216, (whole & 0xFFFFFFFF) + (whole >> 32))
    with Path(loop).open("r+b") as device:
        device.seek(4096)
        device.write(block)
    assert lost(loop) == ["linux_raid_member"]


def test_a_mounted_drive_is_refused(loop: str, tmp_path: Path) -> None:
    run("mkfs.ext4", "-q", "-F", loop)
    place = tmp_path / "mounted"
    place.mkdir()
    run("mount", "-o", "ro,noload", loop, str(place))
    try:
        assert f"{Path(loop).name} is mounted at {place}" in refused(loop)
    finally:
        run("umount", str(place))


def test_a_drive_that_somebody_claims_is_refused(loop: str) -> None:
    descriptor = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        assert "it is in use" in refused(loop)
    finally:
        os.close(descriptor)


def fake(
    folder: Path, *, holders: tuple[str, ...] = (), partitions: tuple[str, ...] = (), swap: str = ""
) -> Drive:
    """A drive of the kernel's tree, with what lies on it."""
    whole = folder / "block" / "sdz"
    for name in (whole, *(whole / part for part in partitions)):
        name.mkdir(parents=True)
        (name / "dev").write_text("8:16\n" if name == whole else "8:17\n")
    for part in partitions:
        (whole / part / "partition").write_text("1\n")
    for holder in holders:
        (whole / "holders" / holder).mkdir(parents=True)
    (folder / "proc" / "self").mkdir(parents=True)
    (folder / "proc" / "self" / "mountinfo").write_text("22 1 8:99 / /srv rw - ext4 /dev/sdy rw\n")
    (folder / "proc" / "swaps").write_text(f"Filename Type Size Used Priority\n{swap}")
    limits = Limits(1, 1, 1, 1, 512, 512)
    return Drive("sdz", whole / "queue", whole / "stat", Path("/dev/sdz"), MIB, limits, {}, ())


@pytest.mark.parametrize(
    ("lies", "message"),
    [
        ({"holders": ("md0",)}, "md0 lies on sdz"),
        ({"holders": ("dm-1", "dm-0")}, "dm-0, dm-1 lies on sdz"),
        (
            {"partitions": ("sdz1",), "swap": "/dev/sdz1 partition 1 0 -2\n"},
            "sdz1 is swap space in use",
        ),
        ({"swap": "/dev/sdz partition 1 0 -2\n"}, "sdz is swap space in use"),
    ],
)
def test_what_lies_on_a_drive_is_refused(
    tmp_path: Path, lies: dict[str, object], message: str
) -> None:
    drive = fake(tmp_path, **lies)  # type: ignore[arg-type]  # the cases above
    with pytest.raises(RunRefusedError) as caught:
        lost_by_writing(drive, "sdz", tmp_path)
    assert message in str(caught.value)
    assert "/dev/sdz is not written to" in str(caught.value)


def test_a_mounted_partition_refuses_the_whole_drive(tmp_path: Path) -> None:
    drive = fake(tmp_path, partitions=("sdz1",))
    (tmp_path / "proc" / "self" / "mountinfo").write_text(
        "22 1 8:17 / /srv/data rw - ext4 /dev/sdz1 rw\n"
    )
    with pytest.raises(RunRefusedError, match="sdz1 is mounted at /srv/data"):
        lost_by_writing(drive, "sdz", tmp_path)


def test_partitions_that_are_not_in_use_are_named_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = fake(tmp_path, partitions=("sdz1", "sdz2"))
    types = {"/dev/sdz": ["gpt"], "/dev/sdz1": ["ext4"], "/dev/sdz2": []}
    monkeypatch.setattr("tailrace.tools.drive.claim.signatures", lambda device: types[str(device)])
    assert lost_by_writing(drive, "sdz", tmp_path) == [
        "sdz: gpt",
        "sdz1: ext4",
        "sdz2: a partition",
    ]


def test_what_wipefs_tells() -> None:
    assert types_in("") == types_in('{"signatures": []}') == []
    told = '{"signatures": [{"type": "LVM2_member"}, {"type": "gpt"}, {"type": "gpt"}]}'
    assert types_in(told) == ["LVM2_member", "gpt"]
    for nonsense in ("{", "[]", '{"signatures": 7}', '{"signatures": [1]}'):
        with pytest.raises(RunRefusedError, match="is not understood, and nothing is written"):
            types_in(nonsense)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--precondition"],
            "--precondition writes to the whole drive (hint: it needs --destroy-data",
        ),
        (["--duration", "1s"], "--duration: 1s is not between 2s and 1h"),
        (["--duration", "10"], "--duration: "),
        (["--repeats", "0"], "--repeats: 0 is not between 1 and 100"),
        (["--depth", "5000"], "--depth: 5000 is not between 1 and 4096"),
        (
            ["--spec", "samsung-850-evo"],
            "there is no specification 'samsung-850-evo' (hint: did you mean",
        ),
        (["--spec", "./none.yaml"], "--spec: none.yaml: the file does not exist"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.tools.drive.load_run.require", lambda: None)
    done = CliRunner().invoke(app, ["measure", "drive", "/dev/null", *words])
    assert isinstance(done.exception, RunRefusedError), done.output
    assert message in str(done.exception)


@pytest.mark.parametrize(
    ("path", "message"),
    [(__file__, "is a file, and its file system would be measured"), ("/dev/null", "neither")],
)
def test_only_block_devices_are_measured(
    path: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.tools.drive.load_run.require", lambda: None)
    done = CliRunner().invoke(app, ["measure", "drive", path])
    assert isinstance(done.exception, RunRefusedError), done.output
    if "on no block device" not in str(done.exception):
        assert message in str(done.exception)
