"""Ports of servers and of clients.

Numbers of services are those of IANA's registry of service names and port numbers, unless another
source is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

POSTGRESQL = 5432
MYSQL = 3306
HTTP = 80
DNS = 53
AMQP = 5672
REDIS = 6379
ISCSI = 3260
NVME_TCP = 4420
"""NVMe/TCP transport specification 1.0, section 3.1.4.1: 4420 for I/O controllers."""
NBD = 10_809
STREAM = 5201
"""Of streams and datagrams: the port of the program that live runs have for them."""
FLOWS = 5001
"""`commplex-link` in the registry, where iperf 2 listens."""
DISCARD = 9
"""pktgen of Linux sends there (`Documentation/networking/pktgen.rst`, `udp_dst_min`)."""
MPI = 1024
"""Open MPI listens at the first free port from there on (`btl_tcp_port_min_v4`) [K]."""
BLOCKS = 9000
"""First port of the range that Oracle asks for (`net.ipv4.ip_local_port_range = 9000 65500`)
[K]."""
EPHEMERAL = (32_768, 65_535)
"""Ports of clients (`crates/host/src/ports.rs`)."""
PORT_MAX = 65_535

Protocol = Literal["tcp", "udp"]


@dataclass(frozen=True)
class Serving:
    """Servers of a workload: hosts that listen at one port."""

    hosts: Sequence[str]
    protocol: Protocol
    port: int
    clients: Sequence[str]
    """Hosts that connect to them, or send datagrams."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The frames between clients and servers of a workload, in one direction."""

    workload: str
    priority: int
    dscp: int
    vlan: int
    protocol: Protocol
    sources: frozenset[str]
    destinations: frozenset[str]
    source_ports: tuple[int, int]
    destination_ports: tuple[int, int]
    is_answer: bool
    """From server to client."""

    @property
    def words(self) -> str:
        """`shop to tcp port 5432`, or `shop from tcp port 5432` of answers."""
        port, way = (
            (self.source_ports[0], "from") if self.is_answer else (self.destination_ports[0], "to")
        )
        return f"{self.workload} {way} {self.protocol} port {port}"

    def answer(self) -> "Traffic":
        """The frames in the other direction."""
        return replace(
            self,
            sources=self.destinations,
            destinations=self.sources,
            source_ports=self.destination_ports,
            destination_ports=self.source_ports,
            is_answer=True,
        )
