"""Drives: how requests are split, what is read of the kernel, what is refused, and reads of this
machine's devices."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loop_device import loop_device, queue
from tailrace.cli.app import app
from tailrace.errors import RunRefusedError
from tailrace.tools.drive.drive import Limits, drive_of, limits_of
from tailrace.tools.drive.prove import Seen
from tailrace.tools.drive.report import Inspected
from tailrace.tools.drive.split import split

KIB, MIB = 2**10, 2**20
NVME = Limits(1280 * KIB, 2048 * KIB, 128, 4096 * MIB, 512, 512)
LOOP = Limits(1280 * KIB, 1280 * KIB, 128, 64 * KIB, 512, 512)


@pytest.mark.parametrize(
    ("limits", "size", "is_contiguous", "sizes", "key"),
    [
        (NVME, MIB, True, [MIB], None),
        # The post's drive: 128 segments of 4 KiB pages (CacheLib issue 302).
        (NVME, MIB, False, [512 * KIB] * 2, "max_segments"),
        (NVME, 512 * KIB, False, [512 * KIB], None),
        (replace(LOOP, max_sectors_bytes=512 * KIB), MIB, True, [512 * KIB] * 2, "max_sectors_kb"),
        (replace(LOOP, max_sectors_bytes=128 * KIB), MIB, False, [128 * KIB] * 8, "max_sectors_kb"),
        (
            replace(LOOP, max_sectors_bytes=384 * KIB),
            MIB,
            True,
            [384 * KIB] * 2 + [256 * KIB],
            "max_sectors_kb",
        ),
        (
            replace(LOOP, max_sectors_bytes=MIB, max_hw_sectors_bytes=256 * KIB),
            300 * KIB,
            True,
            [256 * KIB, 44 * KIB],
            "max_hw_sectors_kb",
        ),
        (replace(LOOP, chunk_bytes=64 * KIB), 128 * KIB, True, [64 * KIB] * 2, "chunk_sectors"),
        # What is cut ends at a whole physical block.
        (
            replace(LOOP, max_sectors_bytes=4608, physical_block_bytes=4096),
            8192,
            True,
            [4096] * 2,
            "max_sectors_kb",
        ),
    ],
)
def test_the_smallest_limit_splits(
    limits: Limits, size: int, is_contiguous: bool, sizes: list[int], key: str | None
) -> None:
    found = split(size, limits, is_contiguous=is_contiguous)
    assert (list(found.sizes), found.limit) == (sizes, key)
    assert sum(found.sizes) == size


def test_the_split_is_told_in_words() -> None:
    assert (
        split(MIB, replace(LOOP, max_sectors_bytes=384 * KIB), is_contiguous=True).text
        == "2 x 384 KiB + 1 x 256 KiB"
    )


@pytest.mark.parametrize(
    ("issued", "is_as_predicted"), [(63, False), (64, True), (100, True), (128, True), (129, False)]
)
def test_what_was_seen_lies_between_both_splits(
    tmp_path: Path, issued: int, is_as_predicted: bool
) -> None:
    drive = drive_of(tmp_path / "file", made(tmp_path))
    one_piece, apart = (split(MIB, NVME, is_contiguous=each) for each in (True, False))
    found = Inspected(drive, MIB, one_piece, apart, Seen(64, MIB, issued, 64 * MIB, 5))
    assert found.is_as_predicted is is_as_predicted
    assert ("NOT as predicted" in found.text()) is not is_as_predicted


def made(folder: Path) -> Path:
    """A file, and what the kernel would tell of its device."""
    (folder / "file").write_bytes(bytes(8192))
    number = (folder / "file").stat().st_dev
    sys = folder / "sys"
    whole = sys / "devices" / "virtio1" / "block" / "vdz"
    (whole / "vdz1").mkdir(parents=True)
    (whole / "queue").mkdir()
    (whole / "size").write_text("1000")
    (sys / "dev" / "block").mkdir(parents=True)
    (sys / "dev" / "block" / f"{os.major(number)}:{os.minor(number)}").symlink_to(whole / "vdz1")
    values = {"max_sectors_kb": 1280, "max_hw_sectors_kb": 2048, "max_segments": 128, "max_segment_size": 65_536,  # noqa: E501
              "logical_block_size": 512, "physical_block_size": 4096, "scheduler": "none [mq-deadline]",  # noqa: E501
              "rotational": 1}  # fmt: skip
    for key, value in values.items():
        (whole / "queue" / key).write_text(f"{value}\n")
    return sys


def test_a_file_has_the_queue_of_the_whole_drive_and_the_counters_of_its_partition(
    tmp_path: Path,
) -> None:
    drive = drive_of(tmp_path / "file", made(tmp_path))
    assert (drive.name, drive.queue.parent.name, drive.counters.parent.name) == (
        "vdz",
        "vdz",
        "vdz1",
    )
    assert drive.size_bytes == 8192
    assert drive.limits == Limits(1280 * KIB, 2048 * KIB, 128, 65_536, 512, 4096)
    assert (drive.facts["scheduler"], drive.facts["transport"]) == ("mq-deadline", "virtio")
    assert drive.facts["is_rotational"]
    assert drive.facts["model"] is None


def test_limits_that_the_kernel_does_not_tell_are_refused(tmp_path: Path) -> None:
    folder = made(tmp_path) / "devices" / "virtio1" / "block" / "vdz" / "queue"
    (folder / "max_segments").unlink()
    with pytest.raises(RunRefusedError, match="max_segments has no number"):
        limits_of(folder)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["/nosuch"],
            "/nosuch: No such file or directory (hint: name a block device, or a file on one)",
        ),
        (["/dev/null"], "/dev/null is neither a block device nor a file"),
        (["/proc/version"], "/proc/version is on no block device"),
        ([__file__, "--bs", "700"], "--bs: 700"),
        ([__file__, "--bs", "100B"], "--bs: 100B is not a multiple of the drive's block"),
        ([__file__, "--bs", "1GiB"], "--bs: 1GiB is not a multiple of the drive's block of"),
        ([__file__, "--bs", "1MiB", "--prove"], "bytes, and a read would have 1048576"),
    ],
)
def test_bad_input_is_refused_in_words(words: list[str], message: str) -> None:
    if words[0] == __file__ and not is_on_a_drive(Path(__file__)):
        pytest.skip("this folder is on no block device")
    done = CliRunner().invoke(app, ["measure", "split", *words])
    assert isinstance(done.exception, RunRefusedError), done.output
    assert message in str(done.exception)


def is_on_a_drive(path: Path) -> bool:
    """Whether the kernel tells of the device of a file."""
    number = path.stat().st_dev
    return Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").exists()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device of 16 MiB."""
    with loop_device(tmp_path) as device:
        yield device


@pytest.mark.parametrize(("limit_kb", "pieces"), [(512, 2), (128, 8), (384, 3)])
def test_reads_of_a_loop_device_are_split_as_predicted(
    loop: str, limit_kb: int, pieces: int
) -> None:
    (queue(loop) / "max_sectors_kb").write_text(str(limit_kb), encoding="ascii")
    done = CliRunner().invoke(app, ["measure", "split", loop, "--bs", "1MiB", "--prove", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (
        len(told["split"]["contiguous"]["sizes"])
        == len(told["split"]["scattered"]["sizes"])
        == pieces
    )
    assert told["split"]["contiguous"]["limit"] == "max_sectors_kb"
    assert (told["seen"]["issued"], told["seen"]["issued_bytes"]) == (16 * pieces, 16 * MIB)
