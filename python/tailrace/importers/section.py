"""The section of a scenario that a switch configuration determines: policies and one switch."""

import io
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ruamel.yaml import YAML

from tailrace.errors import ScenarioError, few
from tailrace.importers.remarks import Remarks
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.pause import GroupThresholds, Pfc
from tailrace.scenario.policies.switch import Policy, Switch
from tailrace.scenario.schema import quantity_text
from tailrace.scenario.text.units import RATE, SHARE, SIZE, TIME
from tailrace.scenario.text.yaml import yaml_comment

PRIORITIES = range(8)
ONE_PERCENT_PPB = 10**7
STAND_INS = ("host-a", "host-b", "host-c")
"""Hosts of the scenario in which a section is checked."""

PORTS_NAMED_MAX = 3
"""Ports that a comment names at most."""

Yaml = dict[str, Any]


@dataclass
class Section:
    """Policies and a switch in the form of a scenario file."""

    switch_name: str = "switch"
    switch: Yaml = field(default_factory=dict)
    policies: dict[str, Yaml] = field(default_factory=dict)
    mtu_bytes: int | None = None
    """MTU of the default class; in a scenario it belongs to hosts."""
    class_mtus: dict[int, int] = field(default_factory=dict)
    """MTU by class, for classes with one."""
    port_rates: dict[str, int] = field(default_factory=dict)
    """Rate of ports that state one, in bit/s; in a scenario it belongs to links."""
    refused: str = ""
    """Why the configuration says nothing about the queues of a port; empty where it does."""
    is_sound: bool = True
    """Whether this section is valid in a scenario."""

    def data(self) -> Yaml:
        """The section as a mapping."""
        return {"policies": self.policies, "switches": {self.switch_name: self.switch}}

    def text(self, source: str) -> str:
        """The section as YAML, with a comment that names its source."""
        head = [
            f"Switch section from {source}: `tailrace run SCENARIO FILE` applies it to "
            f"'{self.switch_name}'."
        ]
        if self.mtu_bytes is not None:
            head.append(f"MTU of the switch: set hosts.defaults.mtu to at most {self.mtu_bytes}B")
        own = {group: mtu for group, mtu in self.class_mtus.items() if mtu != self.mtu_bytes}
        head += [
            f"MTU of class {group}: set mtu to at most {mtu}B for hosts that send it"
            for group, mtu in own.items()
        ]
        head += [
            f"{ports} {'has' if count == 1 else 'have'} {rate(bps)}: set network.link.rate, or "
            "rate of single links"
            for bps, ports, count in self._rates()
        ]
        buffer = io.StringIO()
        yaml = YAML()
        yaml.width = 120
        yaml.default_flow_style = False
        yaml.dump(self.data(), buffer)
        return "".join(f"{yaml_comment(line)}\n" for line in head) + buffer.getvalue()

    def _rates(self) -> list[tuple[int, str, int]]:
        """Every rate with its ports and their number; the most common rate first."""
        by_rate: dict[int, list[str]] = {}
        for port, bps in self.port_rates.items():
            by_rate.setdefault(bps, []).append(port)
        common = sorted(by_rate.items(), key=lambda one: -len(one[1]))
        return [(bps, few(ports, PORTS_NAMED_MAX), len(ports)) for bps, ports in common]

    def models(self) -> tuple[dict[str, Policy], Switch]:
        """The parsed section; raises pydantic's `ValidationError` for values that a scenario does
        not allow."""
        policies = {name: Policy.model_validate(policy) for name, policy in self.policies.items()}
        return policies, Switch.model_validate(self.switch)

    def check(self, remarks: Remarks) -> None:
        """Adds the problems for which a scenario with this section would be rejected."""
        try:
            load_scenario(self._smallest_scenario())
        except ScenarioError as error:
            self.is_sound = False
            for problem in error.problems:
                hint = f" (hint: {problem.hint})" if problem.hint else ""
                remarks.add(
                    0,
                    problem.path,
                    "contradiction",
                    f"a scenario cannot contain this: {problem.what}{hint}",
                )

    def rename(self, name: str, remarks: Remarks) -> None:
        """Renames the switch, and its policies after it, so that a scenario can contain the
        sections of several switches.
        """
        several = len(self.policies) > 1
        new = {policy: f"{name}-{policy}" if several else name for policy in self.policies}
        self.policies = {new[policy]: content for policy, content in self.policies.items()}
        if "policy" in self.switch:
            self.switch["policy"] = new[self.switch["policy"]]
        if "ports" in self.switch:
            self.switch["ports"] = {
                port: new[policy] for port, policy in self.switch["ports"].items()
            }
        remarks.rename(f"switches.{self.switch_name}", f"switches.{name}")
        for old, policy in new.items():
            remarks.rename(f"NEIGHBOUR: {old}}}", f"NEIGHBOUR: {policy}}}")
        self.switch_name = name

    def _smallest_scenario(self) -> Yaml:
        """A star network around this switch with its named neighbours, and one stream through
        it."""
        hosts = list(
            dict.fromkeys((*self.switch.get("ports", {}), *self.switch.get("port_mtu", {})))
        )
        hosts += [name for name in STAND_INS if name not in (self.switch_name, *hosts)]
        return self.data() | {
            "tailrace": 1,
            "name": "section",
            "network": {"topology": {"kind": "star", "switch": self.switch_name, "hosts": hosts}},
            "workloads": {"bulk": {"kind": "stream", "source": hosts[0], "destination": hosts[1]}},
            "experiment": {"duration": "1s"},
        }


