"""Each limit is named when its evidence is there, in the order of certainty, and not otherwise."""

from dataclasses import replace
from pathlib import Path

import pytest

from tailrace.tools.drive.counters import Direction, Issued, Reading, issued
from tailrace.tools.drive.io_limit import IoLimit, io_limits
from tailrace.tools.drive.link import Link
from tailrace.tools.drive.load import Run
from tailrace.tools.drive.load_run import Busy, Ran
from tailrace.tools.drive.specification import Value
from tailrace.tools.drive.verdict import Evidence, Limit, verdict

KIB, MIB = 1024, 1 << 20
RANDOM = Run("read", "random", 4 * KIB, 32)
SEQUENTIAL = Run("read", "sequential", MIB, 8)
IDLE = Busy(0.2, 0.01, 0.3)


def ran(
    requests_per_s: float, block: int, mean_bytes: float | None = None, busy: Busy = IDLE
) -> Ran:
    """A run without anything remarkable."""
    counted = Issued(
        requests_per_s, requests_per_s * block, mean_bytes or block, 0.3, 30.0, 0.95, 0.0
    )
    return Ran(requests_per_s, requests_per_s * block, 400.0, 900.0, busy, counted)


def evidence(run: Run = RANDOM, found: Ran | None = None) -> Evidence:
    """Nothing limits but the drive itself: more requests give no more."""
    own = found or ran(80_000, run.block_bytes)
    deeper = replace(run, depth=run.depth * 4)
    return Evidence(run, own, own.requests_per_s, (deeper, own), None, (), 1024, "max_segments")


def test_without_a_cause_the_limit_is_unknown_and_says_what_was_excluded() -> None:
    found = verdict(evidence())
    assert found.limit is Limit.UNKNOWN
    assert [text.partition(":")[0] for text in found.excluded] == [
        Limit.GROUP, Limit.PROCESSOR, Limit.QUEUE, Limit.SPLIT,
    ]  # fmt: skip
    assert "busy for 95" in found.why


@pytest.mark.parametrize(
    ("measured", "is_reached"), [(95_000, False), (95_100, True), (120_000, True)]
)
def test_a_specification_is_reached_from_97_percent_on(measured: int, is_reached: bool) -> None:
    run = replace(RANDOM, specified=Value(operation="read", access="random", iops=98_000))
    assert (
        verdict(evidence(run, ran(measured, 4 * KIB))).limit is Limit.SPECIFICATION
    ) is is_reached


def test_a_rate_is_compared_as_a_rate() -> None:
    run = replace(
        SEQUENTIAL,
        specified=Value(operation="read", access="sequential", rate="540MB/s"),  # type: ignore[arg-type]
    )
    found = verdict(evidence(run, ran(534e6 / MIB, MIB)))
    assert (found.limit, found.why) == (Limit.SPECIFICATION, "99\u202f% of 540 MB/s")


@pytest.mark.parametrize(
    ("limit", "is_it"),
    [
        (IoLimit("read", "requests", 80_000, "io.max"), True),
        (IoLimit("read", "requests", 100_000, "io.max"), False),
        (IoLimit("read", "bytes", 80_000 * 4096, "io.max"), True),
        (IoLimit("write", "requests", 80_000, "io.max"), False),
    ],
)
def test_a_control_group_limits_its_direction(limit: IoLimit, is_it: bool) -> None:
    found = verdict(replace(evidence(), limits=(limit,)))
    assert (found.limit is Limit.GROUP) is is_it


def test_a_link_limits_from_85_percent_of_its_data_on() -> None:
    link = Link("SATA", 600e6, "SATA, 6 Gbit/s")
    full = replace(evidence(SEQUENTIAL, ran(534e6 / MIB, MIB)), link=link)
    assert verdict(full).limit is Limit.LINK
    half = replace(evidence(SEQUENTIAL, ran(300e6 / MIB, MIB)), link=link)
    assert verdict(half).limit is not Limit.LINK


