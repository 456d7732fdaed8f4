"""`tailrace measure switch` on the command line: what it prints and writes, and what it refuses."""

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tailrace.cli import main
from tailrace.results.format.numbers import THIN_SPACE
from tailrace.tools.switch import mlr, result
from tailrace.tools.switch.devices.simulated import SimulatedSwitch
from tailrace.tools.switch.trial import Trial, TrialRequest

Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """The command, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tailrace", "measure", "switch", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        seen = capsys.readouterr()
        assert "Traceback" not in seen.out + seen.err
        return int(end.value.code or 0), seen.out, seen.err

    return run


def test_a_simulated_switch_is_measured_printed_and_written(
    measure: Program, tmp_path: Path
) -> None:
    code, out, err = measure("--sizes", "64,1518", "--duration", "1ms", "--out", "out")
    assert code == 0
    assert "expected time" in err
    assert "14 880 952" in out
    assert "MLRsearch" in out
    data = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert (data["simulated"], data["is_whole"], data["invalid_trials"]) == (True, True, 0)
    small = data["sizes"][0]
    assert small["throughput"]["throughput_fps"] == 14_880_952
    assert small["mlrsearch"]["goals"][0]["conditional_throughput_fps"] == pytest.approx(
        14_880_952, abs=1
    )
    assert small["back_to_back"]["not_tested"]
    assert len(data["trial_log"]) == data["trials"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 4
    assert "line, theoretical" in page
    # 812 743.8: a frame more than the line carries would be said of it.
    assert f"812{THIN_SPACE}743" in page
    assert f"812{THIN_SPACE}744" not in page


def test_the_result_goes_below_runs_and_replaces_none(measure: Program, tmp_path: Path) -> None:
    words = ("--sizes", "1518", "--duration", "1ms", "--tests", "throughput")
    for _ in range(2):
        assert measure(*words)[0] == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "measure-simulated-1",
        "measure-simulated-2",
    ]
    code, _, err = measure(*words, "--out", "runs/measure-simulated-1")
    assert code == 2
    assert "it has a result already" in err


def test_a_result_without_a_place_is_refused_before_and_printed_where_the_disk_is_full(
    measure: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--sizes", "1518", "--duration", "1ms", "--tests", "throughput", "--out")
    (tmp_path / "file").write_text("", encoding="utf-8")
    for place in ("file", "file/below"):
        code, out, err = measure(*words, place)
        assert (code, out) == (2, "")
        assert f"--out: {place}: " in err
        assert "measuring" not in err

    def full(path: Path, _content: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(result, "write_json", full)
    code, out, err = measure(*words, "out")
    assert (code, "812 743" in out) == (2, True)
    assert "out/result.json: No space left on device; the result is printed and not kept" in err


def test_an_interrupt_keeps_what_was_measured(
    measure: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = SimulatedSwitch.run

    def run(self: SimulatedSwitch, request: TrialRequest) -> Trial:
        if request.frame_bytes == 128:
            raise KeyboardInterrupt
        return whole(self, request)

    monkeypatch.setattr(SimulatedSwitch, "run", run)
    code, out, _ = measure(
        "--sizes", "64,128", "--duration", "1ms", "--tests", "throughput", "--out", "out"
    )
    assert code == 130
    assert "14 880 952" in out
    assert "interrupted" in out
    data = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert data["is_whole"] is False
    assert [size["throughput"] is not None for size in data["sizes"]] == [True, False]


def test_json_is_the_result_file(measure: Program, tmp_path: Path) -> None:
    _, out, _ = measure(
        "--sizes", "64", "--duration", "1ms", "--tests", "loss", "--json", "--out", "out"
    )
    assert json.loads(out) == json.loads(
        (tmp_path / "out" / "result.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--sizes", "64,large"), "'large' is no size of a frame"),
        (("--tests", "thruput"), "there is no test 'thruput' (hint: did you mean 'throughput'?)"),
        (("--duration", "2"), "--duration: 2 has no unit"),
        (("--duration", "1h"), "--duration"),
        (("--full", "--duration", "2s"), "--full has lengths of its own"),
        (("--rate", "10G"), "--rate: 'G' is not a unit of rate"),
        (("--rate", "10"), "--rate: 10 has no unit"),
        (("--rate", "0bit/s"), "--rate must be greater than zero"),
        (("--sizes", ""), "'' is no size of a frame"),
        (("--tests", ""), "there is no test ''"),
        (("--source", "db"), "--source belongs to a scenario"),
        (("lab.yaml", "--fabric", "bridge"), "give one of them"),
        (("lab.yaml", "--rate", "1Gbit/s"), "the scenario has the rates"),
        (("--sizes", "9234"), "a frame of 9234 B needs an MTU of 9216, and the path has 9000"),
        (("missing.yaml",), "missing.yaml"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_words(
    measure: Program, arguments: tuple[str, ...], what: str
) -> None:
    code, out, err = measure(*arguments)
    assert (code, out) == (2, "")
    assert what in err
    assert not Path("runs").exists()


LAB = """
tailrace: 1
name: lab
network: {topology: {kind: star, switch: leaf, hosts: [a, b]}}
workloads:
  d: {kind: datagrams, source: a, destination: b, sizes: 1kB, interarrival: 1ms}
