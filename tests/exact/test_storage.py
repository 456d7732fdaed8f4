"""Workloads of storage on the kernels' own initiators and targets.

What is not installed is named in the line that skips the test.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from machine import TAILRACE
from tailrace.cli.app import app
from tailrace.errors import TailraceError
from tailrace.programs.fio import FIO
from tailrace.programs.kernel_storage import ISCSISTART
from tailrace.programs.needed import path_of
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("storage.yaml")
LIMIT_S = 550
DISK_PS = 100_000_000
WAY_PS = 4 * 10_000_000
"""To the target and back: four times the delay of a link."""


def run(out: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """An exact run."""
    command = [
        *TAILRACE,
        "run",
        str(SCENARIO),
        "--exact",
        "--trials",
        "1",
        "--out",
        str(out),
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def outcome_in(out: Path) -> dict[str, Any]:
    """The outcome of a run."""
    done = run(out)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = read_trial(out / "trials" / "base" / "1.json")
    return found


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of one run."""
    missing = [each.program for each in (FIO, ISCSISTART) if path_of(each) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    return outcome_in(tmp_path_factory.mktemp("one") / "run")


def test_requests_take_the_disk_and_the_way_there(outcome: dict[str, Any]) -> None:
    namespace, digests, unit, own = outcome["workloads"]
    for workload, way_ps in ((namespace, WAY_PS), (digests, WAY_PS), (unit, WAY_PS), (own, 0)):
        least_ps = DISK_PS + way_ps
        # 4 to 64 kB on a line of 1 Gbit/s that others use too.
        assert least_ps < workload["latency"]["min_ps"] < least_ps + 1_000_000_000, workload["name"]
    # Nothing but the disk: the time of one request is that of the disk, and what fio's clock costs.
    assert own["latency"]["min_ps"] < DISK_PS + 2_000_000


def test_every_request_that_was_asked_for_is_done(outcome: dict[str, Any]) -> None:
    namespace, digests, unit, own = outcome["workloads"]
    assert [each["transactions"] for each in (digests, unit)] == [20, 40]
    assert digests["storage_requests"]["write"]["bytes"] == 20 * 2**16
    assert digests["storage_requests"]["read"]["count"] == 0
    assert None not in unit["user_completion_ps"]
    assert [each["name"] for each in namespace["initiators"]] == ["app", "web"]
    assert all(
        each["requests"][op]["count"]
        for each in namespace["initiators"]
        for op in ("read", "write")
    )
    counted_s = (outcome["exact"]["span_ps"] - own["counted_from_ps"]) / 1e12
    assert own["transactions"] == pytest.approx(1000 * counted_s, rel=0.1)


@pytest.mark.slow
def test_the_same_scenario_gives_the_same_trial(outcome: dict[str, Any], tmp_path: Path) -> None:
    one, other = outcome, outcome_in(tmp_path / "other")
    assert one["digest"] == other["digest"]
    assert [each["latency"] for each in one["workloads"]] == [
        each["latency"] for each in other["workloads"]
    ]


def test_what_was_run_is_recorded(outcome: dict[str, Any]) -> None:
    record = outcome["exact"]["programs"]
    assert set(record["versions"]) == {"fio", "iscsistart"}
    assert "hdr_digest,data_digest,disable_sqflow" in record["configurations"]["fio-digests-web"]
    assert "default_cmdsn_depth" in record["configurations"]["iscsi-san"]
    assert "nvme-tcp-san" in record["configurations"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "workloads.unit.iscsi.target=tgt",
            "the target of an exact run is that of the kernel, lio",
        ),
        ("workloads.unit.iscsi.max_outstanding_r2t=2", "open-iscsi agrees on one R2T at a time"),
        (
            "workloads.unit.iscsi.status_with_data=false",
            "LIO sends the status of a read with its last data",
        ),
        ("workloads.namespace.nvme_tcp.queues=2", "a guest has one core, and so one I/O queue"),
        ("workloads.namespace.nvme_tcp.queue_size=8", "queues of 16 to 1024 entries"),
        ("workloads.namespace.nvme_tcp.in_capsule=64KiB", "capsules of 1 to 4 pages"),
        ("workloads.namespace.flush_every=4", "has no write cache"),
        ("workloads.namespace.block=2MiB", "splits requests of more than 1 MiB"),
        ("workloads.namespace.request_cost=5us", "takes no time of a processor"),
        ("workloads.namespace.dscp=10", "no code point of their own"),
        ("workloads.own.protocol=nbd", "exact runs have no initiator for nbd"),
        ("workloads.own.device=nvme", "does not answer reads and writes after one time"),
        ("workloads.own.device=memory", "is bound by a rate"),
        ("workloads.own.device=disk-7200", "has a head"),
        ("workloads.own.start=1ms", "the jobs of fio begin with the trial"),
    ],
)
def test_what_kernels_cannot_do_is_refused_before_anything_runs(
    tmp_path: Path, change: str, words: str
) -> None:
    changes = [change, "workloads.own.target=san"] if change.endswith("=nbd") else [change]
    settings = [word for each in changes for word in ("--set", each)]
    command = ["run", str(SCENARIO), "--exact", "--out", str(tmp_path / "run"), *settings]
    with pytest.raises(TailraceError) as refused:
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert words in " ".join(str(refused.value).split())
    assert not (tmp_path / "run").exists()
