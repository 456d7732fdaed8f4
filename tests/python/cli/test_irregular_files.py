"""What is no file, in every place where a user names one: it is refused in a sentence, and nothing
waits for it."""

import io
import json
import os
import socket
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from command_line import tailrace
from lab import sound
from tailrace import files
from tailrace.errors import ScenarioError, TailraceError
from tailrace.experiment.remote.credentials import Credentials
from tailrace.files import opened, read_bytes, read_json, read_text
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.published import read_published
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.loading import load_scenario
from tailrace.tools.blast.frames import read_frames

KINDS = {
    "pipe": "it is a pipe, not a file",
    "device": "it is a device, not a file",
    "socket": "it is a socket, not a file",
    "folder": "folder|directory",
    "kernel": "it is made by the kernel while it is read",
}
OF_THE_KERNEL = (Path("/proc/self/status"), Path("/sys/devices/system/cpu/online"))


@pytest.fixture(params=KINDS)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """Something that is no file, and what is said of it."""
    path = tmp_path / "other.yaml"
    match request.param:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(str(path))
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("/proc/self/status")
    return path, KINDS[request.param]


def _replayed(path: Path) -> dict[str, Any]:
    workload = {"kind": "replay", "client": "client", "server": "db", "file": str(path)}
    return sound(workloads={"orders": workload}, arms=...)


READERS: dict[str, Callable[[Path], object]] = {
    "scenario": load_scenario,
    "include": lambda path: load_scenario(
        _written(path.with_name("a.yaml"), sound(include=path.name))
    ),
    "replay": lambda path: load_scenario(_replayed(path)),
    "parameters": lambda path: host_parameters(path, [path]),
    "published": read_published,
    "frames": read_frames,
    "json": read_json,
    "certificates": lambda path: Credentials(path, path).security("tls://127.0.0.1:1"),
}
CAPTURES = ("profile", "fit")
"""They read a pipe to its end: a capture may be read while it is written."""
COMMANDS = (
    ("check",),
    ("profile",),
    ("fit", "-o", "fitted.yaml"),
    ("import", "nxos"),
    ("import", "sonic"),
    ("import", "eos"),
    ("import", "fio"),
    ("import", "vdbench"),
    ("import", "postgres"),
    ("import", "flows"),
    ("measure", "specs"),
    ("explain",),
    ("show", "queues"),
    ("advise",),
)


def _written(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_says_what_it_is(reader: str, other: tuple[Path, str]) -> None:
    path, said = other
    with pytest.raises((ScenarioError, RunDirectoryError, TailraceError, OSError), match=said):
        READERS[reader](path)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_ends_with_a_sentence(words: tuple[str, ...], tmp_path: Path) -> None:
    (zero := tmp_path / "zero.yaml").symlink_to("/dev/zero")
    os.mkfifo(pipe := tmp_path / "pipe.yaml")
    for path in (zero, *([] if words[0] in CAPTURES else [pipe])):
        done = tailrace(*words[:2], str(path), *words[2:])
        assert done.returncode == 2
        assert str(path) in done.stderr, done.stderr


def test_scenarios_are_listed_beside_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe.yaml")
    _written(tmp_path / "good.yaml", sound())
    (tmp_path / "good.yaml").write_text("tailrace: 1\n", encoding="utf-8")
    done = tailrace("list")
    assert done.returncode == 0
    assert "good.yaml" in done.stdout
    assert "pipe.yaml" not in done.stdout


def test_a_size_is_what_is_read_and_not_what_the_system_tells(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_bytes(file, 5) == b"12345"
    assert read_text(file, 5) == "12345"
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_bytes(file, 4)
    with opened(file) as one:
        assert one.read(2) == b"12"


def test_the_mark_of_the_order_of_bytes_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("\ufeffname: x".encode())
    assert read_text(file, 100) == "name: x"


@pytest.mark.parametrize("path", OF_THE_KERNEL, ids=str)
def test_what_the_kernel_makes_is_refused_in_each_of_its_file_systems(path: Path) -> None:
    if not path.exists():
        pytest.skip(f"this machine has no {path}")
    with pytest.raises(OSError, match=KINDS["kernel"]):
        read_bytes(path)


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "file").write_bytes(b"12345")
    really_open = os.open

    def exchanged(path: Path, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        assert flags & os.O_NONBLOCK, "to open a pipe without a writer waits for one"
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(OSError, match=KINDS["pipe"]):
        read_bytes(file)


def test_no_more_of_a_file_is_read_than_its_limit_and_a_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[int]()

    class Endless(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            asked.append(-1 if size is None else size)
            return b"x" * 6

    monkeypatch.setattr(files, "opened", lambda _: nullcontext(Endless()))
    with pytest.raises(OSError, match="it has more than 5 bytes"):
        read_bytes(Path("file"), 5)
    assert asked == [6]


@pytest.mark.parametrize(
    "words",
    [("explain",), ("show", "queues"), ("profile",), ("import", "nxos"), ("check",)],
    ids=" ".join,
)
def test_a_name_of_two_lines_makes_no_line_of_its_own(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    for there in (False, True):
        path = tmp_path / "x\nlab.yaml: valid"
        if there:
            path.write_text("?", encoding="utf-8")
        done = tailrace(*words, str(path))
        assert done.returncode == 2
        assert "x\\nlab.yaml: valid" in done.stderr
        assert not [line for line in done.stderr.splitlines() if line.startswith("lab.yaml")]