@pytest.mark.parametrize(
    ("busy", "is_it"),
    [
        (Busy(0.95, 0.0, 0.5), True),
        (Busy(0.4, 0.55, 0.9), True),
        (Busy(0.1, 0.0, 0.99), True),
        (Busy(0.5, 0.1, 0.9), False),
    ],
)
def test_a_job_that_has_no_more_core_is_limited_by_the_processor(busy: Busy, is_it: bool) -> None:
    assert (
        verdict(evidence(RANDOM, ran(80_000, 4096, busy=busy))).limit is Limit.PROCESSOR
    ) is is_it


def test_more_requests_that_give_more_show_that_their_number_is_the_limit() -> None:
    run = replace(RANDOM, depth=1)
    own = replace(ran(10_000, 4096), latency_us=100.0)
    more = (replace(run, depth=4), ran(39_000, 4096))
    found = verdict(replace(evidence(run, own), deeper=more))
    assert found.limit is Limit.QUEUE
    assert "1 under way / 100 us = 10000/s by Little's law; 4 under way give 39000/s" in found.why
    assert (
        verdict(replace(evidence(run, own), deeper=(more[0], ran(11_000, 4096)))).limit
        is Limit.UNKNOWN
    )


def test_a_queue_that_is_full_cannot_be_the_depth_of_the_run() -> None:
    found = verdict(replace(evidence(), deeper=None, queue_most=32))
    assert "queue depth: the drive takes no more than 32 requests, and had 32" in found.excluded


def test_requests_that_are_issued_in_pieces_are_told_with_the_limit_that_cuts() -> None:
    found = verdict(evidence(SEQUENTIAL, ran(480, MIB, 512 * KIB)))
    assert (found.limit, found.why) == (
        Limit.SPLIT, "requests of 1024 KiB were issued as 512.0 KiB on average, cut by "
        "max_segments",
    )  # fmt: skip
    assert verdict(evidence(SEQUENTIAL, ran(480, MIB, 1.5 * MIB))).limit is Limit.UNKNOWN, (
        "joined ones are larger"
    )


def test_counters_give_the_columns_of_iostat() -> None:
    # "Why does my SSD not issue 1MB IO's?": 956 r/s, 489 472 kB/s, avgqu-sz 1.49, await 1.58 ms,
    # 97.5 % busy.
    sectors = 489_472 * 2
    after = Reading(Direction(956, sectors, 1510), Direction(1, 8, 3), 975, 1490)
    found = issued(
        Reading(Direction(0, 0, 0), Direction(0, 0, 0), 0, 0), after, 1.0, is_write=False
    )
    assert (found.requests_per_s, found.mean_bytes) == (956, 512 * KIB)
    assert found.await_ms == pytest.approx(1.58, abs=0.005)
    assert (found.queue, found.busy_share) == (1.49, 0.975)
    assert found.other_bytes_per_s == 4096


def tree(root: Path, files: dict[str, str]) -> Path:
    """Files below a root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_limits_of_groups_of_version_2_are_found_in_every_level(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "0::/system.slice/job\n",
            "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
            "sys/fs/cgroup/system.slice/io.max": "8:0 rbps=max wbps=1000000 riops=max wiops=max\n",
            "sys/fs/cgroup/system.slice/job/io.max": "8:0 rbps=2097152 riops=120\n8:16 rbps=5\n",
        },
    )
    found = {(limit.direction, limit.unit, limit.per_s) for limit in io_limits("8:0", root)}
    assert found == {
        ("write", "bytes", 1_000_000),
        ("read", "bytes", 2_097_152),
        ("read", "requests", 120),
    }


def test_limits_of_groups_of_version_1_are_those_of_the_controller(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "proc/self/cgroup": "7:blkio:/job\n4:memory:/other\n",
            "proc/self/mounts": "cgroup /sys/fs/cgroup/blkio cgroup rw,blkio 0 0\ncgroup "
            "/m cgroup rw,memory 0 0\n",
            "sys/fs/cgroup/blkio/job/blkio.throttle.read_iops_device": "7:0 50\n7:1 9\n",
            "sys/fs/cgroup/blkio/other/blkio.throttle.read_iops_device": "7:0 1\n",
        },
    )
    [limit] = io_limits("7:0", root)
    assert (limit.direction, limit.unit, limit.per_s) == ("read", "requests", 50)
    assert limit.file.endswith("blkio/job/blkio.throttle.read_iops_device")
    assert io_limits("9:9", root) == []
