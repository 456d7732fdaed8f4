"""The matrix of classes and mixes, as a table in README.md and as a heat map in matrix.svg.

.venv/bin/python reproductions/hagen-converged/converged_matrix.py [RUN]

RUN is a run of scenario.yaml; without one each arm is simulated once.
"""

import sys
from pathlib import Path

from converged_live import read
from converged_measure import CLASSES, Mixes, kept, measured, share
from tailrace.results import Run

HERE = Path(__file__).resolve().parent
README, DRAWING = HERE / "README.md", HERE / "matrix.svg"
MARKS = ("<!-- matrix: written by converged_matrix.py -->", "<!-- end of matrix -->")
WRITE_MAX = 25
"""Percent of the bandwidth, in mixes of three."""
SHARED = "shared-"
LABEL_PX, CELL_PX, ROW_PX, HEAD_PX, GAP_PX = 138, 52, 24, 40, 16
BANDS = ((0.78, "high"), (0.6, "middle"), (0.0, "low"))
"""Opacities of a cell from which on its text has the other ink, on the light page and on the dark
one: both inks have the same contrast there.
"""


def mixes_of(found: Mixes) -> list[str]:
    """Pairs and triples."""
    return [arm for arm in found if "-" in arm and all(part in CLASSES for part in arm.split("-"))]


def table(found: Mixes) -> str:
    """A row for each mix: what each class keeps of its rate alone, and the share of the writes, for
    both interfaces."""
    head = [
        "mix",
        *(f"{name}, own" for name in CLASSES),
        "write's share",
        *(f"{name}, one" for name in CLASSES),
        "write's share",
    ]
    rows = [head, ["---"] * len(head)]
    for mix in mixes_of(found):
        cells = [mix.replace("-", " + ")]
        for arm in (mix, SHARED + mix):
            cells += [
                f"{_kept(found, arm, name):.0f} %" if name in found[arm] else "" for name in CLASSES
            ]
            cells.append(f"{share(found[arm], 'write'):.0f} %" if "write" in found[arm] else "")
        rows.append(cells)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _kept(found: Mixes, arm: str, name: str) -> float:
    """In percent of the rate alone: classes alone have the whole interface, however many queues it
    has."""
    return 100 * found[arm][name] / found[name][name]


def drawing(found: Mixes) -> str:
    """Two maps below each other, so that a phone shows both in full size: queues of their own, and
    one queue."""
    names = mixes_of(found)
    width = LABEL_PX + len(CLASSES) * CELL_PX
    map_px = HEAD_PX + len(names) * ROW_PX + GAP_PX
    height = 2 * map_px - GAP_PX
    marks = [STYLE, f'<rect width="{width}" height="{height}" class="ground"/>']
    for side, (prefix, title) in enumerate(
        (("", "a queue for each connection"), (SHARED, "one queue"))
    ):
        marks += _map(found, names, (prefix, title), side * map_px)
    label = "Goodput of each class in each mix, in percent of its goodput alone."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{label}">\n'
        + "\n".join(marks)
        + "\n</svg>\n"
    )


def _map(found: Mixes, names: list[str], told: tuple[str, str], top: int) -> list[str]:
    prefix, title = told
    middle = LABEL_PX + len(CLASSES) * CELL_PX / 2
    marks = [
        f'<text x="{middle:g}" y="{top + 14}" class="title" text-anchor="middle">{title}</text>'
    ]
    for at, name in enumerate(CLASSES):
        x = LABEL_PX + (at + 0.5) * CELL_PX
        marks.append(
            f'<text x="{x:g}" y="{top + HEAD_PX - 8}" class="label" '
            f'text-anchor="middle">{name}</text>'
        )
    for row, mix in enumerate(names):
        y = top + HEAD_PX + row * ROW_PX
        words = mix.replace("-", " + ")
        marks.append(
            f'<text x="{LABEL_PX - 8}" y="{y + 15}" class="label" text-anchor="end">{words}</text>'
        )
        for at, name in enumerate(CLASSES):
            if name in mix.split("-"):
                percent = _kept(found, prefix + mix, name) if prefix else kept(found, mix, name)
                marks += _cell(LABEL_PX + at * CELL_PX, y, percent)
    return marks


def _cell(x: float, y: int, percent: float) -> list[str]:
    opacity = 0.06 + 0.9 * min(percent, 100) / 100
    ink = next(name for least, name in BANDS if opacity >= least)
    return [
        f'<rect x="{x:g}" y="{y}" width="{CELL_PX - 2}" height="{ROW_PX - 2}" class="heat" '
        f'fill-opacity="{opacity:.2f}"/>',
        f'<text x="{x + CELL_PX / 2 - 1:g}" y="{y + 15}" class="{ink}" '
        f'text-anchor="middle">{percent:.0f} %</text>',
    ]


STYLE = """<style>
text { font: 12px system-ui, sans-serif } .title { font-weight: 600 }
.ground { fill: #ffffff } .heat { fill: #1f5fa8 } .title, .label { fill: #1d2733 }
.low, .middle { fill: #0b1016 } .high { fill: #ffffff }
@media (prefers-color-scheme: dark) {
.ground { fill: #14181d } .heat { fill: #79b0ee } .title, .label { fill: #e6eaef }
.low { fill: #ffffff } .middle, .high { fill: #0b1016 }
}
</style>"""


def with_table(page: str, found: Mixes) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    return f"{before}{MARKS[0]}\n{table(found)}\n{MARKS[1]}{after}"


def main() -> None:
    """Writes both."""
    found = (
        read(Run.read(Path(sys.argv[1]))) if len(sys.argv) > 1 else measured("scenario.yaml", {})
    )
    DRAWING.write_text(drawing(found), encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
