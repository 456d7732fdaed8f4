"""Lowers pauses and ingress accounting of one port: thresholds that depend on the port's link."""

from dataclasses import dataclass
from typing import Any

from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies import headroom
from tailrace.scenario.policies.pause import PRIORITIES, GroupThresholds, LinkPause, Pfc, Police
from tailrace.scenario.policies.switch import Policy, Switch
from tailrace.scenario.scenario import Scenario

ALL = (1 << PRIORITIES) - 1
"""Every priority."""

Raw = dict[str, Any]


@dataclass(frozen=True)
class Port:
    """A port with its link and neighbour, from which `auto` is computed."""

    node: str
    towards: str
    switch: Switch
    scenario: Scenario
    graph: Graph

    @property
    def rate_bps(self) -> int:
        """Rate of the link; the network's default for a port without a link."""
        link = self.graph.link_of.get((self.node, self.towards))
        return self.scenario.network.link.rate if link is None else link.rate_bps

    @property
    def delay_ps(self) -> int:
        """Propagation delay of the link."""
        link = self.graph.link_of.get((self.node, self.towards))
        return self.scenario.network.link.delay if link is None else link.delay_ps

    @property
    def frame_bytes(self) -> int:
        """The largest frame of any host, as switches store it."""
        return self.scenario.frame_bytes

    @property
    def surroundings(self) -> tuple[int, ...]:
        """The inputs of `groups` and `headroom_bytes` besides the policy; many ports have the
        same."""
        return (
            self.switch.buffer,
            self.rate_bps,
            self.delay_ps,
            self.pipelines_ps(),
            self.peer_response_ps(),
        )

    def peer_response_ps(self) -> int:
        """Time in which the neighbour obeys a pause."""
        response: int | str = "auto"
        if self.towards in self.graph.host_names:
            response = self.scenario.host(self.towards).nic.pause_response
        elif self.towards in self.graph.switch_names:
            peer = self.scenario.switch(self.towards)
            policy = self.scenario.policy(peer.ports.get(self.node, peer.policy))
            if policy is not None and policy.pausing is not None:
                response = policy.pausing.response
        return headroom.response_ps(self.rate_bps) if isinstance(response, str) else response

    def pipelines_ps(self) -> int:
        """Frames in transit inside this switch, and pauses inside a switch at the other end."""
        is_switch = self.towards in self.graph.switch_names
        return self.switch.latency + (
            self.scenario.switch(self.towards).latency if is_switch else 0
        )

    def headroom_bytes(self, pausing: Pfc | LinkPause) -> int:
        """Bytes of `headroom: auto` at this port."""
        # A cable shorter than the link's delay would not cover the bytes in flight on the link.
        delay_ps = max(
            self.delay_ps, 0 if pausing.cable is None else headroom.delay_ps(pausing.cable)
        )
        return headroom.headroom_bytes(
            self.rate_bps,
            self.frame_bytes,
            round_trip_ps=2 * delay_ps + self.pipelines_ps(),
            peer_response_ps=self.peer_response_ps(),
        )


def lower_pausing(policy: Policy, port: Port) -> Raw:
    """`pause` and `groups` of a port; a port that sends no pauses still has groups if its switch
    has any."""
    pausing = policy.pausing
    if pausing is None:
        return {"groups": [_lossy(ALL, {"bytes": port.switch.buffer})]}
    return {"pause": _pause(pausing, port), "groups": groups(pausing, port)}


def lower_police(police: Police) -> Raw:
    """A policer."""
    return {
        "classes": mask(police.priorities),
        "rate_bps": police.rate,
        "burst_bytes": police.burst,
        "per_flow": police.per_flow,
    }


def mask(priorities: list[int]) -> int:
    """Bit mask of priorities."""
    return sum(1 << priority for priority in set(priorities))


def groups(pausing: Pfc | LinkPause, port: Port) -> list[Raw]:
    """The priority groups of a port: together they cover every priority once."""
    automatic = port.headroom_bytes(pausing)
    if isinstance(pausing, LinkPause):
        usual = {name: getattr(pausing, name) for name in GroupThresholds.model_fields}
        whole = GroupThresholds.model_construct(**usual)
        return [_group(ALL, whole, automatic, sends=pausing.sends, buffer=port.switch.buffer)]
    lossless = sorted(set(pausing.priorities))
    made = [
        _group(
            1 << p, pausing.thresholds(p), automatic, sends=pausing.sends, buffer=port.switch.buffer
        )
        for p in lossless
    ]
    if rest := ALL & ~mask(lossless):
        limit = pausing.lossy
        made.append(
            _lossy(
                rest, {"bytes": port.switch.buffer} if limit is None else {limit.unit: limit.amount}
            )
        )
    return made


def _group(
    priorities: int, thresholds: GroupThresholds, automatic: int, *, sends: bool, buffer: int
) -> Raw:
    if not sends:
        return _lossy(priorities, {"bytes": buffer})
    assert thresholds.xoff is not None, "thresholds are complete"
    headroom_bytes = automatic if thresholds.headroom == "auto" else thresholds.headroom
    return {
        "priorities": priorities,
        "reserved_bytes": thresholds.reserved,
        "limit": {thresholds.xoff.unit: thresholds.xoff.amount},
        "lossless": {"xon_offset_bytes": thresholds.xon_offset, "headroom_bytes": headroom_bytes},
    }


def _lossy(priorities: int, limit: Raw) -> Raw:
    return {"priorities": priorities, "reserved_bytes": 0, "limit": limit}


def _pause(pausing: Pfc | LinkPause, port: Port) -> Raw:
    is_link = isinstance(pausing, LinkPause)
    automatic = headroom.response_ps(port.rate_bps)
    raw: Raw = {
        "obeys": mask(pausing.priorities) if isinstance(pausing, Pfc) and pausing.obeys else 0,
        "obeys_link_pause": is_link and pausing.obeys,
        "response_ps": automatic if isinstance(pausing.response, str) else pausing.response,
        "quanta": pausing.quanta,
        "sends_link_pause": is_link,
    }
    if (watchdog := pausing.watchdog) is not None:
        raw["watchdog"] = {
            "detection_ps": watchdog.detection,
            "restoration_ps": watchdog.restoration,
        }
    return raw
