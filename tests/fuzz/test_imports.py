"""Changed inputs of every source of `tailrace import`: what it writes is a scenario that `check`
accepts."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from counts import cases
from fuzzing import formats, imports
from fuzzing.mutations import mutated
from fuzzing.program import FindingError
from tailrace.cli.import_app import Source

INPUTS = cases(200, 12)
"""Of each source; `make nightly` goes on with others."""


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working folder."""
    folder, before = tmp_path_factory.mktemp("imports"), Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def test_every_source_is_fuzzed() -> None:
    assert {source.value for source in Source} == {*imports.SECTIONS, *imports.WHOLE}
    assert {*imports.SECTIONS, *imports.WHOLE} <= {one.name for one in formats.FORMATS}


@pytest.mark.parametrize("source", [*imports.SECTIONS, *imports.WHOLE])
def test_changed_inputs_are_imported_as_valid_scenarios_or_not_at_all(
    source: str, place: Path
) -> None:
    one = formats.format_of(source)
    file = place / f"input{one.suffix}"
    seeds = one.seeds()
    written = 0
    for number in range(INPUTS):
        file.write_bytes(
            mutated(random.Random(f"import {source} {number}"), seeds, is_binary=False)
        )
        _, scenario = imports.imported(file, source)
        written += scenario is not None
    assert written, "some of them are imported"


@pytest.mark.parametrize(("is_written", "code"), [(True, 1), (False, 0)])
def test_a_file_without_success_and_success_without_a_file_are_findings(
    is_written: bool, code: int, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    def answered(file: Path, *words: str) -> str:
        if is_written:
            Path(words[-1]).write_text("x: 1\n", encoding="utf-8")
        return f"{code} "

    monkeypatch.setattr(imports, "answered", answered)
    with pytest.raises(
        FindingError, match=f"exit code {code}, and a file is {'' if is_written else 'not '}written"
    ):
        imports.imported(place / "input.cfg", "eos")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("eos", "policies: {p: {queues: {q: {share: 0%}}}}\nswitches: {s: {policy: p}}\n"),
        ("fio", "tailrace: 1\nname: x\n"),
    ],
)
def test_what_check_rejects_is_a_finding(
    source: str, text: str, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    def answered(file: Path, *words: str) -> str:
        Path(words[-1]).write_text(text, encoding="utf-8")
        return "0 "

    monkeypatch.setattr(imports, "answered", answered)
    with pytest.raises(FindingError, match="import wrote what check rejects"):
        imports.imported(place / "input.cfg", source)
