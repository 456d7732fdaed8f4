"""How much slower a what-if page is than the command on this machine: whole trials, one at a time,
median of ratios.

`whatif_speed.py [SCENARIO..]` needs Chromium.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Browser  # noqa: E402  the tests' own
from tailrace.cli.whatif import write_whatif  # noqa: E402  as above
from tailrace.experiment.native import make_trial, run_trial  # noqa: E402  as above
from tailrace.experiment.plans import Plans  # noqa: E402  as above
from tailrace.experiment.schedule import TrialKey  # noqa: E402  as above
from tailrace.scenario.loading import load_scenario  # noqa: E402  as above

EXAMPLES = ("dpp", "buffers", "jumbo")
LIMIT_S = 600
TIMES = "whatif.data.arms.map((arm) => whatif.results().full[arm].map((one) => one.ms))"


def main(names: list[str]) -> int:
    """Print a line for each scenario."""
    for file in [Path(name) for name in names] or [
        ROOT / "examples" / f"{name}.yaml" for name in EXAMPLES
    ]:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            write_whatif([file], arms=[], assignments=None, scale=None, out=page)
            with Browser(page, Path(folder)) as browser:
                browser.wait(
                    "globalThis.whatif && whatif.isIdle() && whatif.say().startsWith('Done')",
                    LIMIT_S,
                )
                times = dict(
                    zip(browser.eval("whatif.data.arms"), browser.eval(TIMES), strict=True)
                )
        plans = Plans(load_scenario(file).arms)
        ratios = []
        for arm, measured in times.items():
            for trial, page_ms in enumerate(measured, start=1):
                text = plans.json(TrialKey(arm, trial))
                began = time.perf_counter()
                run_trial(make_trial(text))
                ratios.append(page_ms / 1000 / (time.perf_counter() - began))
        spread = f"{min(ratios):.1f} to {max(ratios):.1f}"
        print(f"{file.stem}: {statistics.median(ratios):.1f} ({spread}), {len(ratios)} trials")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
