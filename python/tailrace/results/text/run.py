"""The text that a terminal shows after a run: the results, with the published figures."""

from collections.abc import Mapping, Sequence

from tailrace.results.compare.effect_words import correction_words
from tailrace.results.compare.fidelity import TAP, fidelity_rows
from tailrace.results.compare.headline import headline
from tailrace.results.compare.kinds import asked_for, count_text, null_text
from tailrace.results.compare.looks_text import looks_sentences
from tailrace.results.directory.grid import Grid, grid_of
from tailrace.results.directory.published import COMPARISONS
from tailrace.results.format.columns import WIDTH, Row, align, fill
from tailrace.results.format.numbers import (
    PS_PER_S,
    THIN_SPACE,
    digits_text,
    number,
    plain_text,
    signed_text,
    span_text,
)
from tailrace.results.kinds.registry import kinds_text
from tailrace.results.metrics.costs import cost_rows
from tailrace.results.metrics.early_end import early_end_sentences
from tailrace.results.metrics.latency import PERCENTILES
from tailrace.results.metrics.subject_rows import SubjectRow, has_completion, subject_rows
from tailrace.results.metrics.unfinished import unfinished_sentences
from tailrace.results.ports.fair_drop import fair_drop_sentences
from tailrace.results.ports.lock_out import lock_out_sentences
from tailrace.results.ports.pauses import deadlock_sentences
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.results.summary.summary import ArmSummary, Problem, Summary
from tailrace.results.summary.workload import LatencySummary
from tailrace.results.text.bonds import bonds_text
from tailrace.results.text.failures import failures_text, rolled_back_text
from tailrace.results.text.fragments import fragments_text
from tailrace.results.text.hypervisors import hypervisors_text
from tailrace.results.text.limiting_text import limiting_text
from tailrace.results.text.needed import needed_mark, needed_sentence
from tailrace.results.text.outcome_text import WIDTH as TERMINAL
from tailrace.results.text.outcome_text import Paint, outcome_text, plain
from tailrace.results.text.unexplained import unexplained_sentence
from tailrace.scenario.experiment import SOLO
from tailrace.statistics import LEVEL_TEXT, mean

CUT_OFF_WORDS = (
    "Cut off: transactions and flows still running when their trial ended. Their latency is longer "
    "than their time until then; the percentiles are Kaplan-Meier estimates that include them; '>' "
    "marks a lower bound."
)
COST_ROWS_MAX = 30
"""Rows of the table of costs that a terminal shows."""

# Trials that do not count are named one by one up to this many.
PROBLEMS_MAX = 20


def format_table(summary: Summary, paint: Paint = plain) -> str:
    """The sentence and the table of the outcome, then completion times, percentiles, expectations
    and problems."""
    parts = [
        title(summary),
        _warnings(summary.arms),
        "\n".join(
            fill(sentence, TERMINAL) for sentence in [*headline(summary), *looks_sentences(summary)]
        ),
        "\n".join(fill(sentence, TERMINAL) for sentence in unfinished_sentences(summary)),
        "\n".join(fill(sentence, TERMINAL) for sentence in early_end_sentences(summary)),
        outcome_text(summary, paint),
        "\n".join(fill(sentence, WIDTH) for sentence in fair_drop_sentences(summary.arms)),
        _completion(summary),
        _latency(summary),
        limiting_text(summary),
        fill(unexplained_sentence(summary) or "", TERMINAL),
        kinds_text(summary),
        fragments_text(summary),
        failures_text(summary),
        rolled_back_text(summary),
        bonds_text(summary),
        hypervisors_text(summary),
        _effects(summary),
        _expectations(summary),
        _fidelity(summary),
        _costs(summary),
    ]
    return "\n\n".join(part for part in [*parts, _problems(summary)] if part) + "\n"


def _warnings(arms: Mapping[str, ArmSummary]) -> str:
    """Warnings about deadlocks and lock-out, before any figure."""
    sentences = [
        *deadlock_sentences(arms),
        *(f"warning: {sentence}" for sentence in lock_out_sentences(arms)),
    ]
    return "\n".join(fill(sentence, WIDTH) for sentence in sentences)


def title(summary: Summary) -> str:
    """Name, engine, seed and scale; a second line where trials are missing."""
    run = summary.run
    scale = (
        ""
        if run.scale == 1
        else f", {run.scale:.3g} of the full counts (times are also shown x {1 / run.scale:.4g})"
    )
    divided = (
        "" if run.live_scale == 1 else f", rates, queues and users divided by {run.live_scale}"
    )
    partial = "\nPARTIAL: some trials are missing, see below." if run.is_partial else ""
    fabric = run.fabric
    engine = "" if run.engine == "simulated" else f", {run.engine}"
    if fabric not in (None, TAP):
        engine += f" over {fabric}"
    return f"{run.name}{engine}: seed {run.seed}{scale}{divided}{partial}"


