"""Which frames of a live trial are of which workload: by hosts, and by ports where these are
known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.outcome import types as outcome
from tailrace.timeline.log import NONE_32, Values

UNKNOWN = "frames of no workload"
"""Those of switches, and those between hosts that no workload has."""
_TCP = 6

End = tuple[int, int]
"""Index of the host, and port."""


@dataclass(frozen=True)
class Ends:
    """Where the connections of a workload end, as its trial noted it."""

    client: int
    """Index of the host."""
    client_ports: frozenset[int]
    """Empty: any."""
    server: int
    server_ports: frozenset[int]

    @classmethod
    def read(cls, plan: Mapping[str, Any], ends: outcome.Ends) -> "Ends":
        """From the outcome of a trial of this plan."""
        hosts = [str(host["name"]) for host in plan["hosts"]]
        ports = frozenset(ends.client_ports), frozenset(ends.server_ports)
        return cls(hosts.index(ends.client), ports[0], hosts.index(ends.server), ports[1])

    def has(self, source: End, destination: End) -> bool:
        """Whether a TCP frame between these ends is of such a connection, in either direction."""
        return self._is(source, destination) or self._is(destination, source)

    def _is(self, client: End, server: End) -> bool:
        if (client[0], server[0]) != (self.client, self.server) or server[
            1
        ] not in self.server_ports:
            return False
        return not self.client_ports or client[1] in self.client_ports


class Sorter:
    """The workload of every frame of a replay.

    The fabric records for each frame the workloads between whose hosts it went. Where the ports of
    a workload are known, only frames with those ports belong to it.
    """

    def __init__(
        self, tables: Mapping[str, Any], names: Sequence[str], ends: Mapping[str, Ends]
    ) -> None:
        """`tables` is the timeline of a replay, `names` are those of the workloads of its plan."""
        self._names: list[str] = []
        self._numbers: dict[str, int] = {}
        source_of = {
            frame: source
            for name in ("hops", "drops", "marks")
            for frame, source in zip(tables[name]["frame"], tables[name]["source"], strict=True)
            if source != NONE_32
        }
        keys = ("id", "from", "to", "source_port", "destination_port", "protocol")
        self._of: dict[int, frozenset[str]] = {}
        for number, from_, to, source, destination, protocol in zip(
            *(tables["frames"][key] for key in keys), strict=True
        ):
            if number not in source_of:
                continue
            among = frozenset(names[each] for each in tables["sources"][source_of[number]])
            known = {name for name in among if name in ends}
            if protocol == _TCP and known:
                own = frozenset(
                    name for name in known if ends[name].has((from_, source), (to, destination))
                )
                among = own or among - known
            self._of[number] = among

    def whose(self, frame: int) -> str:
        """In words: all workloads of which it may be."""
        return " or ".join(sorted(self._of.get(frame, ()))) or UNKNOWN

    def is_of(self, frame: int, workloads: set[str]) -> bool:
        """Whether it may be one of these workloads'."""
        return bool(self._of.get(frame, frozenset()) & workloads)

    def named(self, table: Mapping[str, Sequence[int]]) -> Values:
        """A table with the column `workload`, whose numbers `name` understands, instead of
        `source`."""
        rows = [self._number(self.whose(frame)) for frame in table["frame"]]
        return {
            **{name: values for name, values in table.items() if name != "source"},
            "workload": rows,
        }

    def name(self, number: int) -> str:
        """The name of a number in a table."""
        return self._names[number]

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return self._numbers[name]
