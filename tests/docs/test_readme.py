"""The README keeps its promises: its scenario runs, and what it names is there."""

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
TAILRACE = ROOT / ".venv" / "bin" / "tailrace"
LINES_MAX = 20


@pytest.fixture(scope="module")
def scenario() -> str:
    """The scenario of the README."""
    [block] = re.findall(r"^```yaml\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return str(block)


def test_the_scenario_has_twenty_lines_at_most(scenario: str) -> None:
    assert len(scenario.splitlines()) <= LINES_MAX


@pytest.mark.parametrize(
    "verb", [("check",), ("run", "--trials", "1", "--scale", "0.1")], ids=lambda verb: verb[0]
)
def test_the_scenario_is_sound_and_runs(
    scenario: str, verb: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "backup-window.yaml").write_text(scenario)
    command = [str(TAILRACE), verb[0], "backup-window.yaml", *verb[1:]]
    answer = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("target", re.findall(r"^make ([\w-]+)", README, re.MULTILINE))
def test_every_make_target_that_it_names_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
