"""The README's own scenario, run: what it prints, and `docs/figures/report.png`, the first screen
of its report.

`python scripts/report_picture.py` runs the scenario, puts its output into the README and takes the
picture with Chromium, which must be on the path.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import tailrace
from readme_table import replace_block

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MARKS = (
    "<!-- output of the twenty lines: written by scripts/report_picture.py -->",
    "<!-- end of output -->",
)
PICTURE = ROOT / "docs" / "figures" / "report.png"
WIDTH, HEIGHT = 1000, 1150
LIMIT_S = 120
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-quic",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Run, draw, take the picture."""
    browser = next((found for name in NAMES if (found := shutil.which(name))), None)
    if browser is None:
        print(f"report_picture: none of {', '.join(NAMES)} is installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tailrace.ScenarioWarning)
            result = tailrace.run(scenario(place), out=place / "run")
        README.write_text(
            replace_block(README.read_text(), f"```text\n{str(result).strip()}\n```", MARKS)
        )
        shot = (
            f"--user-data-dir={place / 'profile'}",
            f"--screenshot={PICTURE}",
            f"--window-size={WIDTH},{HEIGHT}",
        )
        command = [
            browser,
            *FLAGS,
            *shot,
            "--virtual-time-budget=4000",
            result.report_path.as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1e3:.0f} kB")
    return 0


def scenario(place: Path) -> Path:
    """The README's twenty lines as a file."""
    [block] = re.findall(r"^```yaml\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    path = place / "backup-window.yaml"
    path.write_text(str(block))
    return path


if __name__ == "__main__":
    sys.exit(main())
