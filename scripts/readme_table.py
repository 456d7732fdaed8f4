"""The README's table of reproduced results: from a run, to a small committed summary, to Markdown.

The summary (`reproductions/*/result-summary.json`) holds what the table and the figure show and
what says how it was made; the run directory itself is not committed. What each figure can prove is
its `kind` in the published figures beside it, and where the independent ones hold is in the summary
of the map (`map.json`).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.results.compare.kinds import by_kind, count_text, null_text
from tailrace.results.directory.published import Band

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = ROOT / "reproductions" / "cisco-dpp" / "result-summary.json"
PUBLISHED = SUMMARY.parent / "published.yaml"
MAP = SUMMARY.parent / "map.json"
BEGIN = "<!-- reproduced results: written by `make readme-table` -->"
END = "<!-- end of reproduced results -->"
COST = SUMMARY.parent / "client-cost.json"
COST_BEGIN = "<!-- measured client: written by `make readme-table` -->"
COST_END = "<!-- end of measured client -->"
KEPT = ("metric", "arm", "baseline", "workload", "value", "published", "tolerance", "passed")
SOLO = "solo:"
HEADS = {"completion_s": "{arm}, s", "acceleration_percent": "faster with {arm}, %"}
KIND_WORDS = {"bound": "bound by capacity", "fitted": "fitted one for one"}
LEVEL_WORDS = {"6": "six hold", "5": "five or more", "4": "four or more"}

Json = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A judged figure of the summary."""

    metric: str
    arm: str | None
    workload: str | None
    value: float | None
    published: float
    passed: bool | None
    kind: str
    passed_without: bool | None
    is_run: bool = True


def condense(result: Json) -> Json:
    """What the README needs of a `result.json`."""
    run = result["run"]
    if run["is_partial"] or run["problems"]:
        raise ValueError(
            "this run is partial or has invalid trials: the README shows complete runs only"
        )
    arms = {name: arm["workloads"] for name, arm in result["arms"].items()}
    return {
        "name": run["name"],
        "seed": run["seed"],
        "scale": run["scale"],
        "trials": run["trials_planned"],
        "versions": run["versions"],
        "plan_hashes": run["plan_hashes"],
        "workloads": result["workloads"],
        "completion_full_scale_s": {
            arm: {name: workload["completion_full_scale_s"] for name, workload in workloads.items()}
            for arm, workloads in arms.items()
        },
        "expectations": [{key: judged[key] for key in KEPT} for judged in result["expectations"]],
    }


def written(summary: Json) -> str:
    """The summary as it is committed: numbers rounded to what is shown, so that a diff can be
    read."""
    return json.dumps(rounded(summary), indent=1, ensure_ascii=False) + "\n"


def rounded(value: Any) -> Any:
    """Six significant digits are more than any figure here deserves."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


def table(summary: Json, bands: list[Band], region: Json) -> str:
    """The figures in groups of what they can prove, the counts of each group, and where the
    independent ones hold."""
    judged = labelled(summary["expectations"], bands)
    names = summary["workloads"]
    rows = ["| " + " | ".join(["kind", "figure", *names]) + " |", "|---" * (len(names) + 2) + "|"]
    for kind, figures in by_kind(judged).items():
        shown = [figure for figure in figures if figure.workload and figure.metric in HEADS]
        for head in dict.fromkeys(column(figure) for figure in shown):
            cells = {figure.workload: cell(figure) for figure in shown if column(figure) == head}
            listed = [cells.get(name, "") for name in names]
            rows.append("| " + " | ".join([KIND_WORDS.get(kind, kind), head, *listed]) + " |")
    return "\n".join([*rows, "", provenance(summary, judged), "", *region_lines(region)])


def labelled(expectations: list[Json], bands: list[Band]) -> list[Figure]:
    """Judged figures with the kind of their bands, and with the verdict on an arm that does what
    its baseline does."""
    values = {(one["metric"], one["arm"], one["workload"]): one["value"] for one in expectations}
    found = {(band.metric, band.arm, band.workload): band for band in bands}
    baseline = next((band.baseline for band in bands if band.baseline), None)
    listed = []
    for one in expectations:
        band = found[one["metric"], one["arm"], one["workload"]]
        is_mechanism = one["arm"] != baseline and not (one["arm"] or "").startswith(SOLO)
        without = values.get(
            (one["metric"], baseline if is_mechanism else one["arm"], one["workload"])
        )
        if one["metric"] == "acceleration_percent":
            without = 0.0
        passed_without = None if without is None else band.holds(without)
        figure = {
            key: one[key] for key in ("metric", "arm", "workload", "value", "published", "passed")
        }
        listed.append(Figure(**figure, kind=band.kind, passed_without=passed_without))
    return listed


def region_lines(region: Json) -> list[str]:
    """Each fitted value with the range in which so many of the independent figures hold, and what
    follows from it."""
    fitted = [value for value in region["values"] if value["kind"] == "fitted"]
    heads = ["fitted value", "here", "stated range", *LEVEL_WORDS.values()]
    lines = [
        f"{len(fitted)} values are fitted to the {region['figures']} independent figures together. "
        "The table shows the range over which all six, at least five or at least four figures hold "
        "when each value is varied alone, over its stated range and at least ±15 % (at "
        f"{region['again_scale']:g} of the counts):",
        "",
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
    ]
    for value in fitted:
        spans = [value["holds"][level] or "nowhere" for level in LEVEL_WORDS]
        lines.append(
            "| " + " | ".join([value["name"], value["base"], value["stated"] or "–", *spans]) + " |"
        )
    return [*lines, "", f"{region['verdict']}{corner_words(region['corners'])}"]


def corner_words(corners: dict[str, int]) -> str:
    """How many corners of the fitted values hold how many figures, such as ` With all of them
    ...`."""
    total = sum(corners.values())
    if not total:
        return ""
    counts = [
        sum(number for held, number in corners.items() if int(held) >= level) for level in (6, 4)
    ]
    return (
        f" With all of them at ±15 % simultaneously, six hold at {counts[0]} and four or more at "
        f"{counts[1]} of {total} corners."
    )


def column(judged: Figure) -> str:
    """The head of the column in which a judged figure stands."""
    if judged.arm and judged.arm.startswith(SOLO):
        return "alone, s"
    return HEADS[judged.metric].format(arm=judged.arm)


def cell(judged: Figure | None) -> str:
    """`571 (572 ✓)`: here, then published."""
    if judged is None or judged.value is None:
        return "–"
    digits = 1 if judged.metric.endswith("percent") else 0
    mark = {True: "✓", False: "✗", None: "?"}[judged.passed]
    return f"{judged.value:.{digits}f} ({judged.published:g} {mark})"


def provenance(summary: Json, judged: list[Figure]) -> str:
    """How many figures of each kind lie in their bands, what DPP off would score, and what was
    run."""
    part = (
        "the published transaction counts"
        if summary["scale"] == 1
        else f"{summary['scale']:g} of the published counts"
    )
    texts = [text for text in (count_text(judged), null_text(judged)) if text]
    return (
        f"Here (published, ✓ within the stated tolerance). {'. '.join(texts)}. "
        f"Run with {part}, {summary['trials']} trials per arm, seed {summary['seed']}."
    )


def replace_block(page: str, block: str, markers: tuple[str, str] = (BEGIN, END)) -> str:
    """The page with everything between the two markers replaced."""
    head, begin, rest = page.partition(markers[0])
    _, end, tail = rest.partition(markers[1])
    if not begin or not end:
        raise ValueError(f"a README lost the marker {markers[1] if begin else markers[0]}")
    return f"{head}{begin}\n{block}\n{end}{tail}"
