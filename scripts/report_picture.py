"""`docs/figures/report.png`: the first screen of the report of the README's own scenario.

`python scripts/report_picture.py` runs the scenario and takes the picture with Chromium; it needs `chromium` on the path.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import tailrace

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "figures" / "report.png"
WIDTH, HEIGHT = 1000, 1150
LIMIT_S = 120
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-quic")
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
        print(result)
        shot = (f"--user-data-dir={place / 'profile'}", f"--screenshot={PICTURE}", f"--window-size={WIDTH},{HEIGHT}")
        command = [browser, *FLAGS, *shot, "--virtual-time-budget=4000", result.report_path.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1e3:.0f} kB")
    return 0


def scenario(place: Path) -> Path:
    """The README's twenty lines as a file."""
    [block] = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    path = place / "backup-window.yaml"
    path.write_text(str(block))
    return path


if __name__ == "__main__":
    sys.exit(main())
