"""`tailrace blast`: where it sends, what it asks of the program, sizes, and the table."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tailrace.cli.blast_arguments import BlastArguments
from tailrace.cli.blasting import blast_frames
from tailrace.errors import TailraceError
from tailrace.programs.internet_sum import internet_sum
from tailrace.tools.blast import report
from tailrace.tools.blast.sending import Sending, SendingInterface, order
from tailrace.tools.blast.sizes import parse_sizes, resized

UDP = bytes.fromhex(
    "020000000002 020000000001 0800 4500002e 00004000 40110000 0a000001 0a000002 c0000007 001a1234"
) + bytes(18)
NAMED: dict[str, Any] = dict.fromkeys(
    ("host", "fabric", "interface", "netns", "delay", "rate", "count", "length", "sizes", "syntax")
)


def wanted(file: Path, **changes: Any) -> BlastArguments:
    return BlastArguments(
        **{"file": file, "is_yes": False, "threads": 1, "is_queued": False, **NAMED, **changes}
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "frames"
    path.write_text(UDP.hex(), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({}, "no interface is named (hint: --host HOST"),
        (
            {"interface": "eth0"},
            "eth0 is an interface of this machine: frames could leave it (hint: add --yes",
        ),
        ({"host": "h1", "is_yes": True}, "--host and --yes exclude each other"),
        ({"host": "h1", "netns": "a"}, "--host and --netns exclude each other"),
        ({"fabric": "lab", "interface": "eth0"}, "--fabric without --host"),
        (
            {"interface": "eth0", "netns": "no-such-namespace"},
            "there is no namespace 'no-such-namespace'",
        ),
        ({"host": "h1", "delay": "1ms", "rate": 5}, "--delay and --rate exclude each other"),
        ({"host": "h1", "delay": "1"}, "--delay: '1' has no unit"),
        ({"host": "h1", "length": "2h"}, "--for: 2h is not between 1 ns and 3600 s"),
        (
            {"host": "h1", "sizes": "64-128"},
            "--sizes: '64-128' cannot be read (hint: write 64,512,1514",
        ),
        ({"host": "h1", "sizes": "10"}, "sizes are 14 to 9238 bytes without the check sequence"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_sent(
    file: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], part: str
) -> None:
    def run(*_words: object, **_options: object) -> None:
        pytest.fail("something was started")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(TailraceError) as caught:
        blast_frames(wanted(file, **changes), json_=False)
    assert part.replace("'1' has", "1 has") in str(caught.value).replace("'1' has", "1 has")


@pytest.mark.parametrize(
    ("there", "hint"),
    [
        ((), "`ip netns add lba` makes one"),
        (("lab", "other"), "did you mean 'lab'?"),
        (("one", "two"), "namespaces: one, two"),
    ],
)
def test_the_namespaces_that_exist_are_named(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], hint: str
) -> None:
    names = tmp_path / "netns"
    names.mkdir()
    for name in there:
        (names / name).touch()
    monkeypatch.setattr("tailrace.cli.blasting.NAMESPACES", names)
    with pytest.raises(TailraceError) as caught:
        blast_frames(wanted(file, interface="eth0", netns="lba"), json_=False)
    assert str(caught.value) == f"there is no namespace 'lba' (hint: {hint})"


def test_an_interface_of_the_machine_needs_its_name_and_a_yes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def run(words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        asked.append(json.loads(options["input"]))
        return subprocess.CompletedProcess(words, 0, json.dumps(answer()) + "\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(
        "tailrace.tools.blast.sending.fabric_program", lambda: Path("tailrace-fabric")
    )
    assert blast_frames(wanted(file, interface="eth9", is_yes=True), json_=True) == 0
    assert [
        (each["interface"], each["namespace"], each["is_machine_allowed"]) for each in asked
    ] == [("eth9", None, True)]


def test_the_order_has_the_rate_of_one_thread() -> None:
    asked = order(
        SendingInterface("eth0", namespace="lab"),
        Sending(threads=4, rate=1000, length_ps=10**12),
        [[b"\1\2"]],
    )
    assert (asked["namespace"], asked["interval_ps"], asked["rounds"]) == (
        "/run/netns/lab",
        4 * 10**9,
        [["0102"]],
    )
    assert (asked["count"], asked["limit_ns"], asked["is_machine_allowed"]) == (0, 10**9, False)


def answer() -> dict[str, Any]:
    return {
        "frame_bytes_mean": 1000.0,
        "sent": 3_000_000,
        "refused": 7,
        "length_ns": 2_000_000_000,
        "gaps": 0,
        "threads": [{}, {}],
        "interface_sent": 3_000_000,
        "interface_dropped": 0,
    }


def test_the_table_has_the_rates_of_all_threads_and_of_one() -> None:
    [found] = report.as_data([answer()])
    assert (found["frames_per_second"], found["frames_per_second_per_thread"]) == (
        1_500_000,
        750_000,
    )
    assert found["bytes_per_second"] == 1.5e9
    cells = report.as_text([found]).splitlines()[1]
    assert "12 Gbit/s" in cells
    assert cells.split()[0] == "1000"
    assert (
        report.as_text([found | {"frame_bytes_mean": 64.5}]).splitlines()[1].split()[0] == "64.50"
    )
    assert "not kept" not in report.as_text([found])
    assert "3 times away" in report.as_text([found | {"gaps": 3}])


def test_sizes_are_a_list_or_a_range_with_a_step() -> None:
    assert parse_sizes("64,512, 1514B") == [64, 512, 1514]
    assert parse_sizes("64-128/32,1514") == [64, 96, 128, 1514]
    with pytest.raises(TailraceError, match="more than 256"):
        parse_sizes("14-9000/1")


@pytest.mark.parametrize(
    "tag", [b"", bytes.fromhex("81000003"), bytes.fromhex("88a80002 81000003")]
)
def test_lengths_and_sums_follow_the_size(tag: bytes) -> None:
    frame = UDP[:12] + tag + UDP[12:]
    for size in (60 + len(tag), 1000):
        new = resized(frame, size)
        ip = new[14 + len(tag) :]
        assert len(new) == size
        assert int.from_bytes(ip[2:4], "big") == len(ip)
        assert internet_sum(ip[:20]) == 0
        assert int.from_bytes(ip[24:26], "big") == len(ip) - 20
        assert ip[26:28] == b"\0\0"


def test_frames_of_other_protocols_are_only_cut_and_filled() -> None:
    frame = UDP[:12] + b"\x88\xb5" + UDP[14:]
    assert resized(frame, 100) == frame + bytes(100 - len(frame))
    assert resized(UDP, 20) == UDP[:20]
