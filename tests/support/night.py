"""A night of databases and bulk in one switch, short: groups, and arms of which the first disables
workloads."""

SCENARIO = """
tailrace: 1
name: night
network:
  topology: {kind: star, switch: leaf, hosts: [app, pg1, pg2, olap, bkp]}
  link: {rate: 1Gbit/s, delay: 5us}
switches: {leaf: {buffer: 2MB}}
policies:
  split:
    queues: {oltp: {strict: 1, limit: 200kB}, rest: {share: 100%}}
    priorities: {5: oltp}
workloads:
  pg1: &pg
    kind: oltp
    group: oltp
    client: app
    server: pg1
    users: 4
    gap: exponential(1ms)
    priority: 5
    round_trips: [{request: 200B, response: 20kB}]
  pg2: {<<: *pg, server: pg2}
  analytics: {kind: stream, group: bulk, source: olap, destination: app, connections: 2}
  backup: {kind: stream, group: bulk, source: bkp, destination: app}
arms:
  quiet: {workloads.analytics.enabled: false, workloads.backup.enabled: false}
  tonight: {}
  strict: {switches.defaults.policy: split}
experiment: {trials: 5, duration: 60ms, warm_up: 10ms, baseline: tonight}
headline: [{workload: oltp, metric: latency_p99_ms}, {workload: bulk, metric: goodput_gbps}]
"""
