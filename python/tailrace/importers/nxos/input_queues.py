"""`service-policy type queuing input`: thresholds of the lossless classes.

Its other settings do not affect output queues.
"""

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig, PolicyMap
from tailrace.importers.nxos.groups import group_of
from tailrace.importers.nxos.network_qos import NetworkQos, thresholds_of


def read_input(config: NxosConfig, policy: PolicyMap, network: NetworkQos) -> None:
    """Adds the thresholds of an input policy to the lossless classes."""
    for entry in policy.classes:
        group = group_of(config, entry)
        command = entry.command
        if group is not None:
            config.remarks.add(command.line, command.text, "understood", f"input queue {group}")
        for action in entry.actions:
            parts = tree.parts(action.tree, "pause_buffer") if action.verb == "pause" else []
            if group is None:
                words = f"the command belongs to class '{entry.name}', which is not imported"
                config.remarks.add(action.line, action.text, "not-modelled", words)
            elif not parts:
                words = "an input queue; shares and limits are those of the output policy"
                config.remarks.add(action.line, action.text, "not-modelled", words)
            elif group not in network.lossless:
                words = (
                    f"qos-group {group} is not lossless (no network-qos class has pause): its "
                    "thresholds have no effect"
                )
                config.remarks.add(action.line, action.text, "no-effect", words)
            else:
                network.lossless[group] |= thresholds_of(config, action, parts[0])
                words = f"pfc.per_priority.{group}: xoff, headroom, xon_offset"
                config.remarks.add(action.line, action.text, "understood", words)
