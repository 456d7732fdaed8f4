"""Scenarios whose cause is known by construction, each with the verdict that names it: two or more
for each cause."""

from typing import NamedTuple

STAR = (
    "network: {link: {rate: 10Gbit/s}, topology: {kind: star, switch: "
    "leaf, hosts: [web, db, bak]}}\n"
)
SLOW_STAR = (
    "network: {link: {rate: 1Gbit/s}, topology: {kind: star, switch: "
    "leaf, hosts: [web, db, bak]}}\n"
)
LOSSY = (
    "network: {link: {rate: 10Gbit/s}, hosts: [web, db], switches: [leaf],"
    " links: [{between: [web, leaf], loss: 2%}, {between: [db, leaf]}]}\n"
)
RACKS = (
    "network: {link: {rate: 10Gbit/s}, hosts: [web, db, bak, slow], switches: [near, far], links: ["
    "{between: [db, near]}, {between: [bak, near]}, {between: [near, far]}, {between: [web, far]},"
    " {between: [slow, far], rate: 1Gbit/s}]}\n"
)
NODES = (
    "network: {link: {rate: 10Gbit/s}, switches: [tor, node1, node2], hosts: [web, db], links: ["
    "{between: [node1, tor]}, {between: [node2, tor]}, {between: [web, "
    "node1]}, {between: [db, node2]}]}\n"
)
FAN_IN = (
    "network: {link: {rate: 1Gbit/s}, topology: {kind: star, switch: leaf, hosts: [web, db1, "
    "db2, db3, db4]}}\n"
)
DEEP = "switches: {leaf: {buffer: 12MB, policy: q}}\npolicies: {q: {queues: {all: {limit: 6MB}}}}\n"
SHALLOW = (
    "switches: {leaf: {buffer: 12MB, policy: q}}\npolicies: {q: {queues: {all: {limit: 20kB}}}}\n"
)
TWO_QUEUES = (
    "queues: {default: {share: 50%, limit: 6MB}, san: {share: 50%, "
    "limit: 6MB}}, priorities: {3: san}"
)
LOSSLESS = (
    f"policies: {{q: {{{TWO_QUEUES}, pfc: {{priorities: [3], xoff: 100kB, headroom: auto}}}}}}\n"
)
DEEP_BUFFER = "{buffer: 12MB, policy: q}"
OBEYS = "{nic: {pfc: {priorities: [3]}}}"
STORM = "{nic: {pfc: {priorities: [3]}, storm: {priorities: [3], start: 60ms, end: 250ms}}}"
BACKUP = "  backup: {kind: stream, source: bak, destination: web, connections: 4}\n"
FROM_DB = "  backup: {kind: stream, source: db, destination: bak, connections: 4}\n"
LONG = "hosts: {defaults: {mtu: 9000B}}\nswitches: {leaf: {mtu: 1500B}}\n"
ONE_CORE = "hosts: {db: {cpu: {program_cores: 1}}}\n"
ONE_SEGMENT = (
    "network: {link: {rate: 10Gbit/s, delay: 500us}, topology: {kind: star, switch: leaf, "
    "hosts: [web, db]}}\n"
    "hosts: {defaults: {tcp: {initial_window: 1},"
    " nic: {tso: 0B, gro: 0B, rx_coalesce: 0us, rx_jitter: 0us}}}\n"
)
SHOP = (
    "  shop: {kind: oltp, client: web, server: db, users: 20, gap: exponential(4ms), round_trips: "
)
ASK = (
    "  shop: {kind: requests, client: web, server: db, gap: exponential(4ms), request: 200B, "
    "response: 1kB, "
)
PAGES = (
    "  shop: {kind: requests, client: web, server: db, gap: exponential(1ms), request: 200B, "
    "response: 8kB, "
)
FAN = "  shop: {kind: requests, client: web, servers: [db1, db2, db3, db4], request: 200B, "
BLOCKS = (
    "  shop: {kind: storage, initiators: [web], target: db, device: d, "
    "access: random, block: 4KiB, "
)
COPY = "  shop: {kind: stream, source: db, destination: web}\n"


def far(delay: str) -> str:
    """Two hosts at a distance."""
    ends = "left: [db], right: [web]"
    return (
        f"network: {{topology: {{kind: dumbbell, {ends}, bottleneck_rate: 1Gbit/s, "
        f"bottleneck_delay: {delay}}}}}\n"
    )


def policed(rate: str, burst: str) -> str:
    """A switch that drops what comes faster."""
    return (
        "switches: {leaf: {policy: p}}\n"
        f"policies: {{p: {{queues: {{all: {{limit: 1MB}}}}, police: {{rate: {rate}, burst: "
        f"{burst}}}}}}}\n"
    )


