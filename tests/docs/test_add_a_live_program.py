"""The page on live programs lists the files that a program touches, as an existing program shows
them."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-live-program.md"
EXEMPLAR = "iperf3"


def listed() -> list[str]:
    """The files of the page."""
    found = re.search(
        r"<!-- files -->(.*)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found, "the page marks its list"
    return re.findall(r"^- `([^`]+)`", found[1], re.MULTILINE)


def naming(program: str) -> list[str]:
    """The files of the code that name a program."""
    command = [
        "git",
        "grep",
        "--untracked",
        "-liw",
        program,
        "--",
        "crates",
        "python/tailrace",
        ":!*/tests/*",
    ]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def test_a_program_touches_the_files_of_the_page_and_no_others() -> None:
    own, names = (path.replace("NAME", EXEMPLAR) for path in listed())
    found = naming(EXEMPLAR)
    assert own in found
    assert names in found
    others = [
        file for file in found if file != names and not file.startswith(own.removesuffix(".py"))
    ]
    assert others == [], "files that the page does not list"
