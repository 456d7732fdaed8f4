"""Requests of a recording, as the traffic program sends them: a client and a server, over TCP."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailrace.live.lab.lab import Lab
from tailrace.live.load import Refusals
from tailrace.live.measure.closings import Meant
from tailrace.live.traffic import CLIENT_PORTS, NAME, TrafficLoad
from tailrace.results.format.numbers import count_text, span_text
from tailrace.scenario.workloads.replay import Replay

CONNECTIONS_MAX = 5_000
"""Each is a socket of both processes, and systems limit the open files of one."""
PS_PER_US = 10**6


class ReplayProgram(TrafficLoad):
    """Client and server of one workload: the recorded sizes, pauses and times of the server."""

    load_name = NAME
    sort = "recorded-requests"
    prefix = "replay"

    @classmethod
    def refusals(cls, workload: Replay) -> Refusals:
        """More connections than a process has files for."""
        found = len(workload.file.connections)
        if found > CONNECTIONS_MAX:
            what = f"it has {found} connections, and a live replay has at most {CONNECTIONS_MAX}"
            yield ("file",), what, "keep fewer connections, or omit --live to simulate it"

    @property
    def nodes(self) -> Sequence[str]:
        """Client and server."""
        return self.opens

    @property
    def opens(self) -> tuple[str, str]:
        """The client opens its connections."""
        return str(self.task.raw["client"]), str(self.task.raw["server"])

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the server where responses are larger than requests."""
        client, server = self.opens
        is_from_server = self._bytes("response_bytes") >= self._bytes("request_bytes")
        return (server, client) if is_from_server else (client, server)

    @property
    def _recorded(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.task.raw["connections"]
        return found

    def _bytes(self, key: str) -> int:
        return sum(sum(one[key]) for one in self._recorded)

    @property
    def waiting(self) -> int:
        """Its connections, each with one request at a time."""
        return len(self._recorded)

    def exposed(self, send_buffer_bytes: int) -> float:
        """Of a response of many send buffers, only a wait before the last of them delays users."""
        requests = sum(len(one["response_bytes"]) for one in self._recorded)
        return min(1.0, send_buffer_bytes * requests / max(1, self._bytes("response_bytes")))

    @property
    def is_finite(self) -> bool:
        """A recording has an end."""
        return True

    @property
    def ports(self) -> int:
        """The server's port, and as many numbers as keep the next workload's clients separate."""
        return len(self._recorded)

    def connections(self, lab: Lab) -> Meant:
        """By the ports that the program gives them, in order."""
        client, server = self.opens
        vlan = int(self.task.raw.get("vlan") or 0)
        return Meant(
            client=client,
            client_address=lab.address(client, vlan),
            client_ports=frozenset(self.client_ports()),
            server=server,
            server_address=lab.address(server, vlan),
            server_ports=frozenset({self.task.first_port}),
            server_sends=self.ends[0] == server,
            count=len(self._recorded),
        )

    def client_ports(self) -> list[int]:
        """In the order of the recording."""
        return [self.first_client_port + user for user in range(len(self._recorded))]

    def mean_lateness_us(self) -> float | None:
        """Mean lateness of the client's requests."""
        return next((us for host, us, *_ in self._lateness() if host == self.opens[0]), None)

    def _lateness(self) -> Iterator[tuple[str, float, float, int]]:
        """By host: mean and largest in microseconds, and of how many."""
        for host in self.host_reports:
            yield host.name, host.late_mean_ps / PS_PER_US, host.late_max_ps / PS_PER_US, host.calls

    def report(self) -> str:
        """How close both processes were to the recorded times."""
        nouns = dict(zip(self.opens, ("openings and requests", "responses"), strict=True))
        lines = [
            f"{host}: {count_text(calls)} {nouns[host]}, {span_text(mean_us * PS_PER_US)} late on "
            f"average, {span_text(most_us * PS_PER_US)} at most"
            for host, mean_us, most_us, calls in self._lateness()
        ]
        return "".join(f"{line}\n" for line in lines)


assert CONNECTIONS_MAX <= CLIENT_PORTS, "each has a port"
