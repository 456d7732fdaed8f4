"""`tailrace profile`, as a user types it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from capture_files import Connection, write_pcap
from tailrace.cli import main

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
def capture(tmp_path: Path) -> Path:
    connection = Connection().opened()
    connection.exchange(10_000, 1000, 5000)
    return write_pcap(tmp_path / "own.pcap", connection.frames)


def test_the_profile_is_printed_as_text_and_as_json(program: Program, capture: Path) -> None:
    code, text, said = program("profile", capture, "--line", "10Gbit/s")
    assert (code, said) == (0, "")
    assert "1, 1 with opening" in text
    code, out, said = program("profile", capture, "--line", "10Gbit/s", "--json")
    data = json.loads(out)
    assert (code, said, data["file"], data["format"]) == (0, "", "own.pcap", 1)
    assert data["capture"]["line_bps"] == 10**10
    assert data["exchanges"]["exchanges"] == 1


def test_times_select_frames(program: Program, capture: Path) -> None:
    _, out, _ = program("profile", capture, "--from", "5ms", "--until", "12ms", "--json")
    told = json.loads(out)["capture"]
    assert (told["frames"], told["frames_left_out"]) == (1, 5)


def test_addresses_are_anonymous_on_request(program: Program, capture: Path) -> None:
    of = [
        json.loads(program("profile", capture, "--anonymise", "--json", *more)[1])
        for more in ((), (), ("--key", "ab" * 16))
    ]
    again = json.loads(program("profile", capture, "--anonymise", "--json", "--key", "ab" * 16)[1])
    largest = [json.dumps(one["flow_summary"]["largest"]) for one in (*of, again)]
    assert not any("10.0." in one for one in largest[:2]) or largest[0] != largest[1]
    assert largest[2] == largest[3] != largest[0]
    assert all(one["capture"]["is_anonymous"] for one in of)


def test_a_damaged_capture_has_a_profile_and_a_warning(program: Program, capture: Path) -> None:
    capture.write_bytes(capture.read_bytes()[:-1])
    code, out, said = program("profile", capture, "--json")
    assert code == 0
    assert "the capture is truncated at byte" in said
    assert json.loads(out)["capture"]["frames"] == 5


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--line", "10"], "--line"),
        (["--line", "0Gbit/s"], "--line: the speed must be greater than zero"),
        (["--from", "soon"], "--from"),
        (["--from", "5ms", "--until", "5ms"], "--until: 5ms is not after --from (5ms)"),
        (["--until", "0s"], "--until: 0s is not after zero"),
        (["--key", "ab" * 16], "--key: only --anonymise has a key"),
        (["--anonymise", "--key", "abc"], "--key: write 32 hexadecimal digits"),
    ],
)
def test_wrong_options_are_refused_with_their_name(
    program: Program, capture: Path, arguments: list[str], told: str
) -> None:
    code, out, said = program("profile", capture, *arguments)
    assert (code, out) == (2, "")
    assert told in said


def test_what_is_no_capture_is_refused_with_its_path(program: Program, tmp_path: Path) -> None:
    for path, told in (
        (tmp_path / "none", "No such file"),
        (tmp_path, "it is a folder"),
        (Path(__file__), "not a capture"),
    ):
        code, out, said = program("profile", path)
        assert (code, out) == (2, "")
        assert str(path) in said
        assert told in said
