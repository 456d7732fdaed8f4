"""A switch of this machine measured in short trials: frames are counted, nothing stays."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import machine
from test_kinds import require

RUN_LIMIT_S = 150


def measured(out: Path, *options: str) -> dict[str, Any]:
    """The result of a measurement that ends well."""
    done = machine.tailrace("measure", "switch", "--out", str(out), *options, limit_s=RUN_LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    data: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize(
    ("fabric", "sizes"),
    [
        ("tap", "1518"),
        *(pytest.param(name, "64,9018", marks=pytest.mark.slow) for name in ("tap", "bridge")),
    ],
)
def test_a_switch_of_the_kernel_or_ours_forwards_and_is_measured(
    fabric: str, sizes: str, tmp_path: Path
) -> None:
    before = machine.picture()
    options = [
        "--fabric",
        fabric,
        "--sizes",
        sizes,
        "--duration",
        "200ms",
        "--tests",
        "throughput,latency",
    ]
    data = measured(tmp_path / "out", *options)
    assert machine.wait_until_gone(str(tmp_path)) == []
    assert machine.picture() == before
    assert (data["fabric"], data["simulated"], data["is_whole"]) == (fabric, False, True)
    for size in data["sizes"]:
        assert size["throughput"]["max_offered_load_fps"] > 1000
        low = size["latency"][0]
        assert low["percent_of_throughput"] == 10
        assert 0 < low["latency_ns"]["min"] <= low["latency_ns"]["p50"] <= low["latency_ns"]["max"]
    for trial in data["trial_log"]:
        assert 0 <= trial["loss_count"] <= trial["offered_count"] <= trial["intended_count"]
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Throughput" in report
    assert "<svg" in report


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_measured_and_removes_the_lab(tmp_path: Path) -> None:
    before, out = machine.picture(), tmp_path / "out"
    words = [
        "measure",
        "switch",
        "--fabric",
        "bridge",
        "--out",
        str(out),
        "--duration",
        "300ms",
        "--sizes",
        "64,128",
    ]
    with subprocess.Popen(
        [*machine.TAILRACE, *words], stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("64 B: throughput"):
                break
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        assert running.wait(RUN_LIMIT_S) == 130
    data = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert data["is_whole"] is False
    assert data["sizes"][0]["throughput"]["throughput_fps"] > 0
    assert any("interrupted" in remark for remark in data["remarks"])
    assert machine.wait_until_gone("tailrace-measure-") == []
    assert machine.picture() == before


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["ovs", "ovs-dpdk"])
def test_open_vswitch_is_measured(fabric: str, tmp_path: Path) -> None:
    require(fabric)
    before = machine.picture()
    options = [
        "--fabric",
        fabric,
        "--sizes",
        "64,9018",
        "--duration",
        "200ms",
        "--tests",
        "throughput,loss",
    ]
    data = measured(tmp_path / "out", *options)
    assert machine.wait_until_gone("tailrace-ovs") == []
    assert machine.picture() == before
    for size in data["sizes"]:
        assert size["throughput"]["max_offered_load_fps"] > 1000
        assert any(trial["forwarding_count"] > 0 for trial in data["trial_log"])
    if fabric == "ovs-dpdk":
        # No kernel is in the way: ten times as many small frames as through a bridge.
        assert data["sizes"][0]["throughput"]["max_offered_load_fps"] > 1e6
