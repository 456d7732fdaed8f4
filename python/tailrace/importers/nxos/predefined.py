"""Predefined policies of a switch, for configurations that only name them."""

from tailrace.importers.nxos.config import NxosConfig
from tailrace.importers.nxos.groups import FCOE_CLASS
from tailrace.importers.nxos.parse import ConfigCommand, parse
from tailrace.importers.nxos.reading import add_entries

OWN = {
    "queuing": (
        "default-out-policy",
        "default-8q-out-policy",
        "default-in-policy",
        "default-8q-in-policy",
    ),
    "network-qos": ("default-nq-policy", "default-8q-nq-policy"),
    "qos": ("default-in-policy",),
}
"""Default policies of every switch [K], used where no other is in force."""

FCOE_OUTPUT = """policy-map type queuing fcoe-default-out-policy
  class type queuing class-fcoe
    bandwidth percent 50
  class type queuing class-default
    bandwidth percent 50
"""
"""Output policy of a Nexus 5000 with FCoE [K]: half of the bandwidth for class-fcoe, and no strict
queue."""
FCOE = f"""class-map type qos class-fcoe
  match cos 3
policy-map type qos fcoe-default-in-policy
  class class-fcoe
    set qos-group 1
{FCOE_OUTPUT}policy-map type network-qos fcoe-default-nq-policy
  class type network-qos class-fcoe
    pause no-drop
    mtu 2158
"""
"""Policies of a Nexus 5000 for FCoE [K]: class-fcoe is priority 3, lossless."""
FCOE_PREFIX = "fcoe-default-"


def is_own(kind: str, name: str) -> bool:
    """Whether it is a default policy."""
    return name in OWN.get(kind, ()) or (kind == "queuing" and name == f"{FCOE_PREFIX}in-policy")


def add_predefined(config: NxosConfig) -> None:
    """Adds predefined policies that the configuration names but does not define, as commands
    without a line."""
    blocks = (config.system, *config.interfaces)
    named = {
        c.text.split()[-1] for block in blocks for c in block.commands if c.verb == "service_policy"
    }
    defined = {name for _, name in config.policy_maps}
    if any(name.startswith(FCOE_PREFIX) for name in named - defined):
        _add(config, FCOE)
    elif _is_nexus_5000(config) and not any(kind == "queuing" for kind, _ in config.policy_maps):
        words = (
            f"a Nexus 5000, by its {FCOE_CLASS}: without a policy-map of type queuing, "
            "fcoe-default-out-policy is used"
        )
        config.remarks.add(0, "", "assumed", words)
        _add(config, FCOE_OUTPUT)


def _add(config: NxosConfig, text: str) -> None:
    entries = [entry for entry in parse(text) if isinstance(entry, ConfigCommand)]
    add_entries(config, [ConfigCommand(0, entry.text, entry.tree) for entry in entries])


def _is_nexus_5000(config: NxosConfig) -> bool:
    """Whether its lossless class is that of a Nexus 5000."""
    return any(
        entry.name == FCOE_CLASS and any(action.verb == "pause" for action in entry.actions)
        for (kind, _), policy in config.policy_maps.items()
        for entry in policy.classes
        if kind == "network-qos"
    )
