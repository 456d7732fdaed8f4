"""Queue management and prioritisation at switches: DPP, AFD, WRED, CoDel, the step of DCTCP."""

from collections.abc import Iterator
from typing import Any

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, Candidate
from tailrace.advice.candidates.transport import congestion_control, ecn
from tailrace.advice.situation import PolicyEdit, Situation, size, unused
from tailrace.scenario.policies.switch import Policy

ACTS_ON = QUEUES | REPEATS | {WINDOW}
DPP_PACKETS = 120
"""The NX-OS default (`hardware qos dynamic-packet-prioritization max-num-pkts`)."""
DPP_PACKETS_SHORT = 20
"""Cisco C11-738425, page 5."""
EXPRESS = {"strict": 1, "limit": "1MB"}
AFD_US = 120
"""Cisco recommends a queue of 120 us at the line rate [K]."""
STEP_FRAMES_PER_GBPS = 6.5
"""DCTCP (SIGCOMM 2010, section 4): 65 frames of 1500 bytes at 10 Gbit/s, 20 at 1 Gbit/s."""
STEP_FRAMES_MIN = 20
FRAME_BYTES = 1500
QUEUES_MAX = 8
NETWORK_EVIDENCE = "docs/validation.md, against published results"


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Mechanisms of queues that no used policy has."""
    if not situation.switches:
        return
    for packets in (DPP_PACKETS_SHORT, DPP_PACKETS):
        yield Candidate(
            name=f"dpp-{packets}",
            group="dpp",
            title=f"The first {packets} packets of every flow use an express queue (DPP)",
            changes=situation.with_policies(_dpp(packets)),
            acts_on=ACTS_ON,
            costs="Needs a switch with DPP, and a strict queue of it; long "
            "flows wait for short ones.",
            evidence="reproductions/cisco-dpp",
        )
    desired = situation.line_bps * AFD_US // (8 * 10**6)
    yield Candidate(
        name="afd",
        group="queue management",
        title="Elephants are dropped early, in proportion to their rate (AFD)",
        changes=situation.with_policies(_managed({"kind": "afd", "desired": size(desired)})),
        acts_on=ACTS_ON,
        costs="Needs a switch with AFD; long flows lose packets.",
        evidence="reproductions/cisco-dpp",
    )
    if situation.has_tcp:
        afd = situation.with_policies(
            _managed({"kind": "afd", "desired": size(desired), "ecn": True})
        )
        yield ecn(
            situation,
            "afd-ecn",
            "Elephants are marked early (AFD with ECN)",
            afd,
            "Needs a switch with AFD, and",
        )
        red = {
            "kind": "red",
            "minimum": size(desired),
            "maximum": size(4 * desired),
            "probability": "10%",
            "ecn": True,
        }
        wred = situation.with_policies(_managed(red))
        yield ecn(
            situation,
            "wred-ecn",
            "Packets are marked early by the length of the queue (WRED with ECN)",
            wred,
            "Needs",
        )
        yield _dctcp(situation)
    yield Candidate(
        name="codel",
        group="queue management",
        title="Packets are dropped when the queue stands for 1 ms (CoDel)",
        changes=situation.with_policies(
            _managed({"kind": "codel", "target": "1ms", "interval": "20ms"})
        ),
        acts_on=ACTS_ON,
        costs="Software switches and routers have it; long flows lose packets.",
        evidence=NETWORK_EVIDENCE,
    )


def _dctcp(situation: Situation) -> Candidate:
    frames = max(STEP_FRAMES_MIN, STEP_FRAMES_PER_GBPS * situation.line_bps / 1e9)
    step = situation.with_policies(
        _managed({"kind": "step", "threshold": size(frames * FRAME_BYTES)})
    )
    hosts, settings = congestion_control(situation, "dctcp")
    return Candidate(
        name="dctcp",
        group="queue management",
        title="Hosts use DCTCP, and switches mark above a short queue",
        changes={**step, **hosts} if step else {},
        acts_on=ACTS_ON,
        costs="All hosts that share a queue must change together: DCTCP "
        "beside CUBIC takes what it leaves.",
        settings=settings,
        evidence=NETWORK_EVIDENCE,
    )


def _dpp(packets: int) -> PolicyEdit:
    def edit(text: dict[str, Any], policy: Policy) -> bool:
        if policy.dpp is not None or len(policy.queues) >= QUEUES_MAX:
            return False
        express = unused("express", text["queues"])
        levels = [queue.strict for queue in policy.queues.values() if queue.strict is not None]
        if 1 in levels:
            return False
        text["queues"] = {express: dict(EXPRESS), **text["queues"]}
        # The queue of the other packets must be the previous queue of all packets: by default it is
        # the first weighted one.
        text["dpp"] = {"max_packets": packets, "age": "5ms", "express": express}
        return True

    return edit


def _managed(mechanism: dict[str, Any]) -> PolicyEdit:
    def edit(text: dict[str, Any], policy: Policy) -> bool:
        bare = [
            name
            for name, queue in policy.queues.items()
            if queue.aqm.kind == "none" and queue.strict is None
        ]
        for name in bare:
            text["queues"][name] = {**(text["queues"][name] or {}), "aqm": dict(mechanism)}
        return bool(bare)

    return edit
