"""Limits of queues: longer, shorter, and how much of a shared buffer one may take."""

from collections.abc import Iterator
from typing import Any

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, Candidate
from tailrace.advice.situation import PolicyEdit, Situation, size
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.switch import Policy

LONGER, SHORTER = 8, 8
ALPHAS = (0.5, 8.0)
"""A usual small and large dynamic threshold (SONiC dynamic_th -1 and 3)."""
ALPHA_WHOLE_MILLI = 1000
EVIDENCE = "docs/validation.md (thresholds, drops), examples/buffers.yaml"


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Other limits of every weighted queue."""
    buffer = max((situation.scenario.switch(name).buffer for name in situation.switches), default=0)
    if not buffer:
        return
    yield Candidate(
        name=f"queues-{LONGER}-times-longer",
        group="limits",
        title=f"The limit of each queue is {LONGER} times its present one, or all of the buffer",
        changes=situation.with_policies(_limits(lambda limit: _longer(limit, buffer))),
        acts_on=REPEATS | {WINDOW},
        costs="Long flows fill whatever there is, and others wait behind them.",
        evidence=EVIDENCE,
    )
    yield Candidate(
        name=f"queues-{SHORTER}-times-shorter",
        group="limits",
        title="The limit of each queue is an eighth of its present one, at least "
        f"{_least(situation) // 1000} kB",
        changes=situation.with_policies(
            _limits(lambda limit: _shorter(limit, buffer, _least(situation)))
        ),
        acts_on=QUEUES | {WINDOW},
        costs="Bursts are lost earlier, and a response that loses its end waits for a timer.",
        evidence=EVIDENCE,
    )
    for alpha in ALPHAS:
        yield Candidate(
            name=f"alpha-{alpha:g}".replace(".", "_"),
            group="limits",
            title=f"A queue may take {alpha:g} times the free buffer (dynamic threshold)",
            changes=situation.with_policies(
                _limits(lambda limit, alpha=alpha: _dynamic(limit, alpha))
            ),
            acts_on=QUEUES | REPEATS | {WINDOW},
            costs="Ports compete for the buffer: what one takes, another lacks.",
            evidence=EVIDENCE,
        )
    yield Candidate(
        name="buffer-4-times",
        group="buffer",
        title="A switch with four times the buffer",
        changes={**situation.of_switches("buffer", size(4 * buffer))},
        acts_on=QUEUES | REPEATS | {WINDOW},
        costs="Another switch.",
        evidence=EVIDENCE,
    )


def _least(situation: Situation) -> int:
    """Bytes of ten full frames: a shorter queue loses every burst."""
    return 10 * situation.scenario.frame_bytes


def _longer(limit: Limit, buffer: int) -> str | None:
    if limit.unit == "alpha-milli":
        return None
    if limit.unit == "frames":
        return f"{LONGER * limit.amount}frames"
    longer = min(buffer, LONGER * limit.amount)
    return size(longer) if longer > limit.amount else None


def _shorter(limit: Limit, buffer: int, least: int) -> str | None:
    held = limit.amount
    if limit.unit == "frames":
        return f"{held // SHORTER}frames" if held >= 10 * SHORTER else None
    if limit.unit == "alpha-milli":
        held = buffer * limit.amount // (ALPHA_WHOLE_MILLI + limit.amount)
    shorter = max(least, held // SHORTER)
    return size(shorter) if shorter < held else None


def _dynamic(limit: Limit, alpha: float) -> str | None:
    same = limit.unit == "alpha-milli" and limit.amount == round(alpha * ALPHA_WHOLE_MILLI)
    return None if same else f"dynamic({alpha:g})"


def _limits(changed: Any) -> PolicyEdit:
    def edit(text: dict[str, Any], policy: Policy) -> bool:
        found = {
            name: limit
            for name, queue in policy.queues.items()
            if queue.strict is None and (limit := changed(queue.limit)) is not None
        }
        for name, limit in found.items():
            text["queues"][name] = {**(text["queues"][name] or {}), "limit": limit}
        return bool(found)

    return edit
