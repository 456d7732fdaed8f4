"""The plan of runs, fio's command and answer, and the result of a measurement whose runs are made
up."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from report_page import Page
from tailrace.errors import RunRefusedError
from tailrace.tools.drive import page, result
from tailrace.tools.drive.counters import Direction, Reading
from tailrace.tools.drive.drive import Drive, Limits
from tailrace.tools.drive.identity import Identity
from tailrace.tools.drive.load import Run, runs_of
from tailrace.tools.drive.load_run import Busy, Ran, Window, command, result_of
from tailrace.tools.drive.measurement import Measurement
from tailrace.tools.drive.report import Inspected
from tailrace.tools.drive.specification import load_specification
from tailrace.tools.drive.split import split

KIB, MIB = 1024, 1 << 20
LIMITS = Limits(512 * KIB, 2048 * KIB, 128, 65_536, 512, 4096)
EVO = load_specification("samsung-850-evo-1tb")
ZERO, IDLE = Direction(0, 0, 0), Busy(0.2, 0.0, 0.3)
WINDOW = Window(
    2.0,
    Reading(ZERO, ZERO, 0, 0),
    Reading(Direction(3840, 3840 * 1024, 6000), ZERO, 1900, 6000),
    IDLE,
)
ANSWER = {
    "fio version": "fio-3.33",
    "jobs": [
        {
            "error": 0,
            "read": {
                "iops": 958.5, "bw_bytes": 1_005_060_096, "lat_ns": {"mean": 8_340_000.0},
                "clat_ns": {"percentile": {"99.000000": 12_000_000}},
            },
        }
    ],
}  # fmt: skip


def drive(depth: int | None = 31, requests: int = 64) -> Drive:
    """A SATA drive."""
    facts = {
        "drive_queue_depth": depth,
        "queue_depth": requests,
        "model": None,
        "firmware": None,
        "is_rotational": False,
    }
    return Drive(
        "sda", Path("q"), Path("sda/stat"), Path("/dev/sda"), 10**12, LIMITS, facts, (), "8:0"
    )


def told(runs: list[Run]) -> list[tuple[str, str, int, int]]:
    return [(run.operation, run.access, run.block_bytes, run.depth) for run in runs]


def test_without_a_specification_the_runs_are_those_of_the_post_and_read_alone() -> None:
    reads = [("read", "sequential", MIB, 8), ("read", "random", 4096, 32)]
    assert told(runs_of(drive(32), None, is_writing=False)) == reads
    writes = [("write", "sequential", MIB, 8), ("write", "random", 4096, 32)]
    assert told(runs_of(drive(32), None, is_writing=True)) == [*reads, *writes]


def test_a_drive_that_takes_fewer_requests_gets_fewer() -> None:
    run = runs_of(drive(31), None, is_writing=False)[1]
    assert (run.depth, run.asked_depth) == (31, 32)
    assert runs_of(drive(None, 16), None, is_writing=False)[1].depth == 16
    assert run.deeper(31) is None
    assert replace(run, depth=8).deeper(31) == replace(run, depth=31)
    assert replace(run, depth=2, jobs=4).deeper(31) == replace(run, depth=7, jobs=4)


def test_the_runs_of_a_specification_have_its_depths_and_never_write_unasked() -> None:
    assert told(runs_of(drive(32), EVO, is_writing=False)) == [
        ("read", "sequential", MIB, 8), ("read", "random", 4096, 32), ("read", "random", 4096, 1),
    ]  # fmt: skip
    every = runs_of(drive(32), EVO, is_writing=True)
    assert [run.is_write for run in every] == [False] * 3 + [True] * 3


def test_reads_are_protected_by_fio_itself() -> None:
    read, write = Run("read", "random", 4096, 32), Run("write", "sequential", MIB, 8)
    own = command(drive(), read, 10.0, 7)
    assert "--readonly" in own
    assert {
        "--rw=randread",
        "--iodepth=32",
        "--direct=1",
        "--runtime=10000000us",
        "--randseed=8",
    } <= set(own)
    assert "--readonly" not in command(drive(), write, 10.0, 7)
    assert "--rw=write" in command(drive(), write, 10.0, 7)
    colon = replace(drive(), device=Path("/dev/disk/by-path/pci-0000:00"))
    assert "--filename=/dev/disk/by-path/pci-0000\\:00" in command(colon, read, 10.0, 7)


def test_the_answer_of_fio_is_read_with_the_counters_beside_it() -> None:
    found = result_of(
        "fio: a note before\n" + json.dumps(ANSWER), Run("read", "sequential", MIB, 8), WINDOW
    )
    assert (found.requests_per_s, found.latency_us, found.p99_us) == (958.5, 8340.0, 12_000.0)
    assert (found.issued.requests_per_s, found.issued.mean_bytes, found.issued.queue) == (
        1920,
        512 * KIB,
        3.0,
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"error": 5}, "fio: error 5 (Input/output error) in sequential read"),
        ({"read": {}}, "its answer is not understood"),
        (
            {"read": ANSWER["jobs"][0]["read"] | {"iops": 0.0}},  # type: ignore[index]
            "no request was complete within the run",
        ),
    ],
)
def test_an_answer_without_a_result_is_an_error(changes: dict[str, Any], message: str) -> None:
    [job] = cast("list[dict[str, Any]]", ANSWER["jobs"])
    answer = {"jobs": [job | changes]}
    with pytest.raises(RunRefusedError) as caught:
        result_of(json.dumps(answer), Run("read", "sequential", MIB, 8), WINDOW)
    assert message in str(caught.value)


class Post:
    """The drive of n0derunner's post: 534 MB/s, 80 000 requests/s at a depth of 32, less at 1; it
    fails at the end."""

    def __init__(self, *, fails_after: int = 100) -> None:
        self.calls: list[Run] = []
        self.fails_after = fails_after

    def __call__(self, _drive: Drive, run: Run, _duration_s: float, _seed: int) -> Ran:
        self.calls.append(run)
        if len(self.calls) > self.fails_after:
            raise KeyboardInterrupt
        per_s = (
            534e6 / MIB
            if run.access == "sequential"
            else {1: 9_000, 4: 34_000, 32: 80_000}[run.depth]
        )
        per_s *= 1 + len(self.calls) % 3 / 1000
        busy = Busy(0.97, 0.0, 0.55) if run.depth == 32 else IDLE
        counted = result_of(json.dumps(ANSWER), Run("read", "sequential", MIB, 8), WINDOW).issued
        return Ran(per_s, per_s * run.block_bytes, 400.0, 900.0, busy, counted)


def measured(
    post: Post, model: str | None = "SAMSUNG MZ7LM1T9HMJP-00005"
) -> tuple[Measurement, Inspected]:
    own = drive(32)
    one = split(4096, LIMITS, is_contiguous=True)
    inspected = Inspected(own, 4096, one, one, None, Identity(model=model))
    runs = runs_of(own, EVO, is_writing=False)
    return Measurement(own, EVO, runs, 10.0, 3, None, (), post, lambda _: None), inspected


def test_a_measurement_says_what_the_post_found() -> None:
    measurement, inspected = measured(Post())
    measurement.run()
    data = result.as_data(measurement, inspected, result.NOT_DONE)
    limits = [one["verdict"]["limit"] for one in data["runs"]]
    assert limits == ["specification reached", "processor", "queue depth"]
    assert data["runs"][1]["share"] == pytest.approx(80_000 / 98_000, rel=0.002)
    low, high = data["runs"][1]["interval"]
    assert low < data["runs"][1]["mean"] < high
    text = result.as_text(data)
    assert "random read, 4 KiB, depth 32" in text
    assert "98\u202f000/s" in text
    assert "another model: the drive is a SAMSUNG MZ7LM1T9HMJP-00005" in " ".join(text.split())


def test_the_right_model_gives_no_warning_and_an_unknown_one_says_so() -> None:
    measurement, inspected = measured(Post(), "Samsung SSD 850 EVO 1TB")
    assert result.model_warning(measurement, inspected) == ""
    measurement, inspected = measured(Post(), None)
    assert "does not tell its model" in result.model_warning(measurement, inspected)


def test_each_run_is_repeated_and_then_done_deeper_where_the_drive_takes_more() -> None:
    post = Post()
    measurement, _ = measured(post)
    measurement.run()
    assert [run.depth for run in post.calls] == [8, 8, 8, 32, 32, 32, 32, 1, 1, 1, 4]


def test_what_an_interrupt_leaves_is_a_result() -> None:
    measurement, inspected = measured(Post(fails_after=6))
    with pytest.raises(KeyboardInterrupt):
        measurement.run()
    data = result.as_data(measurement, inspected, result.NOT_DONE)
    assert (len(data["runs"]), data["is_whole"], data["runs"][1]["verdict"]) == (2, False, None)
    assert "interrupted" in data["remarks"][-1]
    assert result.as_text(data)
    assert page.render(data)


def test_the_page_is_whole_and_shows_each_run(tmp_path: Path) -> None:
    measurement, inspected = measured(Post())
    measurement.run()
    data = result.as_data(measurement, inspected, result.NOT_DONE)
    page.write(data, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = Page(text)
    assert not found.open
    words = " ".join(" ".join(found.words).split())
    for one in data["runs"]:
        assert one["title"] in words
        assert " ".join(one["verdict"]["why"].split()) in words
    assert sum(name == "rect" for name, _ in found.elements) == 3
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["runs"] == json.loads(
        json.dumps(data["runs"])
    )


def test_a_drive_without_a_specification_has_no_shares() -> None:
    measurement, inspected = measured(Post())
    measurement.specification = None
    measurement.runs = [replace(run, specified=None) for run in measurement.runs]
    measurement.run()
    data = result.as_data(measurement, inspected, result.NOT_DONE)
    assert [one["share"] for one in data["runs"]] == [None] * 3
    assert "Share of the specification" not in page.render(data)
