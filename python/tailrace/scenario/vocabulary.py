"""Metrics of expectations, with the keys that each requires or accepts."""

from dataclasses import dataclass

from tailrace.scenario.policies.aqm import kinds as aqm_kinds

DEPTH_PERCENTILES = (1, 5, 50, 95, 99)
"""Cumulative shares of time, in percent, for which the depth of a port can be expected."""
LATENCIES = ("mean", "min", "p50", "p90", "p95", "p99", "p99_9", "max")

PROGRAM_METRICS = {
    "cpu_s": "time of cores that its programs took, in seconds",
    "cpu_us_per_transaction": "the same for each completed transaction, in microseconds",
    "context_switches": "switches of context of its programs",
    "involuntary_switches": "those in which a program had to leave its core",
    "switches_per_transaction": "switches of context for each completed transaction",
}
"""Metrics of a workload's programs on the modelled processors of all hosts."""

LIMITS = {
    "application": "application",
    "send_buffer": "send buffer",
    "receive_window": "receiver's window",
    "congestion": "congestion window and losses",
    "mtu": "frames longer than the MTU",
    "rate_cap": "policer's rate",
    "pacing": "pacing",
    "interface": "sender's interface",
    "sender_processor": "sender's processor",
    "receiver_processor": "receiver's processor",
}
"""Limits of connections, with their names as text (docs/models/verdict.md)."""

BLOCK_METRICS = {
    "blocks_per_s": "blocks that nodes have received, per second",
    "block_latency_p50_ms": "median time from asking for a block until it is there, in ms",
    "block_latency_p99_ms": "99th percentile of that time, in ms",
    "lost_blocks": "requests for a block without it in time, with each retry counted",
    "failed_blocks": "blocks that did not come with all retries",
    "packets_per_transaction": (
        "packets that its nodes send and receive, those of other "
        "workloads too, for each transaction"
    ),
    "cpu_us_per_block": (
        "time of cores that its programs took for each block, without soft interrupts, in "
        "microseconds, on modelled "
        "processors"
    ),
    "switches_per_block": "switches of context of its programs for each "
    "block, on modelled processors",
}
"""Metrics that only workloads of blocks have."""

STORAGE_PARTS = {
    "turn": "their turn: the job had as many under way as `depth` allows",
    "processor": "the processor of the initiator",
    "entry": "an entry of the protocol's queue of commands",
    "network": "the network",
    "r2t": "permission of the target to send data",
    "queue": "requests before them, in the block layer and in the device",
    "device": "the medium and the link of the device, while these served them",
}
"""Waits of storage requests; their sum is the whole latency."""
STORAGE_METRICS = {
    **{
        name: meaning
        for op in ("read", "write")
        for name, meaning in {
            f"{op}_iops": f"requests that {op}, per second",
            f"{op}_mbytes_per_s": f"data that requests {op}, in MB (10^6 bytes) per second",
            **{
                f"{op}_latency_{key}_ms": f"{key} latency of requests that {op}, in ms"
                for key in ("mean", "p50", "p99", "max")
            },
        }.items()
    },
    "flush_latency_mean_ms": "mean latency of flushes, in ms",
    **{
        f"waits_{part}_percent": f"share of the time of requests for {what}, in percent"
        for part, what in STORAGE_PARTS.items()
    },
    "device_requests_per_s": "requests that devices complete per second, after "
    "splitting (iostat: r/s + w/s)",
    "device_await_ms": "mean time of these in the block layer and the "
    "device, in ms (iostat: await)",
    "device_queue_mean": "mean number of these under way, for each device (iostat: aqu-sz)",
    "device_busy_percent": "share of time in which a device had something to do, "
    "in percent (iostat: %util)",
}
"""Metrics that only workloads of storage have."""

HYPERVISOR_METRICS = {
    "hypervisor_switches_per_transaction": "switches of context on all hypervisors",
    "hypervisor_cpu_us_per_transaction": "busy time of all cores of hypervisors, in microseconds",
    "exits_per_transaction": "exits of virtual cores",
}
"""Metrics of all hypervisors, for each completed transaction of a workload."""

RATIOS = {
    "rate_ratio": "rate_per_s",
    "goodput_ratio": "goodput_gbps",
    "latency_ratio": "latency_mean_ms",
    "latency_p99_ratio": "latency_p99_ms",
    "switches_ratio": "hypervisor_switches_per_transaction",
    "switches_per_s_ratio": "hypervisor_switches_per_s",
}
"""Metrics that are a figure of an arm divided by that of its baseline."""

DROP_CAUSES = (
    *aqm_kinds.DROP_CAUSES,
    "tail-drop",
    "buffer-full",
    "no-route",
    "policed",
    "ingress-full",
    "headroom-full",
    "watchdog",
    "mtu",
    "line",
)
"""Why a switch drops a frame."""

NARROWING = ("workload", "port", "queue", "cause", "after")
"""Keys of an expectation that not every metric accepts."""


@dataclass(frozen=True)
class Metric:
    """A figure of a trial, or of two arms."""

    name: str
    meaning: str
    """Description with the unit."""
    needs: tuple[str, ...] = ()
    """Required keys; `workload` may be omitted if there is only one."""
    takes: tuple[str, ...] = ()
    """Optional keys that select a part."""


def _workload(name: str, meaning: str, *takes: str) -> Metric:
    return Metric(name, meaning, ("workload",), takes)


def _latency(name: str) -> Metric:
    words = {"mean": "mean", "min": "smallest", "max": "largest"}
    which = words.get(name) or f"{name[1:].replace('_', '.')}th percentile of the"
    return _workload(
        f"latency_{name}_ms", f"{which} latency of a transaction, flow or datagram, in ms"
    )


