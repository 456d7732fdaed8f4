"""Files that hold no configuration, or not as text."""

from pathlib import Path

import pytest

from tailrace.cli.vendors import import_file
from tailrace.errors import RunRefusedError, TailraceError

NEXUS = (
    "hostname leaf1\npolicy-map type queuing o\n class type queuing c-out-8q-q-default\n  "
    "bandwidth percent 100\n"
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b" \r\n\n", "the file is empty"),
        (b"\x00\x01\x02", "it contains NUL bytes"),
        (b"\xff\xfe\x80", "not valid UTF-8 (byte 1)"),
        (NEXUS.encode("utf-16"), "not valid UTF-8"),
        (b"! nothing but a comment\n", "no queueing configuration found"),
        (b"frobnicate 7\n", "no queueing configuration found"),
    ],
)
def test_a_file_without_a_configuration_is_refused(
    tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "switch.cfg"
    file.write_bytes(content)
    with pytest.raises(RunRefusedError) as refused:
        import_file("nxos", file, None, None, is_strict=False, is_json=False)
    assert words in str(refused.value)
    with pytest.raises(TailraceError):
        import_file("sonic", file, None, None, is_strict=False, is_json=False)


def test_a_database_without_tables_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text('{"VLAN": {"Vlan10": {"vlanid": "10"}}}', encoding="utf-8")
    with pytest.raises(RunRefusedError, match="no queueing configuration"):
        import_file("sonic", file, None, None, is_strict=False, is_json=False)


def test_a_mark_of_byte_order_is_no_part_of_the_first_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "switch.cfg"
    file.write_bytes(NEXUS.encode("utf-8-sig"))
    assert import_file("nxos", file, None, None, is_strict=True, is_json=False) == 0
    assert "leaf1:" in capsys.readouterr().out


def test_a_section_that_no_scenario_can_have_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "switch.cfg"
    file.write_text(NEXUS + "  shape min 5 gbps max 1 gbps\n", encoding="utf-8")
    assert import_file("nxos", file, None, None, is_strict=False, is_json=False) == 1
    assert "would reject this section" in capsys.readouterr().err
