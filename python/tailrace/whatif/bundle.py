"""The content of a page's simulation: plans of all arms, and the changes of each knob's positions
in them."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.scenario.loading import Loaded
from tailrace.scenario.lowering.plan import canonical_json
from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.scenario.text.units import SIZE, QuantityError, parse
from tailrace.whatif.classes import queue_locations
from tailrace.whatif.content import Bundle
from tailrace.whatif.drawing import drawn_of
from tailrace.whatif.knobs import POSITIONS_MAX, Knob, knobs_of, leaves
from tailrace.whatif.lowered import Lowering, Size
from tailrace.whatif.moves import CONFIGURATION, Moved
from tailrace.whatif.moving import Mover
from tailrace.whatif.together import learned
from tailrace.whatif.verified import check_combinations

ARMS_MAX = 6
"""Arms of one page, at most."""
PLANS_BYTES_MAX = 300_000
"""Maximum bytes of plans with the changes of the knobs: the page is to stay below 1.5 MB."""
DRAWN_OF_LARGE_MAX = 24
"""Values that are edited in the drawing, at most, when the plans take half of that already."""
EXACT_MAX = 2**53
"""Whole numbers up to this are exact in a page."""


def refuse(loaded: Loaded, arms: list[str]) -> None:
    """Raises `RunRefusedError`, before anything is simulated, for scenarios that no page
    supports."""
    if loaded.scenario.sweep is not None:
        raise RunRefusedError(
            "a page has no room for a sweep (hint: name what it varies under whatif.knobs)"
        )
    if loaded.scenario.experiment.calibrate is not None:
        raise RunRefusedError(
            "calibrated counts are worked out by a run (hint: take them into "
            "the file, without calibrate)"
        )
    if len(arms) > ARMS_MAX:
        raise RunRefusedError(
            f"{len(arms)} arms are more than the {ARMS_MAX} of a page "
            "(hint: choose some with --arm)"
        )


def bundle_of(loaded: Loaded, sizes: tuple[Size, ...], arms: list[str]) -> Bundle:
    """Lowers the scenario at every position of its knobs. Raises `RunRefusedError` when a page
    cannot have it."""
    lowering = Lowering(loaded, arms, sizes)
    own = {arm: loaded.arms[arm] for arm in arms}
    bundle = Bundle(lowering, lowering.all_plans(own))
    plans_bytes = len(canonical_json(bundle.plans))
    refuse_bytes(plans_bytes)
    for arm, configuration in bundle.plans.get(CONFIGURATION, {}).items():
        bundle.locations[arm] = queue_locations(own[arm], configuration)
    mover = Mover(lowering, bundle.plans, _sizes_of(loaded))
    is_named = bool(loaded.scenario.whatif.knobs)
    listed = knobs_of(loaded)
    for knob in listed:
        if len(knob.values) > POSITIONS_MAX:
            raise RunRefusedError(
                f"{knob.path} has {len(knob.values)} positions; the limit is {POSITIONS_MAX}"
            )
        _keep(bundle, mover.of(knob), is_named=is_named)
    drawn = drawn_of(loaded.document.data, own, [knob.path for knob in listed])
    if plans_bytes > PLANS_BYTES_MAX // 2 and len(drawn) > DRAWN_OF_LARGE_MAX:
        more = len(drawn) - DRAWN_OF_LARGE_MAX
        drawn = drawn[:DRAWN_OF_LARGE_MAX]
        bundle.left_out.append(
            f"{more} values of the drawing: the network is too large for more than "
            f"{DRAWN_OF_LARGE_MAX}"
        )
    for group, members in groupby(
        drawn, key=lambda knob: knob.group if knob.path.endswith(".share") else ""
    ):
        if group:
            _keep_shares(bundle, mover, list(members))
            continue
        for knob in members:
            _keep(bundle, mover.of(knob), is_named=False)
    _drop_parts(bundle)
    bundle.together = learned(lowering, bundle.moved)
    check_combinations(bundle)
    _check_numbers(bundle)
    return bundle


def _drop_parts(bundle: Bundle) -> None:
    """Maps of classes that are stated as a whole need a knob for each class."""
    by_group: dict[str, list[Moved]] = {}
    for one in bundle.moved:
        if ".priorities." in one.path and one.knob.group:
            by_group.setdefault(one.knob.group, []).append(one)
    for group, members in by_group.items():
        if len(members) < PRIORITIES:
            bundle.moved = [one for one in bundle.moved if one not in members]
            bundle.left_out.append(f"{group}: lossless classes stay where they are")


def _sizes_of(loaded: Loaded) -> list[Fraction]:
    """The sizes that the file states, in bytes: where the range of another one is likely to end."""
    found = set()
    for section in ("switches", "policies"):
        for _, value in leaves(loaded.document.data.get(section, {}), section):
            try:
                found.add(Fraction(parse(value, SIZE)))
            except QuantityError:
                continue
    defaults = {
        Fraction(loaded.scenario.switch(name).buffer) for name in loaded.scenario.graph.switches
    }
    return sorted(found | defaults)


def _keep(bundle: Bundle, one: Moved, *, is_named: bool) -> None:
    """Takes a knob that changes something; one of the drawing for which numbers are typed has no
    positions."""
    is_effective = any(
        steps for arms in one.steps.values() for positions in arms.values() for steps in positions
    )
    if (not one.allowed and ".priorities." not in one.path) or not is_effective:
        nothing = "it changes nothing in any arm"
        why = nothing if one.allowed else next(iter(one.refused.values()), nothing)
        if is_named:
            raise RunRefusedError(f"the knob {one.path} cannot be moved: {why}")
        if not one.knob.is_drawn:
            bundle.left_out.append(f"{one.path}: {why}")
        return
    bundle.moved.append(_trimmed(one) if one.knob.is_drawn else one)


def _trimmed(one: Moved) -> Moved:
    knob, start = one.knob, one.knob.start
    if one.number is None:
        return one
    kept = Knob(knob.path, (knob.values[start],), 0, knob.label, is_drawn=True, group=knob.group)
    steps = {
        size: {arm: [positions[start]] for arm, positions in arms.items()}
        for size, arms in one.steps.items()
    }
    return Moved(kept, steps, {}, one.number, one.why_no_number)


def _keep_shares(bundle: Bundle, mover: Mover, knobs: list[Knob]) -> None:
    made = mover.share(knobs, len(knobs))
    if not made:
        bundle.left_out.append(f"{knobs[0].group}: in thousandths the plans are other ones")
    bundle.moved += made


def _check_numbers(bundle: Bundle) -> None:
    data = bundle.data()
    weighed = {key: data[key] for key in ("plans", "pool", "steps", "follow", "together")}
    size = len(canonical_json(weighed))
    while size > PLANS_BYTES_MAX and any(one.knob.is_drawn for one in bundle.moved):
        last = [one for one in bundle.moved if one.knob.is_drawn][-8:]
        bundle.moved = [one for one in bundle.moved if one not in last]
        bundle.left_out.append(
            f"{last[0].path} and {len(last) - 1} more in the drawing: the page has no room for them"
        )
        data = bundle.data()
        weighed = {key: data[key] for key in weighed}
        size = len(canonical_json(weighed))
    refuse_bytes(size)
    large = next(_large(weighed), None)
    if large is not None:
        raise RunRefusedError(f"the plan has the number {large}, which a page cannot hold exactly")


def refuse_bytes(size: int) -> None:
    """Raises `RunRefusedError` when a page has no room for plans of this size."""
    if size > PLANS_BYTES_MAX:
        raise RunRefusedError(
            f"the plans of the page have {size} bytes; the limit is {PLANS_BYTES_MAX}"
            " (hint: fewer knobs, positions or arms, or a smaller network)"
        )


def _large(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _large(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _large(inner)
    elif isinstance(value, int) and abs(value) > EXACT_MAX:
        yield value
