"""Nodes that exchange blocks, as the traffic program sends them."""

from collections.abc import Sequence

from tailrace.live.load import Refusals
from tailrace.live.measure.closings import Meant
from tailrace.live.traffic import NAME, TrafficLoad
from tailrace.scenario.workloads.blocks import Blocks


class TrafficProgram(TrafficLoad):
    """The nodes of one workload, a process for each."""

    load_name = NAME
    sort = "block-exchange"
    prefix = "blocks"

    @classmethod
    def refusals(cls, workload: Blocks) -> Refusals:
        """Nothing: it has the simulator's own programs."""
        return iter(())

    @property
    def nodes(self) -> Sequence[str]:
        """All of them."""
        return [str(node) for node in self.task.raw["nodes"]]

    @property
    def ends(self) -> tuple[str, str]:
        """Blocks go from another node to one with users."""
        client = str(self.task.raw["clients"][0])
        return next(node for node in self.nodes if node != client), client

    @property
    def opens(self) -> tuple[str, str]:
        """Users send requests to other nodes."""
        other, client = self.ends
        return client, other

    @property
    def waiting(self) -> int:
        """Its users; one where transactions arrive by themselves."""
        return max(1, int(self.task.raw["users"]))

    def exposed(self, send_buffer_bytes: int) -> float:
        """All: a user waits for every block."""
        return 1.0

    @property
    def is_finite(self) -> bool:
        """Whether its transactions have a number."""
        return bool(self.task.raw["transactions"])

    @property
    def ports(self) -> int:
        """Two sockets with each other node: of each user of the client with most of them."""
        raw = self.task.raw
        users = max(1, -(-int(raw["users"]) // len(raw["clients"])))
        return 2 * (len(raw["nodes"]) - 1) * users

    def connections(self, lab: object) -> Meant | None:
        """Datagrams have none."""
        return None
