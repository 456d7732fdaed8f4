"""Specifications: those that come with tailrace, errors of one's own, models, and devices of
scenarios."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tailrace
from tailrace.cli.app import app
from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.scenario.network.device import Device
from tailrace.scenario.text.document import parse_document
from tailrace.tools.drive.as_device import as_device
from tailrace.tools.drive.specification import (
    FOLDER,
    Specification,
    load_specification,
    names,
    schema,
)

OWN = """\
specification: 1
title: Mine
models: ["ACME *"]
interface: sata
source: {document: sheet, url: https://example.com/sheet.pdf, read: "2026-01-31"}
values:
  - {operation: read, access: sequential, rate: 540MB/s}
"""


@pytest.mark.parametrize("name", names())
def test_each_has_a_source_and_is_a_device(name: str) -> None:
    found = load_specification(name)
    assert found.source.document
    section = parse_document(as_device(found, "drive"), name).data["devices"]["drive"]
    device = Device.model_validate(section).effective
    for value in found.values:
        if value.access == "sequential":
            assert value.rate == (
                device.read_rate if value.operation == "read" else device.write_rate
            )


def test_the_sheet_of_the_850_evo_is_the_preset() -> None:
    found = load_specification("samsung-850-evo-1tb")
    device = Device.model_validate(
        parse_document(as_device(found, "ssd"), "").data["devices"]["ssd"]
    ).effective
    preset = Device(preset="sata-ssd").effective
    assert (device.servers, device.read_rate, device.write_rate) == (
        preset.servers,
        preset.read_rate,
        preset.write_rate,
    )
    assert device.read_latency is not None
    assert preset.read_latency is not None
    assert device.read_latency.mean == pytest.approx(preset.read_latency.mean, rel=1e-4)


def test_a_device_of_a_sheet_gives_the_sheets_rates(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "tailrace: 1\nname: s\nnetwork: {topology: {kind: star, switch: none, hosts: [a]}}\n"
        + as_device(load_specification("samsung-850-evo-1tb"), "evo")
        + "workloads: {disk: {kind: storage, initiators: [a], device: evo, depth: 32}}\n"
        "arms: {deep: {}, single: {workloads.disk.depth: 1}}\n"
        "experiment: {duration: 200ms, warm_up: 50ms, trials: 1}\n",
        encoding="utf-8",
    )
    tailrace.run(file, out=tmp_path / "run")
    arms = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))["arms"]
    rates = {
        arm: own["workloads"]["disk"]["storage_figures"]["read_iops"] for arm, own in arms.items()
    }
    assert rates["deep"] == pytest.approx(98_000, rel=0.01)
    # The sheet's 10 000/s, less what a piece takes on the link.
    assert rates["single"] == pytest.approx(10_000, rel=0.12)


def test_models_are_compared_as_drives_write_them() -> None:
    found = load_specification("samsung-850-evo-1tb")
    assert found.is_of("Samsung SSD 850 EVO 1TB")
    assert found.is_of("SAMSUNG_SSD_850_EVO_1TB ")
    assert not found.is_of("SAMSUNG MZ7LM1T9HMJP-00005"), "the pair of n0derunner's post"
    assert not found.is_of("Samsung SSD 850 EVO 500GB")


def own(folder: Path, text: str) -> Specification:
    """A specification in a file."""
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return load_specification(str(file))


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("rate: 540MB/s", "rate: 540Mbit/s", "mine.yaml:7: values.0.rate:"),
        ("rate: 540MB/s", "iops: 0", "mine.yaml:7: values.0.iops:"),
        (
            "rate: 540MB/s",
            "rate: 540MB/s, iops: 7",
            "mine.yaml:7: values.0: a value has either `rate` or `iops`",
        ),
        (", rate: 540MB/s", "", "mine.yaml:7: values.0: a value has either `rate` or `iops`"),
        ("operation: read", "operation: erase", "mine.yaml:7: values.0.operation:"),
        ("https://example.com", "the shop", "mine.yaml:5: source.url:"),
        ("interface: sata\n", "interface: sata\nspeed: 9\n", "mine.yaml:5: speed:"),
        ("specification: 1", "specification: 2", "mine.yaml:1: specification:"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert own(tmp_path, OWN).title == "Mine"
    with pytest.raises(ScenarioError) as caught:
        own(tmp_path, OWN.replace(old, new))
    assert place in str(caught.value)


def test_the_schema_has_every_key() -> None:
    found = schema()
    assert set(Specification.model_fields) == set(found["properties"])
    done = CliRunner().invoke(app, ["measure", "specs", "--schema"])
    assert json.loads(done.stdout) == found


def test_the_commands_list_and_print() -> None:
    listed = CliRunner().invoke(app, ["measure", "specs"]).stdout
    assert [line.split()[0] for line in listed.splitlines()[1:]] == names()
    assert {path.stem for path in FOLDER.iterdir()} == set(names())
    one = CliRunner().invoke(app, ["measure", "specs", "hitachi-7k500-500gb"]).stdout
    assert "64.8 MB/s" in one
    assert "easymanua.ls" in one
    assert (
        "disk-7200"
        in CliRunner()
        .invoke(app, ["measure", "specs", "hitachi-7k500-500gb", "--as-scenario"])
        .stdout
    )
    with pytest.raises(RunRefusedError, match="did you mean 'intel-p4500-2tb'"):
        load_specification("intel-p4500")
