"""Every scenario that the project ships."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
REPRODUCTIONS = sorted((ROOT / "reproductions").glob("*/scenario.yaml"))
SCENARIOS = [*EXAMPLES, *REPRODUCTIONS]