experiment: {duration: 1s}
"""


def test_frames_above_the_mtu_of_a_port_are_left_out_and_refused(
    measure: Program, tmp_path: Path
) -> None:
    (tmp_path / "lab.yaml").write_text(LAB, encoding="utf-8")
    lab = (
        "lab.yaml",
        "--duration",
        "1ms",
        "--tests",
        "throughput",
        "--set",
        "switches.leaf.port_mtu.b=1000B",
    )
    code, _, err = measure(*lab, "--sizes", "1018,1019")
    assert (code, "a frame of 1019 B needs an MTU of 1001, and the path has 1000" in err) == (
        2,
        True,
    )
    code, out, err = measure(*lab)
    assert (code, "left out, above the MTU of 1000: frames of 1024, 1280, 1518, 9018 B" in err) == (
        0,
        True,
    )
    assert "512 B" in out


def test_a_path_on_which_nothing_arrives_has_a_throughput_of_nothing(
    measure: Program, tmp_path: Path
) -> None:
    (tmp_path / "lab.yaml").write_text(LAB, encoding="utf-8")
    lost = ("--set", "network.links=[{between: [a, leaf], loss: 100%}]")
    code, out, err = measure(
        "lab.yaml", "--duration", "1ms", "--sizes", "512", *lost, "--json", "--out", "out"
    )
    assert code == 0, err
    [size] = json.loads(out)["sizes"]
    assert size["throughput"]["throughput_fps"] == 0
    assert size["latency"] == []
    assert size["frame_loss"][0]["loss_ratio"] == 1
    assert "512 B" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_virtual_machines_are_refused_in_words(measure: Program, tmp_path: Path) -> None:
    text = LAB.replace("experiment:", "hypervisors: {leaf: {cores: 4}}\nexperiment:")
    text = text.replace(
        "workloads:", "hosts: {defaults: {cpu: {cores: 1, profile: linux-kernel}}}\nworkloads:"
    )
    (tmp_path / "lab.yaml").write_text(text, encoding="utf-8")
    code, out, err = measure("lab.yaml", "--duration", "1ms")
    assert (code, out) == (2, "")
    assert (
        "host 'a' is a virtual machine of 'leaf', and frames are sent and received by ideal hosts"
        in err
    )


def test_a_missing_library_is_named_with_the_remedy(
    measure: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "MLRsearch", None)
    code, _, err = measure("--duration", "1ms")
    assert code == 2
    assert "tailrace[measure]" in err
    assert (
        measure("--duration", "1ms", "--sizes", "64", "--tests", "throughput", "--out", "out")[0]
        == 0
    )
    assert mlr.GOAL_LOSS_RATIOS == (0.0, 0.001, 0.005)
