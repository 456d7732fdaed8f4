"""Priority flow control: enabled where losses decide, disabled where pauses decide."""

from collections.abc import Iterator
from typing import Any

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, Candidate
from tailrace.advice.situation import Situation, unused
from tailrace.scenario.policies.switch import Policy

LOSSLESS = 3
"""The priority that storage uses by custom (FCoE, RoCE)."""
QUEUES_MAX = 8
EVIDENCE = "reproductions/hagen-pfc, reproductions/hagen-converged"


def candidates(situation: Situation) -> Iterator[Candidate]:
    """PFC for the goal's class, and no pauses."""
    if not situation.switches:
        return
    yield Candidate(
        name="no-pauses",
        group="pauses",
        title="No port pauses its senders",
        changes=situation.with_policies(_without_pauses),
        acts_on=QUEUES | {WINDOW},
        costs="What does not fit is lost: storage that cannot bear losses must have another class.",
        evidence=EVIDENCE,
    )
    policies = situation.with_policies(_lossless)
    if policies:
        yield Candidate(
            name="pfc",
            group="classes",
            title=f"A lossless class (PFC) for {situation.goal_names}",
            changes={
                **policies,
                **{f"workloads.{name}.priority": LOSSLESS for name in situation.targets},
                **situation.of_hosts("nic.pfc", {"priorities": [LOSSLESS]}),
            },
            acts_on=REPEATS | {WINDOW},
            costs=(
                "Pauses spread: hosts that send to another receiver stand still too, loops of "
                "buffers can deadlock, and"
                " one defective interface stops a whole network. Set the watchdog."
            ),
            evidence=EVIDENCE,
        )


def _without_pauses(text: dict[str, Any], policy: Policy) -> bool:
    if policy.pausing is None:
        return False
    text.pop("pfc", None)
    text.pop("link_pause", None)
    return True


def _lossless(text: dict[str, Any], policy: Policy) -> bool:
    if (
        policy.pausing is not None
        or LOSSLESS in policy.priorities
        or len(policy.queues) >= QUEUES_MAX
    ):
        return False
    own = unused("lossless", text["queues"])
    # The ingress groups limit it: a lossless queue must not drop frames that its port has admitted.
    text["queues"] = {**text["queues"], own: {"limit": "dynamic(64)"}}
    text["priorities"] = {**(text.get("priorities") or {}), LOSSLESS: own}
    text["pfc"] = {"priorities": [LOSSLESS], "headroom": "auto", "watchdog": {}}
    return True
