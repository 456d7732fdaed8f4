"""Remarks for people: one line for each kind of line, with a count, and all of them on request."""

from pathlib import Path

import pytest

from importers.corpus_cases import case
from importers.meaning import import_file
from tailrace.cli.vendors import import_file as import_command
from tailrace.importers.nxos.importer import import_nxos

PORT = "interface Ethernet1/{0}\n  switchport\n  mtu 9216\n  description rack {0}\n  no shutdown\n"


def test_alike_lines_have_one_remark_with_a_count() -> None:
    text = "hostname leaf1\nfrobnicate 7\nfrobnicate 8\nquux\n" + "".join(
        PORT.format(n) for n in range(1, 61)
    )
    _, remarks = import_nxos(text)
    assert len(remarks.found) > 300
    rows = remarks.text("nexus.cfg").splitlines()
    assert len(rows) < 15
    assert any("'frobnicate 7'" in row and "(and 1 more of this kind)" in row for row in rows)
    assert any("'quux'" in row and "more of this kind" not in row for row in rows)
    assert any("'mtu 9216'" in row and "(and 59 more of this kind)" in row for row in rows)
    assert rows[-1].endswith("(--verbose lists each)")
    assert len(remarks.text("nexus.cfg", is_verbose=True).splitlines()) == len(remarks.found) + 1


def test_rows_of_a_table_have_one_remark() -> None:
    _, remarks = import_file("sonic", case("sonic", "eight-queues-one-heavy").path)
    rows = remarks.text("config_db.json").splitlines()
    assert sum("'QUEUE|" in row for row in rows) == 1
    assert len(rows) < len(remarks.found) / 2


def test_every_kind_is_shown_once() -> None:
    _, remarks = import_file("nxos", case("nxos", "invented-actions").path)
    assert sum(count for _, count in remarks.kinds()) == len(remarks.found)
    assert {first.verdict for first, _ in remarks.kinds()} == {
        remark.verdict for remark in remarks.found
    }


def test_the_command_lists_each_line_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = case("nxos", "hci-roce-step").path
    import_command("nxos", path, None, None, is_strict=False, is_json=False)
    short = capsys.readouterr().err
    import_command("nxos", path, None, None, is_strict=False, is_json=False, is_verbose=True)
    full = capsys.readouterr().err
    assert "more of this kind" in short
    assert "more of this kind" not in full
    assert len(full.splitlines()) > len(short.splitlines())
