"""Every command that the tutorial shows is run, and what it shows as output is compared.

A `console` block holds commands after `$ ` (with further lines after `> `) and under each what it
prints: every line shown must be printed, in this order; lines may be left out, `...` stands for any
text, and any number for any other: the words are checked here, the numbers where they are made,
except those of `EXACT`. The unit of a remaining time may differ: it grows with the load of the
machine. `[exit 1]` as the last line is the expected exit status.

By default the runs of `tailrace init` are a tenth as long as those of the page (`shortened`), and
those of `EXACT` run whole in a folder of their own, too; with `TAILRACE_TESTS=all` all are the
same.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from counts import cases

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "docs/tutorial.md",
    "docs/how-to/import-configuration.md",
    "docs/how-to/vdbench.md",
    "docs/how-to/compare-policies.md",
    "docs/how-to/size-a-buffer.md",
    "docs/how-to/pandas.md",
    "docs/how-to/ci.md",
    "docs/how-to/nightly-backup.md",
    "docs/how-to/several-files.md",
    "docs/how-to/slow-machine.md",
    # Its figures are those of the whole length; `test_published.py` has the comparison.
    pytest.param("docs/how-to/reproduce-a-paper.md", marks=pytest.mark.slow),
)
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
UNCERTAIN = re.compile(r" ±[\d.]+|(?<=\d)\*")
"""Half of an interval, or the mark of a figure that has none yet: a shorter run has other ones."""
TO_GO = re.compile(r"(?<=^about )(\d+ s|\d+ min|\d+\.\d h)(?= remaining$)")
EXIT = re.compile(r"\[exit (\d+)\]")
WHOLE_PAGES = ("docs/how-to/reproduce-a-paper.md",)
EXACT = ("tailrace run lab.yaml --out runs/first",)
"""Commands whose numbers a page promises to the reader: the same plan and seed give the same
figures everywhere."""
COMMAND_LIMIT_S = 600
WHOLE_RUN = re.compile(r"^tailrace run lab\.yaml(?!.*--(?:scale|dry-run))", re.MULTILINE)
WHOLE_CALL = re.compile(r"(?<=tailrace\.run\(\"lab\.yaml\", )")
FEWER = "--set workloads.orders.transactions=20"
"""A tenth of those of `tailrace init`. With `--scale` the tables would have another column."""


@dataclass
class Command:
    """A command, the lines that it is said to print, and its status."""

    text: str
    shown: list[str] = field(default_factory=list)
    status: int = 0


def commands(page: str) -> Iterator[Command]:
    """The commands of a page, in order."""
    for block in BLOCK.findall(page):
        current: Command | None = None
        for line in block.splitlines():
            if line.startswith("$ "):
                if current:
                    yield current
                current = Command(line.removeprefix("$ "))
            elif current is None:
                raise ValueError(f"a console block begins with a command, not with {line!r}")
            elif line.startswith(">") and not current.shown:
                current.text += "\n" + line.removeprefix(">").removeprefix(" ")
            elif status := EXIT.fullmatch(line):
                current.status = int(status[1])
            else:
                current.shown.append(line)
        if current:
            yield current


def shortened(command: Command) -> Command:
    """The command with runs of a tenth of their length, where it does not state a scale."""
    text = WHOLE_RUN.sub(rf"\g<0> {FEWER}", command.text)
    return replace(command, text=WHOLE_CALL.sub("scale=0.1, ", text))


def first_missing(shown: list[str], printed: str, *, exactly: bool = False) -> str | None:
    """The first shown line that was not printed after the ones before it; `exactly` compares
    numbers too."""
    rest = iter(words(line) for line in printed.splitlines())
    for line in shown:
        found = words(line).__eq__ if exactly else partial(matches, line)
        if words(line) not in ("", "...") and not any(found(candidate) for candidate in rest):
            return line
    return None


def matches(shown: str, printed: str) -> bool:
    """Whether a line says the same in other numbers."""
    plain = UNCERTAIN.sub("", words(shown))
    pieces = [".*".join(map(re.escape, piece.split("..."))) for piece in NUMBER.split(plain)]
    return re.fullmatch(NUMBER.pattern.join(pieces), UNCERTAIN.sub("", printed)) is not None


def words(line: str) -> str:
    """A line without the widths of its columns and the unit of a remaining time."""
    return TO_GO.sub("0 s", " ".join(line.split()))


def run(command: Command, folder: Path) -> str | None:
    """What is wrong with a command, or None."""
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
    answer = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=COMMAND_LIMIT_S,
        check=False,
    )
    if answer.returncode != command.status:
        return (
            f"$ {command.text}\nexit status {answer.returncode}, not "
            f"{command.status}:\n{answer.stdout}"
        )
    missing = first_missing(command.shown, answer.stdout, exactly=command.text in EXACT)
    return (
        None
        if missing is None
        else f"$ {command.text}\ndid not print {missing!r} but:\n{answer.stdout}"
    )


def whole_copy(folder: Path) -> Path:
    """A folder beside it with its scenario, where nothing is shortened."""
    whole = folder.with_name(f"{folder.name}-whole")
    whole.mkdir(exist_ok=True)
    shutil.copy(folder / "lab.yaml", whole)
    return whole


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_shows(page: str, tmp_path: Path) -> None:
    found = list(commands((ROOT / page).read_text()))
    assert found, f"{page} shows no command"
    for command in found:
        if command.text in EXACT:
            assert (wrong := run(command, whole_copy(tmp_path))) is None, wrong
        used = cases(command, command if page in WHOLE_PAGES else shortened(command))
        assert (wrong := run(used, tmp_path)) is None, wrong


def test_runs_are_shortened_where_no_scale_is_stated() -> None:
    whole = {
        "tailrace run lab.yaml --out b > /dev/null": f"tailrace run lab.yaml {FEWER} "
        "--out b > /dev/null",
        'tailrace.run("lab.yaml", trials=2)': 'tailrace.run("lab.yaml", scale=0.1, trials=2)',
    }
    as_they_are = [
        "tailrace run lab.yaml --scale 0.5 > c",
        "tailrace run lab.yaml --dry-run",
        "tailrace check lab.yaml",
    ]
    expected = whole | {text: text for text in as_they_are}
    assert {text: shortened(Command(text)).text for text in expected} == expected


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    [command] = commands("```console\n$ false\n```\n")
    assert "exit status 1, not 0" in (run(command, tmp_path) or "")


def test_an_expected_status_is_honoured(tmp_path: Path) -> None:
    [command] = commands("```console\n$ exit 3\n[exit 3]\n```\n")
    assert run(command, tmp_path) is None


def test_a_line_that_is_not_printed_is_noticed(tmp_path: Path) -> None:
    [command] = commands("```console\n$ echo one; echo two\ntwo\none\n```\n")
    assert "did not print 'one'" in (run(command, tmp_path) or "")


def test_numbers_may_differ_and_words_may_not() -> None:
    assert matches("p99 12.5 ms", "p99 -3 ms")
    assert not matches("p99 12.5 ms", "p99 high ms")
    assert not matches("p99 12.5 ms", "p99 12.5 us")


def test_a_time_to_go_may_have_another_unit() -> None:
    assert matches("about 5 s remaining", words("about 1.2 h remaining"))
    assert not matches("about 5 s remaining", words("about 5 s more"))


def test_a_command_may_have_several_lines(tmp_path: Path) -> None:
    [command] = commands("```console\n$ cat <<END\n> one\n>\n> two\n> END\none\ntwo\n```\n")
    assert run(command, tmp_path) is None


def test_dots_stand_for_any_text(tmp_path: Path) -> None:
    [command] = commands("```console\n$ echo 'done   in 3.2 s'\ndone in ... s\n...\n```\n")
    assert run(command, tmp_path) is None
