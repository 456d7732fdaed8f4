"""The neighbour of a port, by which a scenario names it."""

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import Commands, NxosConfig
from tailrace.importers.section import neighbour_in


def neighbour_of(config: NxosConfig, interface: Commands) -> str | None:
    """The neighbour of a port, from `description db1` or `description to db1`."""
    for command in (c for c in interface.commands if c.verb == "description"):
        neighbour = neighbour_in(tree.word(command.tree, "FREE") or "")
        if neighbour is not None:
            config.remarks.add(
                command.line, command.text, "assumed", f"the neighbour of the port is '{neighbour}'"
            )
            return neighbour
    return None
