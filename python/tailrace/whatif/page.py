"""The page."""

import base64
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from markupsafe import Markup
from msgspec import convert

from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import SimulatedTrial
from tailrace.experiment.explain import ran_all
from tailrace.experiment.native import Failed
from tailrace.experiment.plans import Plans
from tailrace.experiment.reporter import Reporter, Silent
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.stages import working
from tailrace.files import write_text
from tailrace.plan.types import Plan
from tailrace.report.charts.topology import topology_chart, topology_words
from tailrace.report.embedded import script_json
from tailrace.report.page import asset, environment
from tailrace.scenario.loading import Loaded
from tailrace.whatif.bundle import bundle_of, refuse, refuse_bytes
from tailrace.whatif.content import Bundle
from tailrace.whatif.lowered import Size
from tailrace.whatif.module import packed, version

PAGE_BYTES_MAX = 1_500_000
"""A page that a mail server and a telephone take."""
QUICK_HOPS = 80_000
"""Packet-hops of the short runs of all arms together: about 0.2 s in a browser."""
FIRST_SCALE = 0.01
"""Share of the experiment from which the size of the short run is worked out."""


def write_page(
    loaded: Loaded, arms: Sequence[str], scale: float, path: Path, reporter: Reporter | None = None
) -> tuple[Bundle, int]:
    """Writes the page atomically, and returns its content and its bytes. Raises `RunRefusedError`
    for a scenario that pages do not support."""
    chosen = list(arms) or list(loaded.arms)
    refuse(loaded, chosen)
    reporter = reporter or Silent()
    quick = _quick_scale(loaded, chosen, scale, reporter)
    sizes = (Size("quick", quick), Size("full", scale), Size("configuration", None))
    with working(reporter, "making the plans of every position"):
        bundle = bundle_of(loaded, sizes, chosen)
    with working(reporter, "writing the page"):
        text = render(bundle)
    size = len(text.encode())
    if size > PAGE_BYTES_MAX:
        raise RunRefusedError(
            f"the page would have {size} bytes; the limit is {PAGE_BYTES_MAX} (hint: fewer "
            "knobs or arms)"
        )
    write_text(path, text)
    return bundle, size


def _quick_scale(loaded: Loaded, arms: list[str], scale: float, reporter: Reporter) -> float:
    """The share of the experiment whose trials of all arms have about `QUICK_HOPS` packet-hops, to
    two digits.

    Raises `RunRefusedError`, before anything is simulated, where one plan alone is too large for a
    page.
    """
    first = FIRST_SCALE * scale
    with working(reporter, "making plans"):
        made = Plans({arm: scaled(loaded.arms[arm], first) for arm in arms})
        plans = {key: made.json(key) for key in (TrialKey(arm, 1) for arm in arms)}
    refuse_bytes(max(len(plan) for plan in plans.values()))
    hops = 0
    for ended in ran_all(plans, 1, SimulatedTrial, reporter, "the size of a short run").values():
        if isinstance(ended, Failed):
            raise RunRefusedError(f"the scenario cannot be simulated: {ended.reason}")
        hops += ended.outcome.packet_hops or 0
    return min(scale, max(first, float(f"{first * QUICK_HOPS / max(hops, 1):.2g}")))


def render(bundle: Bundle) -> str:
    """The page as text."""
    data = bundle.data()
    plan = convert(bundle.plans[bundle.sizes[0].name][data["arms"][0]], Plan)
    context = {
        "name": data["name"],
        "question": data["question"],
        "tries": bundle.loaded.scenario.whatif.try_,
        "drawing": topology_chart(plan),
        "words": topology_words(plan),
        "left_out": bundle.left_out,
        "version": version(),
        "theme": asset("theme.css"),
        "style": Markup(_asset("whatif.css")),
        "data": script_json(data),
        "module": Markup(base64.b64encode(packed()).decode()),
        "worker": Markup(_asset("worker.js")),
        "values": Markup(_asset("values.js")),
        "drawing_script": Markup(_asset("drawing.js")),
        "statistics": Markup(_asset("statistics.js")),
        "core": Markup(_asset("core.js")),
        "script": Markup(_asset("whatif.js")),
    }
    return environment().from_string(_asset("whatif.html.j2")).render(context)


def _asset(name: str) -> str:
    return (resources.files("tailrace.whatif") / "assets" / name).read_text(encoding="utf-8")