def size(size_bytes: int) -> str:
    """Bytes in the form of a scenario file."""
    return quantity_text(size_bytes, SIZE) if size_bytes else "0B"


def rate(rate_bps: int) -> str:
    """A rate in the form of a scenario file."""
    return quantity_text(rate_bps, RATE)


def share(percent: Fraction) -> str:
    """A share in the form of a scenario file, with the scenario's resolution of one part per
    billion."""
    ppb = percent * ONE_PERCENT_PPB // 1
    return quantity_text(ppb, SHARE) if ppb else "0%"


def time(time_ps: int) -> str:
    """A time in the form of a scenario file."""
    return quantity_text(time_ps, TIME)


def normal(policy: Policy) -> Policy:
    """The policy with all implied settings written out, so that equivalent policies are equal."""
    pfc = policy.pfc
    if pfc is not None:
        priorities = sorted(set(pfc.priorities))
        usual = {name: Pfc.model_fields[name].default for name in GroupThresholds.model_fields}
        stated = {
            "priorities": priorities,
            "per_priority": {p: pfc.thresholds(p) for p in priorities},
        }
        pfc = pfc.model_copy(update=usual | stated)
    shares = policy.shares()
    queues = {
        name: queue.model_copy(update={"share": shares.get(name)})
        for name, queue in policy.queues.items()
    }
    said = {
        "queues": queues,
        "priorities": {p: policy.queue_of(p) for p in PRIORITIES},
        "etrap": policy.trap,
        "pfc": pfc,
    }
    return policy.model_copy(update=said)


def takes_all(rule: Rule) -> bool:
    """Whether it is the catch-all rule."""
    return rule.model_copy(update={"class_": 0}) == Rule.model_validate(
        {"class": 0, "pcp": list(PRIORITIES)}
    )


def neighbour_in(description: str) -> str | None:
    """The neighbour of a port, from the description `db1` or `to db1`; None for any other."""
    words = description.split()
    words = words[1:] if words[:1] and words[0].lower() == "to" else words
    return words[0] if len(words) == 1 and usable_name(words[0], "") == words[0] else None


def usable_name(text: str, otherwise: str) -> str:
    """A valid name in a scenario, derived from a vendor's."""
    kept = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-"
        for letter in text
    )
    kept = kept.strip("-_")
    return kept or otherwise
