"""How each key of a scenario is written: for every section its place in the file and each of its
keys once.

A test holds them against the schema: every section and every key is there, and the schema takes
every value.
"""

from reference_snippets_workloads import WORKLOADS

SNIPPETS: dict[str, tuple[str, str]] = {
    "Network": (
        "network",
        """link: {rate: 25Gbit/s, delay: 1us}
topology: {kind: star, switch: leaf, hosts: [web, shop-db, archive]}
hosts: [monitor]
switches: [core]
links: [{between: [leaf, core], rate: 100Gbit/s}, {between: [core, monitor]}]
framing: {header: 14B, overhead: 24B}
spanning_tree: {protocol: rstp}""",
    ),
    "LinkDefaults": ("network.link", "rate: 25Gbit/s\ndelay: 1us"),
    "Star": (
        "network.topology",
        "kind: star\nswitch: leaf\nhosts: [web, shop-db, archive]   # or 3",
    ),
    "Dumbbell": (
        "network.topology",
        "kind: dumbbell\nleft: [web]\nright: [shop-db, archive]\nbottleneck_rate: "
        "1Gbit/s\nbottleneck_delay: 5ms",
    ),
    "LeafSpine": (
        "network.topology",
        "kind: leaf-spine\nleaves: 4\nspines: 2\nhosts_per_leaf: "
        "4\nhosts: 16   # or a list of names\n"
        "uplink_rate: 40Gbit/s\nuplink_delay: 1us",
    ),
    "FatTree": ("network.topology", "kind: fat-tree\nk: 4\nhosts: 16   # or a list of names"),
    "Link": (
        "network.links[]",
        "between: [leaf1, spine1]\nrate: 40Gbit/s\ndelay: 2us\nloss: 0.01%\nloss_of: frames\n"
        "path_cost: 500\nport_priority: {spine1: 64}",
    ),
    "Framing": ("network.framing", "header: 18B      # with an 802.1Q tag\noverhead: 24B"),
    "SpanningTree": (
        "network.spanning_tree",
        "protocol: mstp\nvlans: {10: {bridge_priority: {spine1: 0}}}   # rapid-pvst\n"
        "instances: {1: {vlans: 10-20}}              # mstp\ndisjoint: true",
    ),
    "Tree": ("network.spanning_tree.vlans.10", "bridge_priority: {spine1: 4096}"),
    "Instance": (
        "network.spanning_tree.instances.1",
        'vlans: "10-20,30"\nbridge_priority: {spine1: 4096}',
    ),
    "Host": (
        "hosts.shop-db",
        "mtu: 9000B\nip: {reassembly_timeout: 5s}\nnic: {tso: 0B}\ncpu: {per_packet: 1us}\n"
        "tcp: {congestion_control: dctcp}\nmemory: 64GB\n"
        "neighbours: {noise: {tasks: 2}}   # live runs",
    ),
    "Ip": (
        "hosts.shop-db.ip",
        "reassembly_timeout: 1s\nreassembly_memory: 64MiB\nreassembly_distance: 0",
    ),
    "HostNeighbour": (
        "hosts.shop-db.neighbours.noise",
        "kind: disk\ntasks: 2\ncores: [0]\nnice: 5",
    ),
    "Nic": (
        "hosts.defaults.nic",
        "queue: 4MB\ntso: 0B\ngro: 0B\nrx_coalesce: 20us\nrx_jitter: "
        "exponential(2us)\nrx_ring: 1024 frames\n"
        "bond: layer3+4\npfc: {priorities: [3]}\nlink_pause: true\npause_response: 500ns\nqcn: {}\n"
        "ets: {san: {priorities: [6], share: 60%}, rest: {priorities: [0, 1], share: 40%}}\n"
        "storm: {priorities: [3], start: 10ms, end: 200ms}",
    ),
    "NicPfc": ("hosts.defaults.nic.pfc", "priorities: [3, 4]"),
    "NicClass": (
        "hosts.defaults.nic.ets.san",
        "priorities: [6]\nshare: 60%\nstrict: 1   # instead of a share",
    ),
    "NicQcn": (
        "hosts.defaults.nic.qcn",
        "timer: 15ms\nbyte_counter: 150kB\nactive_increase: 5Mbit/s\nhyper_increase: "
        "50Mbit/s\nrate_min: 10Mbit/s",
    ),
    "Storm": ("hosts.broken.nic.storm", "priorities: [3]\nstart: 100ms\nend: 350ms"),
    "Cpu": (
        "hosts.web.cpu",
        """cores: 8
scheduler: eevdf
slice: 3ms
profile: linux-kernel                 # or cloudnet-2014, linux-guest
clock: 2.4GHz
memory_share: 50%
rx_queues: 2
irq_cores: [0, 1]
program_cores: [2, 3, 4, 5, 6, 7]      # without cores: a number, and time_slice
netdev_budget: 300 frames
netdev_budget_time: 8ms
time_slice: 3ms                        # without cores
per_packet: 600ns                      # costs override those of the profile
per_byte: 0ps
per_frame: 630ns
per_poll: 200ns
per_interrupt: 1us
per_send: 1us
system_call: 100ns
read_byte: 95ps
write_byte: 75ps
wake_up: 300ns
idle_exit: 1us
context_switch: 400ns
steal: {share: 5%}
groups:
  batch: {workloads: [shop], cores: [6, 7], nice: 5, quota: 50ms, period: 100ms}""",
    ),
    "Steal": ("hosts.web.cpu.steal", "share: 10%\nslice: 10ms"),
    "ControlGroup": (
        "hosts.web.cpu.groups.batch",
        "workloads: [shop]\ncores: [0, 1]\nnice: 10\nquota: 50ms\nperiod: 100ms\nmemory: 8GB",
    ),
    "Hypervisor": (
        "hypervisors.leaf",
        """cores: 8
switch: ovs-dpdk
profile: kvm
clock: 2GHz
offloads: true
polling_cores: [0]
isolate: true
page_factor: 1
pins: {web: {cores: [1, 2]}}
irq_cores: [1]
neighbours: {busy: {tasks: 4}}
ring: 1024 frames
queue: 1000 frames
backlog: 1000 frames
uplink_ring: 512 frames
coalesce: 8us
halt_poll: 200us
tick: 4ms
slice: 3ms
switch_frame: 145ns
merge_frame: 500ns
copy_byte: 75ps
vhost_frame: 1500ns
interrupt: 1us
exit: 1us
entry: 500ns
wake_up: 500ns
context_switch: 700ns
signal: 750ns
poll: 150ns""",
    ),
    "Device": (
        "devices.ssd",
        """preset: sata-ssd
servers: 10
read_latency: 102us
write_latency: exponential(111us)
read_rate: 540MB/s
write_rate: 520MB/s
link: shared
queue_depth: 32
sector: 512B
limits: {max_sectors: 512KiB}
cache: {size: 4MiB}
rotation: {rpm: 7200}
capacity: 1TB""",
    ),
    "Limits": (
        "devices.ssd.limits",
        "max_sectors: 512KiB\nmax_segments: 128\nsegment: 4KiB\ntransfer: 128KiB",
    ),
    "Cache": ("devices.ssd.cache", "size: 4MiB\nlatency: 17us"),
    "Rotation": ("devices.ssd.rotation", "rpm: 7200\nseek_track: 1ms\nseek_full: 15ms"),
    "Pins": ("hypervisors.leaf.pins.web", "cores: [1, 2]\nvhost: [3]"),
    "Neighbour": (
        "hypervisors.leaf.neighbours.busy",
        "kind: disk\ntasks: 4\nwork: 50us\nwait: 100us\ncores: [4, 5]\nnice: 10",
    ),
    "Tcp": (
        "hosts.defaults.tcp",
        """congestion_control: dctcp
slow_start_exit: none
growth: segments
reno_friendly: true
initial_window: 10
window_cap: 1MB
ecn: true
sack: true
tail_loss_probe: true
rto_min: 10ms
rto_max: 2min
delayed_ack: 40ms
slow_start_after_idle: false
tick: 1ms
autocorking: false
small_queue: 1ms
small_queue_bound: line
send_buffer: 4MiB
receive_buffer: 6MiB""",
    ),
    "Switch": (
        "switches.leaf",
        """switching: cut-through
latency: 800ns
buffer: 32MB
classify: [{class: 5, dscp: [ef]}]
policy: gold
ports: {archive: fifo}   # towards this neighbour another one
mtu: 9000B
port_mtu: {archive: 1500B}
bridge_priority: 4096""",
    ),
    "Rule": (
        "switches.leaf.classify[]",
        """class: 5
pcp: [5]
dscp: [ef, af41, 12]
vlan: [10]
ingress: web
source: web
destination: shop-db
protocol: tcp
source_port: 5432
destination_port: 5432-5440""",
    ),
    "Policy": (
        "policies.gold",
        """queues: {fast: {strict: 1, limit: 500kB}, rest: {share: 100%}}
priorities: {5: fast}
dpp: {max_packets: 20, express: fast}
etrap: {byte_count: 1MB}
pfc: {priorities: [3], headroom: auto}
link_pause: {headroom: auto}
police: {priorities: [0], rate: 1Gbit/s}""",
    ),
    "Queue": (
        "policies.gold.queues.rest",
        """strict: 1              # or a share
share: 50%
limit: dynamic(2)      # or a size: 500kB
reserved: 20kB
shape: {max: 5Gbit/s}
aqm: {kind: codel}
qcn: {}""",
    ),
    "Shape": ("policies.gold.queues.rest.shape", "min: 1Gbit/s\nmax: 5Gbit/s"),
    "NoAqm": ("policies.gold.queues.rest.aqm", "kind: none"),
    "Step": ("policies.gold.queues.rest.aqm", "kind: step\nthreshold: 100kB"),
    "Red": (
        "policies.gold.queues.rest.aqm",
        "kind: red\nminimum: 150kB\nmaximum: 3MB\nprobability: 10%\nweight_exponent: 9\necn: true\n"
        "not_capable: {minimum: 100kB, maximum: 1MB}\ngentle: false",
    ),
    "NotCapable": (
        "policies.gold.queues.rest.aqm.not_capable",
        "minimum: 100kB\nmaximum: 1MB\nprobability: 10%",
    ),
    "Afd": ("policies.gold.queues.rest.aqm", "kind: afd\ndesired: 150kB\necn: true"),
    "Codel": (
        "policies.gold.queues.rest.aqm",
        "kind: codel\ntarget: 5ms\ninterval: 100ms\necn: true\nce_threshold: 1ms",
    ),
    "Qcn": ("policies.gold.queues.rest.qcn", "set_point: 26kB\nweight: 2"),
    "Dpp": (
        "policies.gold.dpp",
        "max_packets: 20\nage: 5ms\nexpress: fast\nreset: order-safe\ntable_entries: "
        "65536\nwhen_full: untracked\n"
        "priorities: [0]",
    ),
    "Etrap": (
        "policies.gold.etrap",
        "profile: mesh\nbyte_count: 1MB\nage: 500us\nafd_period: 50us\nbandwidth_threshold: "
        "500B\ntable_entries: 65536",
    ),
    "Pfc": (
        "policies.gold.pfc",
        """priorities: [3, 4]
headroom: auto         # or a size
cable: 100m
xoff: 200kB
xon_offset: 20kB
reserved: 10kB
quanta: 65535
response: 1us
sends: true
obeys: true
watchdog: {detection: 200ms}
per_priority: {4: {xoff: 100kB}}
lossy: 8MB""",
    ),
    "Watchdog": ("policies.gold.pfc.watchdog", "detection: 200ms\nrestoration: 200ms"),
    "GroupThresholds": (
        "policies.gold.pfc.per_priority.4",
        "headroom: 40kB\nxoff: 100kB\nxon_offset: 20kB\nreserved: 10kB",
    ),
    "LinkPause": (
        "policies.gold.link_pause",
        """headroom: auto
cable: 100m
xoff: 200kB
xon_offset: 20kB
reserved: 10kB
quanta: 65535
response: 1us
sends: true
obeys: true
watchdog: {detection: 200ms}""",
    ),
    "Police": (
        "policies.gold.police",
        "priorities: [0, 1]\nrate: 5Gbit/s\nburst: 500kB\nper_flow: true",
    ),
    **WORKLOADS,
    "Sweep": (
        "sweep",
        "axes:\n  switches.leaf.buffer: log(1MB..64MB, 7)\n  workloads.shop.users: [4, 16, "
        "64]\ncombine: grid",
    ),
    "WhatIf": (
        "whatif",
        "arms: [fifo, dpp]\nscale: 0.05\nknobs:\n  switches.leaf.buffer: log(1MB..64MB, 7)\n"
        "  workloads.backup.enabled: [true, false]\ntry: [Switch the backup off.]",
    ),
    "Experiment": (
        "experiment",
        """trials: auto
trials_max: 24
precision: 5%
baseline: fifo
seed: 1
duration: 10s
ends: duration
warm_up: 500ms
calibrate: {to: 5s}
solo: true
solo_trials: 3
clock: 50ppm
invalid_if: [unfinished, host-drops]
live: {attempts: 3}""",
    ),
    "Headline": ("headline[]", "workload: shop\nmetric: rate_per_s"),
    "Calibrate": (
        "experiment.calibrate",
        "to: 30s\nworkloads: [shop]\nmethod: gap\nshare_gap: false",
    ),
    "Live": (
        "experiment.live",
        """max_delay_error: 5%
max_delay_error_p99: 10%
max_drop_error: 5%
max_core_wait: 5%
max_lateness: 1ms
max_pacing_error: 5%
max_steal: 5%
min_idle: 10%
max_generator_lag: 1ms
max_start_skew: 20ms
attempts: 3""",
    ),
    "Observe": (
        "observe",
        "ports: [leaf>web]\nseries_bins: 500\nseries_bin: 1ms\ntransactions: 100000\nwindows: "
        "1ms\ninterfaces: 1s\n"
        "digest: true",
    ),
    "Assumption": (
        "assumptions[]",
        "name: server time\nvalue: 300 us\nmark: assumed\nrange: 0.1 to 1 ms\nsource: a query "
        "answered from memory\n"
        "vary: {keys: [workloads.shop.round_trips.0.server_time], range: 0.1ms..1ms}",
    ),
    "Variation": (
        "assumptions[].vary",
        """keys: [workloads.shop.gap, workloads.stock.gap]
range: 1ms..10ms
times: 90%..110%       # instead of range
values: [1ms, 5ms]     # instead of range
forms: ["{}", "exponential({})"]
settings: [{}, {hosts.defaults.tcp.sack: false}]
names: [as at present, no SACK]
also: {switches.leaf.buffer: 40MB}""",
    ),
    "Expectation": (
        "expect[]",
        """goal: shop.p99 < 5ms   # or a text alone; instead of metric, workload and bounds
metric: latency_p99_ms
arm: dpp
baseline: fifo         # with acceleration_percent
workload: shop
port: leaf>web         # metrics of ports
queue: fast
cause: tail-drop
after: 1s
statistic: median
at_most: 2
at_least: 1
value: 1.5
tolerance: 10%
tolerance_points: 1
kind: independent
source: the service agreement""",
    ),
}
