"""The policy-maps in force and the ports at which they are applied."""

from collections import Counter
from dataclasses import dataclass, field

from tailrace.errors import few
from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import Commands, NxosConfig, PolicyMap
from tailrace.importers.nxos.groups import INPUT_CLASS
from tailrace.importers.nxos.parse import ConfigCommand
from tailrace.importers.nxos.predefined import is_own
from tailrace.importers.section import PORTS_NAMED_MAX

SLOTS = {"qos": "qos", "network-qos": "network-qos", "queuing": "output"}
"""The use of policies of each type; `input` is a queuing policy of input queues."""
EVERY_PORT = {"qos": "classify with it", "output": "have it", "input": "have its thresholds"}

Use = tuple[PolicyMap | None, ConfigCommand, str]
"""A policy-map (None: the switch's own), the command that applies it, and the interface or nothing
for the system."""


@dataclass
class Applied:
    """The policy-maps in force, by slot (`qos`, `network-qos`, `output`, `input`)."""

    everywhere: dict[str, PolicyMap | None] = field(default_factory=dict)
    """For the whole switch; None stands for the switch's default policy."""
    of_ports: dict[str, tuple[PolicyMap | None, ConfigCommand]] = field(default_factory=dict)
    """Output policies of interfaces that differ from that of the switch."""

    def policy(self, slot: str) -> PolicyMap | None:
        """The policy of the whole switch."""
        return self.everywhere.get(slot)

    def in_force(self) -> list[PolicyMap]:
        """Every policy-map in force."""
        used = [*self.everywhere.values(), *(policy for policy, _ in self.of_ports.values())]
        return [policy for policy in used if policy is not None]


def applied_policies(config: NxosConfig) -> Applied:
    """The policies that `service-policy` applies. For a type without any, the last defined
    policy-map is taken."""
    uses: dict[str, list[Use]] = {}
    for block in (config.system, *config.interfaces):
        for command in (c for c in block.commands if c.verb == "service_policy"):
            _use(config, block, command, uses)
    found = Applied()
    for slot, own in uses.items():
        _everywhere(config, slot, own, found)
    for slot in ("qos", "network-qos", "output", "input"):
        if slot not in found.everywhere:
            _unapplied(config, slot, found)
    return found


def _use(
    config: NxosConfig, block: Commands, command: ConfigCommand, uses: dict[str, list[Use]]
) -> None:
    kind, name = tree.map_type(command.tree), tree.name(command.tree)
    direction = (tree.word(command.tree, "DIRECTION") or "").lower()
    policy = config.policy_maps.get((kind, name))
    slot = "input" if kind == "queuing" and direction == "input" else SLOTS.get(kind)
    interface = block.name.removeprefix("interface ") if block is not config.system else ""
    if slot is None or (slot == "qos" and direction == "output"):
        words = (
            "classification at the output; frames are classified at the input"
            if slot
            else "a control-plane policy"
        )
        config.remarks.add(command.line, command.text, "not-modelled", words)
    elif policy is None and not is_own(kind, name):
        words = f"there is no policy-map '{name}' of type {kind}"
        config.remarks.add(command.line, command.text, "contradiction", words)
    else:
        uses.setdefault(slot, []).append((policy, command, interface))


def _everywhere(config: NxosConfig, slot: str, uses: list[Use], found: Applied) -> None:
    """Selects the system's policy, or the one of most interfaces; the others are policies of single
    ports."""
    systems = [use for use in uses if not use[2]]
    if systems:
        chosen = systems[-1]
        for policy, command, _ in systems[:-1]:
            if policy is not chosen[0]:
                config.remarks.repeated(command.line, command.text, chosen[1].line, chosen[1].text)
    else:
        names = Counter(tree.name(use[1].tree) for use in uses)
        most = names.most_common(1)[0][0]
        chosen = next(use for use in uses if tree.name(use[1].tree) == most)
    found.everywhere[slot] = chosen[0]
    if not systems:
        ports = [interface for policy, _, interface in uses if policy is chosen[0]]
        words = (
            f"'{tree.name(chosen[1].tree)}' is applied only at {few(ports, PORTS_NAMED_MAX)}; in "
            f"the scenario all ports {EVERY_PORT.get(slot)}"
        )
        config.remarks.add(chosen[1].line, chosen[1].text, "assumed", words)
    for policy, command, interface in uses:
        if policy is chosen[0]:
            words = (
                f"'{tree.name(command.tree)}' is applied"
                if policy
                else "the switch's default policy"
            )
            config.remarks.add(command.line, command.text, "understood", words)
        elif slot == "output" and interface:
            found.of_ports[interface] = (policy, command)
        elif interface:
            words = (
                f"line {chosen[1].line} applies '{tree.name(chosen[1].tree)}'; a switch has only "
                f"one {_noun(slot)} in a scenario"
            )
            config.remarks.add(command.line, command.text, "not-modelled", words)


def _unapplied(config: NxosConfig, slot: str, found: Applied) -> None:
    """Takes the last policy of a type of which none is applied."""
    kind = "queuing" if slot in ("output", "input") else slot
    used = found.in_force()
    candidates = [
        policy
        for (of, _), policy in config.policy_maps.items()
        if of == kind
        and policy not in used
        and (kind != "queuing" or is_input(policy) == (slot == "input"))
    ]
    if not candidates:
        return
    policy = candidates[-1]
    others = ", ".join(f"'{other.name}'" for other in candidates[:-1])
    words = (
        f"no service-policy applies a policy of type {kind}: the last one, '{policy.name}', is used"
    )
    if others:
        words += f"; {others} {'is' if len(candidates) == 2 else 'are'} not used"
    config.remarks.add(policy.command.line, policy.command.text, "assumed", words)
    found.everywhere[slot] = policy


def is_input(policy: PolicyMap) -> bool:
    """Whether a queuing policy is one of input queues: by the names of its classes, or because they
    have thresholds."""
    verbs = {action.verb for entry in policy.classes for action in entry.actions}
    return any(INPUT_CLASS.match(entry.name) for entry in policy.classes) or verbs == {"pause"}


def _noun(slot: str) -> str:
    return "classification" if slot == "qos" else "set of thresholds"