def _completion(summary: Summary) -> str:
    is_scaled = summary.run.scale != 1
    head = (
        ["completion, s", "arm", "trials", "mean", f"{LEVEL_TEXT} interval"]
        + (["at full scale"] if is_scaled else [])
        + ["slowdown"]
    )
    rows = [head]
    found = subject_rows(summary, has_completion)
    rows += [row for one in found if (row := _completion_row(one, is_scaled))]
    return align(rows, left=2) if len(rows) > 1 else ""


def _completion_row(row: SubjectRow, is_scaled: bool) -> list[str] | None:
    own = row.own
    if own.unfinished_trials:
        trials = ", ".join(str(n) for n in own.unfinished_trials)
        has_no_end = not own.unfinished and len(own.unfinished_trials) == len(own.trials)
        row_text = [row.name, row.arm, "0", "–", f"unfinished in {trials}"]
        return None if has_no_end else row_text + ["–"] * (2 if is_scaled else 1)
    interval = own.completion_s.interval
    return [
        row.name,
        row.arm,
        str(len(own.completion_s.values)),
        number(own.completion_s.mean),
        f"{number(interval.low)} to {number(interval.high)}" if interval else "–",
        *([number(mean(own.completion_full_scale_s))] if is_scaled else []),
        number(own.slowdown.mean, 3) if own.slowdown else "–",
    ]


def _latency(summary: Summary) -> str:
    every = subject_rows(summary, lambda own: own.latency_ms)
    found = [(row.name, row.arm, latency) for row in every if (latency := row.own.latency_ms)]
    if not found:
        return ""
    is_cut_off = any(latency.cut_off.count for _, _, latency in found)
    head = ["latency, ms", "arm", "p50", "p90", "p95", "p99", "p99.9", "max"]
    rows: list[Row] = [[*head, "cut off", "longest wait"] if is_cut_off else head]
    for name, arm, latency in found:
        row = [name, arm, *(bounded(latency, key) for key in (*PERCENTILES, "max"))]
        cut_off = latency.cut_off
        longest = number(cut_off.longest) if cut_off.count else "–"
        rows.append([*row, number(cut_off.count, 1), longest] if is_cut_off else row)
    needed = needed_sentence(summary)
    notes = [CUT_OFF_WORDS if is_cut_off else "", needed]
    return "\n".join([align(rows, left=2), *(fill(note, WIDTH) for note in notes if note)])


def bounded(latency: LatencySummary, key: str) -> str:
    """A figure of the latency with half of its interval, with a mark where it is a lower bound or
    has none yet."""
    interval, trials = latency.intervals[key], len(latency.of_trials[key])
    half = f" ±{number((interval.high - interval.low) / 2, 2)}" if interval else ""
    mark = needed_mark(latency.trials_needed.get(key), trials)
    return ("> " if key in latency.bounds else "") + number(getattr(latency, key)) + half + mark


def _effects(summary: Summary) -> str:
    effects = [e for e in summary.comparisons if e.is_main]
    if not effects:
        return ""
    methods = ", ".join(dict.fromkeys(effect.method for effect in effects))
    note = (
        f"Intervals are {LEVEL_TEXT} intervals of the change; p: "
        f"{methods}{correction_words(effects)}."
    )
    return "\n".join([*(effect.words for effect in effects), fill(note, WIDTH)])


def _expectations(summary: Summary) -> str:
    """As a grid where the figures fill one, with failed ones repeated in full; otherwise as a
    list."""
    expectations = summary.expectations
    if not expectations:
        return ""
    count = "\n".join(
        f"{text}." for text in (count_text(expectations), null_text(expectations)) if text
    )
    grid = grid_of(expectations, summary.workloads)
    if grid is None:
        return f"{_list(expectations)}\n{count}"
    missed = [
        one for one in asked_for(expectations) if one.passed is not True or one.is_clear is False
    ]
    return "\n\n".join([_grid(grid), *([_list(missed)] if missed else []), count])


