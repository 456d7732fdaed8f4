"""Import of vdbench and fio files, as a user types it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tailrace.cli import main
from tailrace.scenario.loading import load_scenario

VDBENCH = (
    "sd=sd1,lun=/dev/sdb,size=1g\nwd=wd1,sd=sd1,rdpct=70\nrd=rd1,wd=wd1,iorate=max,elapsed=4\n"
)
FIO = "[a]\nioengine=libaio\ndirect=1\nrw=randread\nsize=1g\n"
Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tailrace", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        seen = capsys.readouterr()
        assert "Traceback" not in seen.out + seen.err
        return int(end.value.code or 0), seen.out, seen.err

    return run


@pytest.fixture
def vdbench(tmp_path: Path) -> Path:
    file = tmp_path / "test.vdb"
    file.write_text(VDBENCH)
    return file


def test_the_scenario_is_valid_and_names_its_source(
    program: Program, vdbench: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.yaml"
    code, _, err = program("import", "vdbench", vdbench, "--out", out)
    assert code == 0
    assert f"wrote {out}" in err
    assert out.read_text().startswith("# Scenario from test.vdb. The file names no network")
    assert list(load_scenario(YAML(typ="safe").load(out.read_text())).scenario.workloads) == ["wd1"]


def test_an_existing_file_is_kept(program: Program, vdbench: Path, tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text("mine")
    code, _, err = program("import", "vdbench", vdbench, "--out", tmp_path / "out.yaml")
    assert (code, (tmp_path / "out.yaml").read_text()) == (2, "mine")
    assert "the file exists already" in err


def test_json_has_the_scenario_and_every_remark(program: Program, vdbench: Path) -> None:
    code, out, _ = program("import", "vdbench", vdbench, "--json", "--name", "mine")
    found = json.loads(out)
    assert code == 0
    assert found["scenario"]["name"] == "mine"
    assert (
        sum(one["line"] > 0 for one in found["remarks"])
        == len(VDBENCH.replace("\n", ",").split(",")) - 1
    )


def test_strict_fails_unless_every_line_is_understood(program: Program, vdbench: Path) -> None:
    assert program("import", "vdbench", vdbench, "--strict")[0] == 0
    vdbench.write_text(VDBENCH.replace("rdpct=70", "rdpct=70,stride=(1k,2k)"))
    assert program("import", "vdbench", vdbench)[0] == 0
    assert program("import", "vdbench", vdbench, "--strict")[0] == 1


def test_problems_are_refused_with_their_lines_and_nothing_is_written(
    program: Program, vdbench: Path, tmp_path: Path
) -> None:
    vdbench.write_text(VDBENCH.replace("rdpct=70", "rdpct=101").replace("sd=sd1,rd", "sd=sd2,rd"))
    code, out, err = program("import", "vdbench", vdbench, "--out", tmp_path / "out.yaml")
    assert (code, out) == (2, "")
    assert f"{vdbench}:2: rdpct: 101 is not a percentage (hint: write a value from 0 to 100)" in err
    assert (
        f"{vdbench}:2: sd: there is no storage definition 'sd2' (hint: did you mean 'sd1'?)" in err
    )
    assert not (tmp_path / "out.yaml").exists()


def test_a_file_without_devices_has_nothing_to_import(program: Program, vdbench: Path) -> None:
    vdbench.write_text("fsd=fsd1,anchor=/a\nfwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max\n")
    code, _, err = program("import", "vdbench", vdbench)
    assert code == 2
    assert "there is nothing to import (hint: no run has a workload of devices" in err
    assert f"{vdbench}:1: NOT MODELLED: 'fsd=fsd1'" in err


def test_preset_clients_and_variables_come_from_options(program: Program, tmp_path: Path) -> None:
    file, hosts = tmp_path / "a.fio", tmp_path / "hosts"
    file.write_text(FIO + "iodepth=${DEPTH}\n")
    hosts.write_text("n1\n# spare\nn2,8765\n")
    options = [
        "--device",
        "nvme",
        "--define",
        "DEPTH=7",
        "--client",
        hosts,
        "--client",
        "n3",
        "--json",
    ]
    scenario = json.loads(program("import", "fio", file, *options)[1])["scenario"]
    assert scenario["devices"] == {"disk": {"preset": "nvme"}}
    assert scenario["workloads"]["a"]["initiators"] == ["n1", "n2", "n3"]
    assert scenario["workloads"]["a"]["depth"] == 7


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--protocol", "locl"], "--protocol: there is no 'locl' (hint: did you mean 'local'?)"),
        (
            ["--device", "nvmee"],
            "--device: there is no preset 'nvmee' (hint: did you mean 'nvme'?)",
        ),
        (["--define", "size"], "--define: expected NAME=VALUE, but read 'size'"),
        (["--name", "a b"], "--name: 'a b' is not a valid name"),
        (["--scenario", "lab.yaml"], "--scenario: vdbench writes a whole scenario"),
    ],
)
def test_wrong_options_are_refused(
    program: Program, vdbench: Path, options: list[str], problem: str
) -> None:
    code, _, err = program("import", "vdbench", vdbench, *options)
    assert code == 2
    assert problem in err


@pytest.mark.parametrize(
    "options",
    [["--device", "nvme"], ["--protocol", "local"], ["--client", "a"], ["--define", "a=1"]],
)
def test_a_switch_configuration_has_no_options_of_storage(
    program: Program, tmp_path: Path, options: list[str]
) -> None:
    file = tmp_path / "nexus.cfg"
    file.write_text("hardware qos dynamic-packet-prioritization max-num-pkts 20\n")
    code, _, err = program("import", "nxos", file, *options)
    assert code == 2
    assert f"{options[0]}: a configuration of nxos has no drives" in err


def test_an_imported_test_runs_at_its_rate(program: Program, vdbench: Path, tmp_path: Path) -> None:
    vdbench.write_text(VDBENCH.replace("iorate=max,elapsed=4", "iorate=2000,elapsed=2"))
    program("import", "vdbench", vdbench, "--out", tmp_path / "out.yaml")
    code, out, err = program(
        "run", tmp_path / "out.yaml", "--trials", 2, "--out", tmp_path / "run", "--json"
    )
    assert code == 0, err
    rate = json.loads((tmp_path / "run" / "result.json").read_text())["arms"]["base"]["workloads"][
        "wd1"
    ]["rate_per_s"]
    assert rate["mean"] == pytest.approx(2000, rel=0.05), out
