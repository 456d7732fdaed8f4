"""Fuzzing, with one toy format: a fault of the process that reads is found, kept, told, and
forgotten once mended.

The toy reads its seed; of any other input it does what the variable TOY says.
"""

import os
import sys
from pathlib import Path

import pytest

import checks
import fuzz
from fuzzing import mutations, worker
from fuzzing.program import Format
from tailrace.files import read_json

SEED = b'{"a": 1}\n'
"""Of which the first inputs differ."""
TOY = f"""
import os, time

from fuzzing.program import Format


def read(file):
    match os.environ["TOY"] if file.read_bytes() != {SEED!r} else "":
        case "crash":
            os.abort()
        case "hang":
            while True:
                pass
        case "wait":
            time.sleep(1000)
        case "raise":
            raise KeyError("a fault")
    return ""


FORMATS = [Format("toy", ".toy", lambda: [{SEED!r}], read)]


def format_of(name):
    return FORMATS[0]
"""
PROGRAM = """
from dataclasses import dataclass


class FindingError(Exception):
    pass


@dataclass
class Format:
    name: str
    suffix: str
    seeds: object
    read: object
    is_binary: bool = False
"""
MINUTES = 0.005


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Format:
    """The only format, also in the processes that try inputs; these import nothing of the
    program."""
    package = tmp_path / "toys" / "fuzzing"
    package.mkdir(parents=True)
    real = Path(fuzz.__file__).parent / "fuzzing"
    (package / "__init__.py").write_text(f"__path__.append({str(real)!r})\n")
    (package / "formats.py").write_text(TOY)
    (package / "program.py").write_text(PROGRAM)
    one = Format("toy", ".toy", lambda: [SEED], lambda _file: "")
    monkeypatch.setattr(fuzz, "FORMATS", [one])
    monkeypatch.setattr(fuzz, "format_of", lambda _name: one)
    monkeypatch.setattr(fuzz, "PATHS", str(package.parent))
    monkeypatch.setattr(fuzz, "INPUT_CPU_S_MAX", 0.1)
    return one


def called(monkeypatch: pytest.MonkeyPatch, behaviour: str, *words: str) -> int:
    """The exit code of the program."""
    monkeypatch.setenv("TOY", behaviour)
    monkeypatch.setattr(sys, "argv", ["fuzz", *words])
    return fuzz.main()


@pytest.mark.parametrize(
    ("behaviour", "signature"),
    [
        ("crash", fuzz.CRASHED),
        ("hang", fuzz.HUNG),
        ("raise", "KeyError in nowhere"),
        ("fine", None),
    ],
)
def test_a_finding_is_kept_and_told_until_it_is_mended(
    toy: Format,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    behaviour: str,
    signature: str | None,
) -> None:
    words = ("--minutes", str(MINUTES), "--state", str(tmp_path))
    assert called(monkeypatch, behaviour, *words) == (signature is not None)
    progress = read_json(tmp_path / "fuzz" / "progress.json")["toy"]
    tried, findings = progress["next"] - 1, progress["findings"]
    assert tried >= 1
    assert progress["seconds"] > 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"fuzz: {tried} inputs of 1 formats, {len(findings)} findings"
    assert [one.partition(":")[0] for one in findings] == ([signature] if signature else [])
    for one in findings:
        kept = fuzz.State(tmp_path).path_of(toy, one)
        assert kept.read_bytes() != SEED
        assert kept.with_name(f"{kept.name}.details").read_text().startswith(one)

    # The next call goes on, and forgets what was mended.
    assert called(monkeypatch, "fine", *words) == 0
    progress = read_json(tmp_path / "fuzz" / "progress.json")["toy"]
    assert progress["next"] - 1 > tried
    assert progress["findings"] == {}
    assert not [path for path in (tmp_path / "fuzz").rglob("*.toy*") if "findings" in path.parts]


def test_a_process_that_neither_ends_nor_computes_is_a_finding(
    toy: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY", "wait")
    state = fuzz.State(tmp_path)
    with fuzz.working(toy, state) as process:
        assert "ready" in process.answer("", fuzz.START_CPU_S_MAX)
        monkeypatch.setattr(fuzz, "WAIT_S_MAX", 0.1)
        assert process.answer("1", fuzz.INPUT_CPU_S_MAX)["signature"].startswith(fuzz.WAITING)


def test_a_seed_that_is_a_finding_ends_the_turn_of_its_format(
    toy: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "toys" / "fuzzing" / "formats.py"
    program.write_text(program.read_text().replace(f"if file.read_bytes() != {SEED!r}", "if True"))
    monkeypatch.setenv("TOY", "crash")
    state = fuzz.State(tmp_path)
    fuzz.fuzz(toy, state, 1000)
    [signature] = state.of["toy"].findings
    assert signature.startswith(f"a seed: {fuzz.CRASHED}")


@pytest.mark.parametrize(("behaviour", "code"), [("raise", 1), ("fine", 0)])
def test_one_input_is_tried_by_itself(
    toy: Format,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    behaviour: str,
    code: int,
) -> None:
    (tmp_path / "x").write_bytes(b"x")
    assert called(monkeypatch, behaviour, "--input", "toy", str(tmp_path / "x")) == code
    assert ("KeyError: 'a fault'" if code else "no finding") in capsys.readouterr().out


def test_the_extension_with_overflow_checks_is_fuzzed_where_it_is_built() -> None:
    paths = fuzz.PATHS.split(os.pathsep)
    assert paths.index(str(checks.CHECKED)) < paths.index(str(checks.ROOT / "python"))


@pytest.mark.parametrize("is_binary", [False, True])
def test_text_and_binary_formats_have_changes_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_binary: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mutations, "TEXT", [lambda *_: b"changed as text"])
    monkeypatch.setattr(mutations, "BINARY", [lambda *_: b"changed as bytes"])
    one = Format("toy", ".toy", lambda: [SEED], lambda _file: "", is_binary=is_binary)
    assert worker.Bench(one, tmp_path).attempt(1) == {}
    assert (tmp_path / "input.toy").read_bytes() == (
        b"changed as bytes" if is_binary else b"changed as text"
    )
