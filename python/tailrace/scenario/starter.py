"""The scenario that `tailrace init` writes: small, commented, and ready to run."""

STARTER = """\
# A tailrace scenario: three hosts at one switch. An OLTP database and two bulk streams answer the same client,
# once through a plain FIFO and once with Dynamic Packet Prioritization. Units are part of every value.
tailrace: 1
name: starter
description: What does prioritising the first packets of a flow do for transactions that share a port with bulk data?

network:
  link: {rate: 10Gbit/s, delay: 500ns}      # default of every link
  topology: {kind: star, switch: leaf, hosts: [client, database, backup]}
  # others: {kind: dumbbell, left: 4, right: 4}, {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 8},
  #         {kind: fat-tree, k: 4}; or hosts, switches and links one by one:
  # links:
  #   - {between: [leaf, client], rate: 1Gbit/s, delay: 5us}

hosts:
  defaults: {mtu: 1500B}                    # Linux defaults for the rest: CUBIC, SACK, RACK, 6 MiB receive buffer
  # client: {tcp: {congestion_control: dctcp}}

switches:
  leaf: {buffer: 12MB, policy: fifo}        # `fifo` is built in: one queue, tail drop

policies:
  dpp:
    queues:
      express: {strict: 1, limit: 1MB}      # served first
      normal: {limit: dynamic(8)}           # at most 8 times the free buffer
    dpp: {max_packets: 20, age: 5ms, express: express}

workloads:
  orders:
    kind: oltp                              # closed loop: every user has a connection and waits for each response
    client: client
    server: database
    users: 10
    transactions: 200                       # of each user
    round_trips:
      - {request: 200B, response: 18kB, server_time: exponential(500us)}
    gap: exponential(5ms)
  backup:
    kind: stream                            # bulk TCP until the end of the trial
    source: backup
    destination: client
    connections: 4

arms:                                       # variants to compare, baseline first: dotted path and value
  fifo: {}
  dpp: {switches.leaf.policy: dpp}

experiment:
  trials: auto                              # 6 of each arm, or more until every comparison is decided, 24 at most
  seed: 1
  duration: 10s                             # hard end of a trial
  solo: true                                # also run each workload alone, to report its slowdown

assumptions:
  - {name: server time, value: 500 us, mark: assumed, range: 0.2 to 2 ms, source: a point query that hits the cache}

expect:
  - {metric: acceleration_percent, arm: dpp, baseline: fifo, workload: orders, at_least: 10}
"""  # noqa: E501