METRICS = {
    metric.name: metric
    for metric in (
        _workload("completion_s", "time until the last user has finished, in seconds"),
        _workload(
            "acceleration_percent",
            "reduction of the completion time relative to the arm `baseline`, in percent",
        ),
        _workload("slowdown", "completion time divided by that of the solo run"),
        _workload("goodput_gbps", "application bytes over time, in Gbit/s", "after"),
        _workload(
            "goodput_share_percent", "share of the goodput of all workloads, in percent", "after"
        ),
        _workload(
            "connections_spread_percent",
            "distance of the connection farthest from their mean, in percent",
        ),
        _workload("transactions", "completed transactions"),
        Metric(
            "rate_per_s",
            "completed transactions or requests per second of a workload or group, or of all "
            "workloads together",
            takes=("workload",),
        ),
        _workload(
            "failed_percent", "requests that have failed, in percent of those that have ended"
        ),
        _workload(
            "loss_percent",
            "frames with data that TCP had to send again, or datagrams that were lost, in percent",
        ),
        _workload(
            "lost_queries", "queries of udp without a response in time, with each retry counted"
        ),
        _workload(
            "timed_out",
            "requests over tcp that were given up after `timeout`, with each retry counted",
        ),
        _workload(
            "connections_opened",
            "connections that clients, and servers that ask others, have opened",
        ),
        _workload("retransmits", "segments that TCP retransmitted"),
        _workload("timeouts", "retransmission timeouts of TCP"),
        *(
            _workload(
                f"limited_{cause}_percent",
                f"share of the time of its connections limited by: {words}, in percent",
            )
            for cause, words in LIMITS.items()
        ),
        _workload("users_jain", "Jain index of the users by the inverse of their completion time"),
        *(_latency(name) for name in LATENCIES),
        *(
            _workload(name, f"{meaning}, on modelled processors")
            for name, meaning in PROGRAM_METRICS.items()
        ),
        Metric(
            "core_busy_percent",
            "share of time that the busiest core of a modelled processor worked, in percent",
        ),
        Metric(
            "core_softirq_percent",
            "share of time that a core of a modelled processor spent in soft interrupts, the "
            "largest, in percent",
        ),
        Metric(
            "runnable_mean",
            "tasks that run or wait on a modelled processor, mean over time, on the host with "
            "most of them",
        ),
        Metric(
            "throttled_s",
            "time for which control groups of modelled processors were throttled, in seconds",
        ),
        *(_workload(name, meaning) for name, meaning in BLOCK_METRICS.items()),
        *(_workload(name, meaning) for name, meaning in STORAGE_METRICS.items()),
        *(
            _workload(name, f"{meaning}, for each completed transaction")
            for name, meaning in HYPERVISOR_METRICS.items()
        ),
        Metric("hypervisor_switches_per_s", "switches of context on all hypervisors, per second"),
        Metric("overruns_frames", "frames that found a queue of a hypervisor full"),
        Metric(
            "hypervisor_kernel_percent",
            "share of the time for virtual machines that kernels of hypervisors took: vhost "
            "threads, exits, switches "
            "and soft interrupts, in percent",
        ),
        *(
            _workload(name, f"{of}, divided by that of the arm `baseline`")
            for name, of in RATIOS.items()
        ),
        Metric("fairness_jain", "Jain index of the goodput of all workloads"),
        Metric(
            "drops_frames",
            "frames dropped in switches; at a port or queue only those that it dropped, "
            "otherwise also those "
            "dropped before any queue",
            takes=("port", "queue", "cause"),
        ),
        Metric(
            "marked_frames",
            "frames marked with congestion experienced (CE)",
            takes=("port", "queue"),
        ),
        Metric("prioritised_frames", "frames that `dpp` put in the express queue", takes=("port",)),
        Metric("elephants", "flows that the elephant trap identified", takes=("port",)),
        Metric(
            "elephant_share_percent",
            "bytes received from elephants, as a share of all bytes, in percent",
            takes=("port",),
        ),
        Metric(
            "queue_depth_mean_bytes",
            "mean depth of the deepest queue, in bytes",
            takes=("port", "queue", "after"),
        ),
        Metric(
            "queue_depth_max_bytes",
            "largest depth of a queue, in bytes",
            takes=("port", "queue", "after"),
        ),
        *(
            Metric(
                f"queue_depth_p{share}_bytes",
                f"depth in bytes that all queues of a port together do not exceed for {share} "
                "% of the time",
                needs=("port",),
            )
            for share in DEPTH_PERCENTILES
        ),
        Metric(
            "queue_share_percent",
            "share of the queue in the bytes that the port sent, including overhead on the "
            "wire, in percent",
            needs=("port", "queue"),
        ),
        Metric(
            "pauses_frames",
            "pauses that switches sent, without renewals; at a port, those to its neighbour",
            takes=("port",),
        ),
        Metric(
            "paused_percent",
            "share of the trial for which a transmitter was paused, for the priority paused "
            "longest, in percent; "
            "the port may be `host>switch`",
            takes=("port",),
        ),
        Metric("storms", "pause storms that watchdogs detected", takes=("port",)),
        Metric(
            "deadlock_links",
            "links in the cycle of pauses (deadlock) at the end of the trial; 0 for none",
            takes=("port",),
        ),
        Metric(
            "notifications_frames",
            "congestion notifications (QCN) that switches sent",
            takes=("port", "queue"),
        ),
    )
}