def _grid(grid: Grid) -> str:
    """Each figure with the published one and the verdict; above them the metric, the port or
    workload, and the tolerance."""
    blocks = [[["workload"], *([name] for name in grid.workloads)]]
    heads = [""]
    for index, column in enumerate(grid.columns):
        unit = column.name.rpartition(", ")[2] or column.name
        heads.append(
            " ".join(
                part
                for part in (
                    f"{column.where}, {unit}",
                    f"({column.tolerance})" if column.tolerance else "",
                )
                if part
            )
        )
        cells = [row[index] for row in grid.cells]
        figures = [
            [figure_text(c, c.value), plain_text(c.published), verdict_text(c)] for c in cells
        ]
        blocks.append([["here", "published", ""], *figures])
    columns = [align(block, left=0 if len(block[0]) > 1 else 1).splitlines() for block in blocks]
    widths = [
        max(len(line) for line in (head, *lines))
        for head, lines in zip(heads, columns, strict=True)
    ]
    lines = [heads, *([column[row] for column in columns] for row in range(len(columns[0])))]
    padded = (
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def _list(expectations: Sequence[JudgedFigure]) -> str:
    rows: list[Row] = [
        [
            "expected",
            "where",
            "here",
            f"{LEVEL_TEXT} interval",
            "published",
            "difference",
            "allowed",
            "",
        ]
    ]
    for judged in expectations:
        rows.append(
            [
                judged.metric,
                scope_text(judged),
                figure_text(judged, judged.value),
                judged_interval_text(judged),
                plain_text(judged.published),
                difference_text(judged),
                judged.tolerance,
                verdict_text(judged),
            ]
        )
    return align(rows, left=2)


def scope_text(judged: JudgedFigure) -> str:
    """Where an expectation applies: arm, workload, port, queue, cause, and from when on."""
    arm = judged.arm or ""
    if arm.startswith(SOLO):
        arm = "alone"
    elif judged.metric in COMPARISONS and judged.baseline:
        arm = f"{arm} against {judged.baseline}"
    after = f"after {span_text(judged.after_s * PS_PER_S)}" if judged.after_s else None
    parts = (arm, judged.workload, judged.port, judged.queue, judged.cause, after)
    return " ".join(dict.fromkeys(part for part in parts if part))


def difference_text(judged: JudgedFigure) -> str:
    """Distance from the published figure, in points for percentages and in percent for the rest."""
    if judged.tolerance.endswith("points"):
        return signed_text(judged.difference, "points")
    return signed_text(judged.difference_percent, "%")


def figure_text(judged: JudgedFigure, value: float | None) -> str:
    """A figure with as many digits as it deserves."""
    if value is not None and judged.metric == "acceleration_percent":
        return signed_text(value, "").strip().removeprefix("+")
    is_bound = judged.is_bound and value is not None and value == judged.value
    return f"> {number(value)}" if is_bound else number(value)


def judged_interval_text(judged: JudgedFigure) -> str:
    """The interval of a figure, with the digits of the figure."""
    interval = judged.interval
    if interval and judged.metric == "acceleration_percent":
        return f"{figure_text(judged, interval.low)} to {figure_text(judged, interval.high)}"
    return f"{number(interval.low)} to {number(interval.high)}" if interval else "–"


def verdict_text(judged: JudgedFigure) -> str:
    """Pass, FAIL, unknown or not run; `just` where the interval crosses the limit of the tolerance.

    A lower bound fails where the figure could exceed the tolerance. So does an undecided goal, with
    the trials that would decide it.
    """
    if not judged.is_run:
        return "not run (--arm)"
    if judged.passed is None:
        return "no trial has it"
    if judged.is_open:
        return "FAIL: a lower bound"
    if judged.end == "undecided":
        return f"FAIL: undecided (takes {judged.takes})"
    return ("just " if judged.is_clear is False else "") + ("pass" if judged.passed else "FAIL")


def _fidelity(summary: Summary) -> str:
    alone = [(f"{name} alone", own.fidelity) for name, own in summary.solo.items()]
    rows = fidelity_rows([*((arm, own.fidelity) for arm, own in summary.arms.items()), *alone])
    return align(rows) if len(rows) > 1 else ""


def _costs(summary: Summary) -> str:
    """Processor time and context switches of live programs; a long table stands in the report
    alone."""
    arms = ((arm, own.costs) for arm, own in summary.arms.items())
    rows = cost_rows(arms, lambda value: digits_text(value).replace(THIN_SPACE, " "))
    return align(rows) if 1 < len(rows) <= COST_ROWS_MAX else ""


def _problems(summary: Summary) -> str:
    run = summary.run
    lists = {
        "Invalid and failed trials:": [
            problem for problem in run.problems if not problem.unfinished
        ],
        "Invalid attempts of trials that were repeated:": run.repeated,
    }
    return "\n\n".join(_listed(title, problems) for title, problems in lists.items() if problems)


def _listed(title: str, problems: Sequence[Problem]) -> str:
    lines = [f"  {p.arm} trial {p.trial}: {p.status}: {p.reason}" for p in problems[:PROBLEMS_MAX]]
    if len(problems) > PROBLEMS_MAX:
        lines.append(f"  and {len(problems) - PROBLEMS_MAX} more, in result.json")
    return "\n".join([title, *lines])
