"""The README's table of reproduced results: from a run, to a small committed summary, to Markdown.

The summary (`reproductions/*/result-summary.json`) holds what the table and the figure show and what says how it was
made; the run directory itself is not committed.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = ROOT / "reproductions" / "cisco-dpp" / "result-summary.json"
BEGIN = "<!-- reproduced results: written by `make readme-table` -->"
END = "<!-- end of reproduced results -->"
KEPT = ("metric", "arm", "baseline", "workload", "value", "published", "tolerance", "passed")
SOLO = "solo:"
HEADS = {"completion_s": "{arm}, s", "acceleration_percent": "faster with {arm}, %"}

Json = dict[str, Any]


def condense(result: Json) -> Json:
    """What the README needs of a `result.json`."""
    run = result["run"]
    if run["is_partial"] or run["problems"]:
        raise ValueError("this run is partial or has invalid trials: the README shows complete runs only")
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
    """The summary as it is committed: numbers rounded to what is shown, so that a diff can be read."""
    return json.dumps(rounded(summary), indent=1, ensure_ascii=False) + "\n"


def rounded(value: Any) -> Any:
    """Six significant digits are more than any figure here deserves."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


def table(summary: Json) -> str:
    """One row per workload; each cell is the figure here, the published one, and whether it lies in its band."""
    cells: dict[tuple[str, str], Json] = {}
    for judged in summary["expectations"]:
        if judged["workload"] and judged["metric"] in HEADS:
            cells[judged["workload"], column(judged)] = judged
    columns = list(dict.fromkeys(head for _, head in cells))
    rows = [
        "| " + " | ".join(["workload", *columns]) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name in summary["workloads"]:
        shown = [cell(cells.get((name, head))) for head in columns]
        rows.append(f"| {name} | " + " | ".join(shown) + " |")
    return "\n".join([*rows, "", provenance(summary)])


def column(judged: Json) -> str:
    """The head of the column in which a judged figure stands."""
    if judged["arm"] and judged["arm"].startswith(SOLO):
        return "alone, s"
    return HEADS[judged["metric"]].format(arm=judged["arm"])


def cell(judged: Json | None) -> str:
    """`571 (572 ✓)`: here, then published."""
    if judged is None or judged["value"] is None:
        return "–"
    digits = 1 if judged["metric"].endswith("percent") else 0
    mark = {True: "✓", False: "✗", None: "?"}[judged["passed"]]
    return f"{judged['value']:.{digits}f} ({judged['published']:g} {mark})"


def provenance(summary: Json) -> str:
    """How many figures lie in their bands, and what was run."""
    judged = summary["expectations"]
    passed = sum(one["passed"] is True for one in judged)
    part = (
        "the published transaction counts" if summary["scale"] == 1 else f"{summary['scale']:g} of the published counts"
    )
    return (
        f"Here (published, ✓ within the stated tolerance): {passed} of {len(judged)} published figures hold. "
        f"Run with {part}, {summary['trials']} trials per arm, seed {summary['seed']}."
    )


def replace_block(page: str, block: str) -> str:
    """The page with everything between the two markers replaced."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError("a README lost the markers of the table of reproduced results")
    return f"{head}{begin}\n{block}\n{end}{tail}"
