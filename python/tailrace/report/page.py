"""Renders a run directory as `report.html`: one offline file, well under a megabyte."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from tailrace.report.limited import limited, omissions
from tailrace.report.limits import ARMS_DRAWN_MAX, CURVES_OPEN_MAX, PANELS_OPEN_MAX
from tailrace.report.plan_facts import plan_facts
from tailrace.report.sections.causes import where_time_went
from tailrace.report.sections.completion import completion
from tailrace.report.sections.counters import counters
from tailrace.report.sections.facts import facts
from tailrace.report.sections.files_beside import files_beside
from tailrace.report.sections.latency import distributions, slowdowns
from tailrace.report.sections.limited_by import limited_by
from tailrace.report.sections.network import network
from tailrace.report.sections.picture import picture
from tailrace.report.sections.ports import port_list, sweep_port_list
from tailrace.report.sections.provenance import provenance
from tailrace.report.sections.published import beside_published
from tailrace.report.sections.queues import queues
from tailrace.report.sections.sweep import sweep_section
from tailrace.report.sections.why import why
from tailrace.results import Run
from tailrace.results.compare.effect_words import bounded_change_text, interval_text
from tailrace.results.compare.headline import headline
from tailrace.results.directory.grid import metric_name
from tailrace.results.format import numbers
from tailrace.results.metrics.early_end import early_end_sentences
from tailrace.results.metrics.unfinished import unfinished_sentences
from tailrace.results.ports.fair_drop import fair_drop_sentences
from tailrace.results.ports.lock_out import lock_out_sentences
from tailrace.results.ports.pauses import deadlock_sentences
from tailrace.results.ports.rates import end_words
from tailrace.results.summarise import summarise_run
from tailrace.results.summary.summary import Summary
from tailrace.results.sweep.curves import mean_text
from tailrace.results.text.outcome_html import outcome_html
from tailrace.results.text.run import bounded
from tailrace.statistics import LEVEL_TEXT

PAGE = "report.html"
ASSETS = Path(__file__).parent / "assets"
UPLOT = "uplot-1.6.32.min"


def write(run_dir: Path, summary: Summary | None = None) -> Path:
    """Writes `report.html` into the run directory atomically and returns its path.

    `summary` is the result of `summarise`, where the caller has it; otherwise it is computed here.
    """
    return write_page(Run.read(Path(run_dir)), summary)


def write_page(run: Run, summary: Summary | None = None) -> Path:
    """`write` for a run that was read already."""
    run.files.folder.write(PAGE, render(run, summary).encode())
    return run.path / PAGE


def render(run: Run, summary: Summary | None = None) -> str:
    """The page as text."""
    whole = summary or summarise_run(run)
    if whole.sweep is not None:
        return _sweep_page(run, whole)
    summary = limited(whole)
    drawn = list(summary.arms)[:ARMS_DRAWN_MAX]
    known = {arm: plan_facts(run, arm, summary.arms[arm].ports) for arm in drawn}
    ports = port_list(run, drawn)
    context: dict[str, Any] = {
        "run": summary.run,
        "arms": list(summary.arms),
        "drawn": drawn,
        "workloads": summary.workloads,
        "baseline": summary.baseline,
        "headline": headline(summary),
        "picture": picture(summary),
        "limited_by": limited_by(summary),
        "panels_open": PANELS_OPEN_MAX,
        # Escaped where it was made: names of users stand in it.
        "outcome": Markup(outcome_html(summary)),
        # Unfinished trials are results, and reported as such.
        "problems": [problem for problem in summary.run.problems if not problem.unfinished],
        "unfinished": unfinished_sentences(summary),
        "early_ends": early_end_sentences(summary),
        "has_trials": any(own.trials for own in summary.arms.values()),
        "has_unfinished": any(own.unfinished_trials for own in summary.arms.values()),
        "ends": end_words(summary.arms),
        "alarms": [*deadlock_sentences(summary.arms), *lock_out_sentences(summary.arms)],
        "idle_fair_drop": fair_drop_sentences(summary.arms),
        "facts": [*facts(whole), *omissions(whole, summary)],
        "completion": completion(summary),
        "published": beside_published(summary.expectations, summary.workloads),
        "causes": where_time_went(summary),
        "why": why(run, summary, known),
        "latency": distributions(run, summary, known),
        "slowdowns": slowdowns(summary),
        "ports": ports,
        "queues": queues(run, summary),
        "counters": counters(summary),
        "network": network(run),
        "assumptions": summary.assumptions,
        "provenance": provenance(summary),
        "files": files_beside(run),
        "theme": asset("theme.css") + asset("outcome.css"),
        "uplot_style": asset(f"{UPLOT}.css"),
        "uplot_script": asset(f"{UPLOT}.js"),
        "scripts": [
            asset(name)
            for name in ("filter.js", *(["ports.js"] if ports else []), "live.js", "export.js")
        ],
    }
    return environment().get_template("page.html.j2").render(context)


def _sweep_page(run: Run, summary: Summary) -> str:
    """A sweep has many arms: curves and maps instead of the sections of two or three."""
    ports = sweep_port_list(run)
    context = {
        "run": summary.run,
        "facts": facts(summary),
        "ports": ports,
        "sweep": sweep_section(run, summary),
        "assumptions": summary.assumptions,
        "curves_open": CURVES_OPEN_MAX,
        "theme": asset("theme.css"),
        "scripts": [
            asset(name) for name in ("filter.js", *(["ports.js"] if ports else []), "export.js")
        ],
    }
    return environment().get_template("sweep.html.j2").render(context)


@cache
def environment() -> Environment:
    """The templates, with the filters that write numbers."""
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["level"] = LEVEL_TEXT
    environment.filters |= {
        "digits": numbers.digits_text,
        "mean_text": mean_text,
        "metric": metric_name,
        "plain": "{:.4g}".format,
        "count": numbers.count_text,
        "bytes": numbers.bytes_text,
        "signed": numbers.signed_text,
        "p_value": numbers.p_text,
        "bound": numbers.bound_mark,
        "bounded_change": bounded_change_text,
        "effect_interval": interval_text,
        "latency_figure": bounded,
        "code": code_marks,
    }
    return environment


def code_marks(text: str) -> Markup:
    """A sentence whose words between backticks are code."""
    parts = (
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part)
        for at, part in enumerate(text.split("`"))
    )
    return Markup("").join(parts)


@cache
def asset(name: str) -> Markup:
    """Text of our own files, which goes into the page as it is."""
    return Markup((ASSETS / name).read_text(encoding="utf-8"))
