"""Inputs on which fuzzing once found a fault: each is accepted, or refused with a message that
names the file."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzzing import formats, program
from fuzzing.worker import signature_of
from tailrace.errors import TailraceError

FINDINGS = Path(__file__).parent / "findings"
INPUTS = sorted(path for path in FINDINGS.rglob("*") if path.is_file())
SEEDS_TRIED = 2


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working folder, where what formats share is made once."""
    folder, before = tmp_path_factory.mktemp("fuzz"), Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: str(path.relative_to(FINDINGS)))
def test_a_finding_does_not_come_back(path: Path, place: Path) -> None:
    one = formats.format_of(path.parent.name)
    file = place / f"input{one.suffix}"
    file.write_bytes(path.read_bytes())
    one.read(file)


@pytest.mark.parametrize("one", formats.FORMATS, ids=lambda one: one.name)
def test_seeds_of_a_format_are_read_without_a_finding(one: program.Format, place: Path) -> None:
    seeds = one.seeds()[:SEEDS_TRIED]
    assert seeds
    # Text has no such byte: changes of lines and words would seldom reach what a binary format
    # means.
    assert one.is_binary == any(b"\0" in seed for seed in seeds)
    for seed in seeds:
        file = place / f"input{one.suffix}"
        file.write_bytes(seed)
        one.read(file)


def test_an_internal_error_is_a_finding_with_its_place(
    monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a broken reader")

    monkeypatch.setattr("tailrace.cli.vendors.import_nxos", broken)
    file = place / "input.cfg"
    file.write_text("policy-map type qos P\n")
    with pytest.raises(KeyError) as caught:
        formats.format_of("nxos").read(file)
    assert signature_of(caught.value) == "KeyError in vendors.py:import_file"


def test_a_message_without_the_name_of_the_file_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    def nameless(*_: object) -> None:
        raise TailraceError("it is wrong")

    monkeypatch.setattr("tailrace.cli.vendors.import_nxos", nameless)
    file = place / "input.cfg"
    file.write_text("policy-map type qos P\n")
    with pytest.raises(program.FindingError, match="does not name the file: it is wrong"):
        formats.format_of("nxos").read(file)