class Known(NamedTuple):
    """A scenario of hosts `web` and `db`, in which something slows down the workload `shop`."""

    above: str
    """Sections of the scenario before its workloads."""
    workloads: str
    verdict: str
    ends: str = "duration: 300ms, warm_up: 50ms"

    @property
    def text(self) -> str:
        """The scenario."""
        experiment = f"experiment: {{{self.ends}, trials: 1}}\n"
        return f"tailrace: 1\nname: known\n{self.above}workloads:\n{self.workloads}{experiment}"


QUEUE = "queue of leaf>web behind backup"
OWN_QUEUE = "queue of leaf>web behind its own frames"
SLOW = "in the slowest 10 % of transactions"
ENTRY = "waiting for an entry of the protocol's queue"
WORKER = "waiting for a worker of the server"
TOO_LONG = "frames longer than the MTU"
ROUNDS = "round trips for the {} window (propagation and switch latency)"

KNOWN = {
    "a queue behind a neighbour": Known(
        STAR + DEEP,
        SHOP + "[{request: 200B, response: 8kB, server_time: 100us}]}\n" + BACKUP,
        QUEUE,
    ),
    "reads behind a neighbour": Known(
        STAR + DEEP + "devices: {d: {preset: nvme}}\n",
        BLOCKS + "protocol: nvme-tcp, depth: 1}\n" + BACKUP,
        QUEUE,
    ),
    "answers of several servers": Known(
        FAN_IN + DEEP, FAN + "users: 60, gap: exponential(1ms), response: 8kB}\n", OWN_QUEUE
    ),
    "blocks of two initiators": Known(
        SLOW_STAR + DEEP + "devices: {d: {preset: nvme}}\n",
        "  shop: {kind: storage, initiators: [web, bak], target: db, device: d, protocol: "
        "nvme-tcp, access: random,"
        " block: 64KiB, read: 0, depth: 8}\n",
        "queue of leaf>db behind its own frames",
    ),
    "the interface of the server": Known(
        STAR, ASK + "users: 20}\n" + FROM_DB, "queue of db's interface behind backup"
    ),
    "the interface of the initiator": Known(
        SLOW_STAR + "devices: {d: {preset: nvme}}\n",
        "  shop: {kind: storage, initiators: [web], target: db, device: d, protocol: nvme-tcp, "
        "access: random,"
        " block: 64KiB, read: 0, depth: 1}\n"
        "  backup: {kind: stream, source: web, destination: bak, connections: 4}\n",
        "queue of web's interface behind backup",
    ),
    "a line of its own answers": Known(
        SLOW_STAR, PAGES + "users: 40}\n", "queue of db's interface behind its own frames"
    ),
    "a core": Known(
        STAR + ONE_CORE,
        SHOP + "[{request: 200B, response: 8kB, server_work: 500us}]}\n",
        "waiting for a core",
    ),
    "a core of many users": Known(
        STAR + ONE_CORE, ASK + "users: 40, server_work: 500us}\n", "waiting for a core"
    ),
    "the only worker": Known(
        STAR, ASK + "users: 40, server_time: 500us, concurrency: 1}\n", WORKER
    ),
    "two workers, asked by datagrams": Known(
        STAR,
        ASK + "users: 40, server_time: 500us, concurrency: 2, protocol: udp, timeout: 1s}\n",
        WORKER,
    ),
    "a server that takes its time": Known(
        STAR, ASK + "users: 4, server_time: 5ms}\n", "work of the server"
    ),
    "a statement that takes its time": Known(
        STAR, SHOP + "[{request: 200B, response: 1kB, server_time: 3ms}]}\n", "work of the server"
    ),
    "a lost tail": Known(
        LOSSY,
        SHOP + "[{request: 200B, response: 1kB}]}\n",
        f"until a tail loss probe after drops before leaf>web (line), {SLOW}",
    ),
    "a lost tail without probes": Known(
        LOSSY + "hosts: {defaults: {tcp: {tail_loss_probe: false}}}\n",
        SHOP + "[{request: 200B, response: 1kB}]}\n",
        f"until a retransmission timeout after drops before leaf>web (line), {SLOW}",
    ),
    "an incast that overflows": Known(
        FAN_IN + SHALLOW,
        FAN + "users: 16, gap: exponential(4ms), response: 60kB}\n",
        f"until a retransmission timeout after drops before leaf>web (tail-drop), {SLOW}",
    ),
    "a full queue of NVMe over TCP": Known(
        STAR
        + "devices: {d: {preset: sata-ssd, servers: 6, write_latency: 950us, queue_depth: 1024}}\n",
        BLOCKS + "protocol: nvme-tcp, read: 0, depth: 64, jobs: 16}\n",
        ENTRY,
    ),
    "a short queue of NVMe over TCP": Known(
        STAR + "devices: {d: {preset: nvme}}\n",
        BLOCKS + "protocol: nvme-tcp, nvme_tcp: {queue_size: 4}, depth: 64}\n",
        ENTRY,
    ),
    "a drive": Known(
        STAR + "devices: {d: {preset: sata-ssd, servers: 1, read_latency: 950us}}\n",
        BLOCKS + "protocol: nvme-tcp, depth: 4}\n",
        "block device",
    ),
    "a disk over iSCSI": Known(
        STAR + "devices: {d: {preset: disk-7200}}\n",
        BLOCKS + "protocol: iscsi, depth: 1}\n",
        "block device",
    ),
    "a stream of frames that are too long": Known(STAR + LONG, COPY, TOO_LONG),
    "answers in frames that are too long": Known(
        STAR + LONG, SHOP + "[{request: 200B, response: 8kB}]}\n", TOO_LONG
    ),
    "a pause storm": Known(
        f"{STAR}hosts: {{defaults: {OBEYS}, web: {STORM}}}\nswitches: {{leaf: "
        f"{DEEP_BUFFER}}}\n{LOSSLESS}",
        "  shop: {kind: requests, client: web, server: db, users: 4, gap: exponential(50ms), "
        "request: 200B,"
        " response: 8kB, priority: 3}\n",
        "pauses of leaf>web class 3",
    ),
    "a victim of congestion spreading": Known(
        f"{RACKS}hosts: {{defaults: {OBEYS}}}\nswitches: {{defaults: {DEEP_BUFFER}}}\n{LOSSLESS}",
        PAGES + "users: 4, priority: 3}\n"
        "  backup: {kind: stream, source: bak, destination: slow, connections: 4, priority: 3}\n",
        "pauses of near>far class 3",
    ),
    "a small buffer at a distance": Known(
        far("5ms") + "hosts: {defaults: {tcp: {receive_buffer: {maximum: 256KiB}}}}\n",
        "  shop: {kind: oltp, client: web, server: db, users: 1, gap: constant(10ms),"
        " round_trips: [{request: 200B, response: 4MB}]}\n",
        ROUNDS.format("receiver's"),
    ),
    "slow start of new connections": Known(
        far("5ms"),
        "  shop: {kind: requests, client: web, server: db, users: 1, connection: new, gap: "
        "constant(10ms),"
        " request: 200B, response: 400kB}\n",
        ROUNDS.format("congestion"),
    ),
    "a congestion window with a cap": Known(
        far("2ms") + "hosts: {defaults: {tcp: {window_cap: 30kB}}}\n",
        "  shop: {kind: oltp, client: web, server: db, users: 1, gap: constant(1ms),"
        " round_trips: [{request: 200B, response: 600kB}]}\n",
        ROUNDS.format("congestion"),
    ),
    "a first segment that is acknowledged late": Known(
        ONE_SEGMENT,
        "  shop: {kind: oltp, client: web, server: db, users: 1, connect: "
        "early, start: 300ms, gap: 1s,"
        " round_trips: [{request: 4344B, response: 1448B}]}\n",
        "delayed acknowledgement",
        ends="duration: 8s",
    ),
    "requests that begin with one segment": Known(
        ONE_SEGMENT,
        "  shop: {kind: requests, client: web, server: db, users: 4, gap: 1s, request: 4344B, "
        "response: 1kB}\n",
        "delayed acknowledgement",
        ends="duration: 8s",
    ),
    "a distance": Known(
        far("5ms"), SHOP + "[{request: 200B, response: 1kB}]}\n", "propagation and switch latency"
    ),
    "a slow line": Known(
        "network: {link: {rate: 10Mbit/s}, topology: {kind: star, "
        "switch: leaf, hosts: [web, db]}}\n",
        ASK + "users: 1}\n",
        "serialisation",
    ),
    "a policer": Known(STAR + policed("1Gbit/s", "100kB"), COPY, "policer's rate"),
    "a policer of transactions": Known(
        STAR + policed("50Mbit/s", "20kB"),
        SHOP + "[{request: 200B, response: 30kB}]}\n",
        "policer's rate",
    ),
    "a slow core that polls a virtual switch": Known(
        NODES + "hypervisors: {node1: {cores: 4, clock: 2GHz},"
        " node2: {cores: 4, clock: 0.05GHz, switch: ovs-dpdk, polling_cores: [0]}}\n",
        PAGES + "users: 80}\n",
        "waiting for the virtual switch",
    ),
    "a virtual switch at work": Known(
        NODES + "hypervisors: {node1: {cores: 4, clock: 2GHz},"
        " node2: {cores: 4, clock: 0.1GHz, switch: ovs-dpdk, polling_cores: [0]}}\n",
        PAGES + "users: 20}\n",
        "the virtual switch",
    ),
    "a hypervisor of one core": Known(
        NODES + "hypervisors: {node1: {cores: 4, clock: 2GHz}, node2: {cores: 1, clock: 0.1GHz}}\n",
        PAGES + "users: 20}\n",
        "waiting for a vhost thread",
    ),
}
"""By what is slow. The device, the server and the path behave otherwise."""
