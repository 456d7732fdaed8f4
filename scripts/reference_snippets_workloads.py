"""How each key of a workload is written: the part of `reference_snippets` about workloads."""

WORKLOADS: dict[str, tuple[str, str]] = {
    "Oltp": (
        "workloads.shop",
        """kind: oltp
enabled: true
group: databases
client: web
server: shop-db
users: 20
transactions: 500
warmup_transactions: 20
round_trips: [{response: 18kB, server_time: 200us}]
gap: exponential(8ms)
gap_from: end
start: 100ms
load_generator: pgbench
database: postgresql
connect: early
priority: 5
dscp: af41
vlan: 10
port: 5432
client_ports: 40000-40999""",
    ),
    "RoundTrip": (
        "workloads.shop.round_trips[]",
        """request: 200B
response: 18kB
server_time: exponential(200us)
server_work: 60us
repeat: 3
build_rate: 2Gbit/s
write: 8kB
produce_rate: 2Gbit/s
consume_rate: 1Gbit/s
consume_chunk: 64kB
unpack_rate: 2Gbit/s""",
    ),
    "Stream": (
        "workloads.backup",
        """kind: stream
enabled: true
group: backups
source: shop-db
destination: archive
connections: 8
size: 10GB
rate: 2Gbit/s
start: 1s
stagger: 10us
priority: 1
dscp: cs1
vlan: 10
port: 5201
client_ports: 40000-40999
pin_forward: [leaf1, spine2, leaf2]
pin_backward: [leaf2, spine2, leaf1]""",
    ),
    "Flows": (
        "workloads.web",
        """kind: flows
enabled: true
group: web
sources: [h1, h2]
destinations: [h3, h4]
sizes: web-search
load: 60%              # or interarrival
interarrival: exponential(100us)
flows: 10000
start: 100ms
first_at_start: true
priority: 0
dscp: be
vlan: 10
port: 5001
client_ports: 40000-40999""",
    ),
    "Datagrams": (
        "workloads.voice",
        """kind: datagrams
enabled: true
group: voice
source: h1
destination: h2
sizes: 200B
interarrival: 20ms
count: 1000
send_buffer: 139kB
start: 100ms
first_at_start: true
priority: 5
dscp: ef
vlan: 10
port: 5201
client_ports: 40000-40999""",
    ),
    "Frames": (
        "workloads.blast",
        """kind: frames
enabled: true
group: blasts
source: h1
destination: h2
frame: 1000B
threads: 4
delay: 1ms
rate: 10000            # instead of a delay
cost: uniform(100ns, 300ns)
locked: 1us
count: 100000
start: 100ms
priority: 3
dscp: ef
vlan: 10
port: 9
client_ports: 40000-40999""",
    ),
    "Requests": (
        "workloads.shop",
        """kind: requests
enabled: true
group: shop
preset: http
client: h1
clients: [h1, h2]
server: h3
servers: [h3, h4]
balance: random
protocol: tcp
connection: kept
users: 20
gap: exponential(5ms)
arrivals: exponential(100us)
first_at_start: true
spikes: [{factor: 5, at: 2s, for: 500ms}]
connections: 16
requests: 1000
start: 100ms
request: 200B
response: lognormal(4kB, 1.2)
pipeline: 4
server_time: exponential(200us)
server_work: 50us
concurrency: 8
timeout: 1s
retries: 2
calls: [{server: h5, request: 300B, response: 2kB, server_time: 300us, server_work: 0s}]
replicas: {servers: [h6, h7], bytes: 4kB, ack: 20B, server_time: 100us}
load_generator: wrk
priority: 5
dscp: ef
vlan: 10
port: 80
client_ports: 40000-40999""",
    ),
    "Storage": (
        "workloads.vdb",
        """kind: storage
enabled: true
group: disks
initiators: [h1, h2]
target: san             # absent with protocol: local
device: sata-ssd        # or a name of `devices`
protocol: iscsi
iscsi: {initiator: open-iscsi, target: lio}
nvme_tcp: {queues: 4}
nbd: {connections: 2}
read: 70
access: {random: 60}
block: 4KiB
offset: 10GiB
size: 10GiB
jobs: 4
depth: 32
rate: 1000/s
arrivals: exponential(1ms)
think: 100us
flush_every: 64
request_cost: 12us
write_cost: 14us
requests: 10000
bytes: 1GiB
start: 1s
priority: 3
dscp: be
vlan: 10
port: 3260
client_ports: 40000-40999""",
    ),
    "Iscsi": (
        "workloads.vdb.iscsi",
        """initiator: open-iscsi
target: lio
initial_r2t: false
immediate_data: true
first_burst: 64KiB
max_burst: 256KiB
max_recv_data_segment: 256KiB
target_max_recv_data_segment: 64KiB
max_outstanding_r2t: 2
header_digest: true
data_digest: true
status_with_data: false""",
    ),
    "NvmeTcp": (
        "workloads.vdb.nvme_tcp",
        """queues: 4
queue_size: 128
in_capsule: 8KiB
max_h2c_data: 128KiB
success_flag: true
header_digest: true
data_digest: true""",
    ),
    "Nbd": ("workloads.vdb.nbd", "connections: 2\nrequests: 16\nstructured_replies: false"),
    "Mpi": (
        "workloads.solver",
        """kind: mpi
enabled: true
group: jobs
hosts: [h1, h2, h3, h4]
ranks: 8
map_by: slot
pattern: allreduce
algorithm: rabenseifner
sizes: [8B, 1KiB, 64KiB, 1MiB]
iterations: 500
volume: 20MiB
warm_up_iterations: 10
compute: exponential(50us)
start: 100ms
eager_limit: 32KiB
load_generator: mpi4py
send_overhead: 2us
receive_overhead: 3us
copy_rate: 40Gbit/s
reduce_rate: 32Gbit/s
local_latency: 500ns
local_rate: 40Gbit/s
priority: 5
dscp: ef
vlan: 10
port: 1024
client_ports: 40000-40999""",
    ),
    "Replay": (
        "workloads.recorded",
        """kind: replay
enabled: true
group: databases
client: web
server: shop-db
file: recorded.csv
pace: think
priority: 5
dscp: af41
vlan: 10
port: 80
client_ports: 40000-40999""",
    ),
    "Blocks": (
        "workloads.interconnect",
        """kind: blocks
enabled: true
group: cluster
preset: awr-example
nodes: [h1, h2, h3]
clients: [h1, h2]
users: 20
gap: exponential(5ms)
arrivals: exponential(100us)
spikes: [{factor: 5, at: 2s, for: 500ms}]
transactions: 1000
start: 100ms
blocks: 1.56
messages: 1.6
parallel: true
block: 8192B
message: 200B
server_time: exponential(200us)
server_work: 20us
concurrency: 2
message_time: 50us
message_work: 5us
timeout: 500ms
retries: 3
priority: 5
dscp: ef
vlan: 10
port: 9000
client_ports: 40000-40999""",
    ),
    "Spike": ("workloads.shop.spikes", "factor: 5\nat: 2s\nfor: 500ms"),
    "Call": (
        "workloads.shop.calls",
        """server: h5
servers: [h5, h6]
request: 300B
response: exponential(2kB)
server_time: 300us
server_work: 50us
concurrency: 4
count: 3
parallel: false
calls: [{server: h7, request: 100B, response: 500B}]""",
    ),
    "Replicas": (
        "workloads.shop.replicas",
        "servers: [h6, h7]\nbytes: 4kB\nacks: all\nack: 20B\nserver_time: 100us",
    ),
}
