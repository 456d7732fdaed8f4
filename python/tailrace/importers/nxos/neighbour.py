"""The neighbour of a port, by which a scenario names it."""

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import Commands, NxosConfig
from tailrace.importers.section import usable_name


def neighbour_of(config: NxosConfig, place: Commands) -> str | None:
    """The neighbour of a port, from `description db1` or `description to db1`."""
    for command in (c for c in place.commands if c.verb == "description"):
        words = (tree.word(command.tree, "FREE") or "").split()
        words = words[1:] if words[:1] and words[0].lower() == "to" else words
        if len(words) == 1 and usable_name(words[0], "") == words[0]:
            told = f"the neighbour of the port is '{words[0]}'"
            config.remarks.add(command.line, command.text, "assumed", told)
            return words[0]
    return None
