"""How soon a what-if page answers, in milliseconds: from its opening and from a move to short runs
of all arms.

`whatif_first_answer.py [SCENARIO]` needs Chromium; without a scenario it measures the one of
`tailrace init`.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Browser  # noqa: E402  the tests' own
from tailrace.cli.whatif import write_whatif  # noqa: E402  as above
from tailrace.scenario.starter import STARTER  # noqa: E402  as above

OPENINGS = 5
MOVES = 20
LIMIT_S = 120
# Frames are looked at until the table has a figure of every arm; the clock of a page begins when it
# is opened.
FIRST = """new Promise((done) => {
  const look = () => globalThis.whatif && Object.keys(whatif.results().quick).length === whatif.data.arms.length
    && document.querySelector('#table .figure') ? done(performance.now()) : requestAnimationFrame(look);
  look();
})"""  # noqa: E501
MOVED = """new Promise((done) => {
  const knobs = whatif.data.knobs.filter((knob) => !knob.drawn && knob.number), knob = knobs[TURN % knobs.length];
  const at = knob.texts.findIndex((text, index) => !(text in knob.refused) && index !== whatif.positions()[knob.path]);
  const began = performance.now();
  whatif.move(knob.path, at);
  const look = () => Object.keys(whatif.results().quick).length === whatif.data.arms.length
    ? requestAnimationFrame(() => done(performance.now() - began)) : requestAnimationFrame(look);
  requestAnimationFrame(look);
})"""  # noqa: E501


def main(names: list[str]) -> int:
    """Print both, and the processor."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "starter.yaml"
        scenario.write_text(STARTER, encoding="utf-8")
        page = Path(folder) / "page.html"
        write_whatif(
            [Path(names[0]) if names else scenario], arms=[], assignments=None, scale=None, out=page
        )
        opened: list[float] = []
        for turn in range(OPENINGS):
            with Browser(page, Path(folder) / str(turn)) as browser:
                opened.append(_first(browser))
                moved = [
                    float(browser.eval(MOVED.replace("TURN", str(move)))) for move in range(MOVES)
                ]
    print(f"{_processor()}, {_told('opened', opened)}, {_told('moved', moved)}")
    return 0


def _first(browser: Browser) -> float:
    browser.wait("globalThis.whatif", LIMIT_S)
    found: Any = browser.eval(FIRST)
    return float(found)


def _told(what: str, values: list[float]) -> str:
    return (
        f"{what}: {statistics.median(values):.0f} ms ({min(values):.0f} to {max(values):.0f}, "
        f"{len(values)} times)"
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        "unknown processor",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
