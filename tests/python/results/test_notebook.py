"""The example notebook, run from top to bottom as a program."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
NOTEBOOK_S_MAX = 200


def test_the_notebook_runs_and_says_what_it_found(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    environment = os.environ | {"NOTEBOOK_SCALE": "0.005", "NOTEBOOK_RUN_DIR": str(run_dir)}
    shown = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "notebook_cisco.py")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=NOTEBOOK_S_MAX,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert "rate or time" in shown.stdout
    assert "fifo: XS p50 " in shown.stdout
    assert "MB waited" in shown.stdout
    assert (run_dir / "report.html").exists()
    assert (run_dir / "queue.csv").read_text().startswith("arm,trial,port,bin,start_s")
