"""The manual pages are made from the application: each command has one, with all its options."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main

import man_pages
from check_commands import commands
from tailrace.cli.app import app

COMMANDS: dict[str, Any] = {
    "-".join(("tailrace", *words)): command
    for words, command in commands(typer.main.get_command(app))
}
LIMIT_S = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    assert man_pages.main([str(folder)]) == 0
    return folder


def test_each_command_has_a_page_and_no_page_is_left(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {f"{name}.1" for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_each_option_argument_and_command(name: str, folder: Path) -> None:
    page = (folder / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
    titles = set(re.findall(r"[^\s,/]+", " ".join(re.findall(r"^\.B (.*)$", page, re.MULTILINE))))
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option":
            assert {*parameter.opts, *parameter.secondary_opts} <= titles
        assert parameter.help in page
    assert {"-h", "--help"} <= titles
    for each in getattr(COMMANDS[name], "commands", {}):
        assert f"\n.BR {name}-{each} (1)\n" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_is_set_without_a_warning(name: str, folder: Path) -> None:
    page = folder / f"{name}.1"
    command = ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_line_of_a_text_is_a_request() -> None:
    assert man_pages.text(".SH a-b\\c") == "\\&.SH a\\-b\\ec"
    assert man_pages.text("'quoted'") == "\\&'quoted'"
