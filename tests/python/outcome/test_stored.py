"""Trials as run directories keep them."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tailrace.outcome import types
from tailrace.outcome.stored import (
    FORMAT,
    HEAD_BYTES,
    OtherFormatError,
    Planned,
    StoredTrial,
    TrialHead,
    read_head,
    read_stored,
)
from tailrace.outcome.tables import check_table
from tailrace.scenario.experiment import trial_seed
from whole import stored


def read_fifo_1(file: Path) -> StoredTrial:
    """A stored trial."""
    return read_stored(file.read_bytes(), Planned("fifo", 1, trial_seed(0, 1), None))


def head_of(file: Path) -> TrialHead:
    """Its head."""
    with file.open("rb") as opened:
        return read_head(opened)


@pytest.mark.parametrize("ports", [1, 2_000])
def test_a_trial_is_read_as_it_was_written_and_its_head_without_the_rest(
    tmp_path: Path, ports: int
) -> None:
    file = tmp_path / "1.json"
    rows = [{"node": f"leaf{number}", "towards": "x"} for number in range(ports)]
    reason = 'why "outcome": {'
    made = stored(
        file,
        "fifo",
        1,
        {"ports": rows},
        status="invalid",
        reason=reason,
        unfinished=["shop"],
        cores=2,
    )
    assert read_fifo_1(file) == made
    head = head_of(file)
    assert (head.status, head.reason, head.unfinished, head.cores) == (
        "invalid",
        reason,
        ["shop"],
        2,
    )
    assert file.read_text().startswith("{\n" if ports == 1 else f'{{"format":{FORMAT},'), (
        "a small one is for people"
    )


def test_a_head_ends_where_the_outcome_begins(tmp_path: Path) -> None:
    file = tmp_path / "1.json"
    stored(file, "fifo", 1, {"ports": [{"node": "leaf"}]})
    whole = file.read_text()
    file.write_text(whole[: whole.index('"ports"')])
    assert head_of(file).status == "ok"
    with pytest.raises(ValueError, match="truncated"):
        read_fifo_1(file)


def test_another_format_is_told_from_damage(tmp_path: Path) -> None:
    file = tmp_path / "1.json"
    stored(file, "fifo", 1, None)
    for text, found in (
        (file.read_text().replace(f'"format": {FORMAT}', '"format": 9'), 9),
        ('{"seed": 1}', 1),
    ):
        file.write_text(text)
        for read in (head_of, read_fifo_1):
            with pytest.raises(
                OtherFormatError, match=f"it has format {found}, and .* reads format {FORMAT}"
            ):
                read(file)


def test_a_head_that_is_longer_than_what_is_read_at_first_is_read(tmp_path: Path) -> None:
    file = tmp_path / "1.json"
    stored(
        file,
        "fifo",
        1,
        {"ports": [{"node": "leaf"}]},
        status="invalid",
        reason="x" * 2 * HEAD_BYTES,
    )
    assert len(head_of(file).reason) == 2 * HEAD_BYTES


@pytest.mark.parametrize("content", [b"PAR1...PAR", b"....PAR1", b"PA", b""])
def test_both_ends_of_a_table_are_looked_at(content: bytes) -> None:
    with pytest.raises(ValueError, match="it is no whole Parquet file"):
        check_table(content, "transactions")


def test_values_that_are_nested_without_end_are_damage(tmp_path: Path) -> None:
    file = tmp_path / "1.json"
    for text in ('{"unfinished": ' + 100_000 * "[", '{"x": ' + 100_000 * '{"x": '):
        file.write_text(text)
        for read in (head_of, read_fifo_1):
            with pytest.raises(ValueError, match=r"."):
                read(file)


SCHEMA_OF_FORMAT = {3: "46fc645d56977ae100f581ed15799fc5d11a93625ca8fe108849bc0c902caead"}
"""By `FORMAT`, the SHA-256 of the schema of outcomes, without its descriptions."""


def test_the_format_goes_up_where_the_types_change() -> None:
    held = json.loads(
        Path(str(types.__file__)).with_name("outcome.schema.json").read_text(encoding="utf-8")
    )
    found = hashlib.sha256(json.dumps(_undescribed(held), sort_keys=True).encode()).hexdigest()
    assert SCHEMA_OF_FORMAT.get(FORMAT) == found, (
        f"the types of outcomes have changed to {found}: write it here; if trials that are "
        "stored cannot be read any"
        " longer, or mean something else, also raise FORMAT in tailrace/outcome/stored.py"
    )


def _undescribed(value: Any) -> Any:
    if isinstance(value, list):
        return [_undescribed(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _undescribed(one)
        for key, one in value.items()
        if key != "description" or isinstance(one, dict)
    }
