"""Metrics of expectations, with the keys that each requires and those that it takes."""

from dataclasses import dataclass

from tailrace.scenario.policies.aqm import kinds as aqm_kinds

DEPTH_PERCENTILES = (1, 5, 50, 95, 99)
"""Shares of the time, in percent, at which the depth of a port can be expected."""
LATENCIES = ("mean", "min", "p50", "p90", "p95", "p99", "p99_9", "max")

DROP_CAUSES = (
    *aqm_kinds.DROP_CAUSES,
    "tail-drop",
    "buffer-full",
    "no-route",
    "policed",
    "ingress-full",
    "headroom-full",
    "watchdog",
)
"""Why a switch drops a frame."""

NARROWING = ("workload", "port", "queue", "cause", "after")
"""Keys of an expectation that not every metric takes."""


@dataclass(frozen=True)
class Metric:
    """A figure of a trial, or of two arms."""

    name: str
    meaning: str
    """With its unit."""
    needs: tuple[str, ...] = ()
    """Required keys; `workload` may be left out where there is only one."""
    takes: tuple[str, ...] = ()
    """Optional keys that narrow it down."""


def _workload(name: str, meaning: str, *takes: str) -> Metric:
    return Metric(name, meaning, ("workload",), takes)


def _latency(name: str) -> Metric:
    words = {"mean": "mean", "min": "smallest", "max": "largest"}
    which = words.get(name) or f"{name[1:].replace('_', '.')}th percentile of the"
    return _workload(f"latency_{name}_ms", f"{which} latency of a transaction, flow or datagram, in ms")


METRICS = {
    metric.name: metric
    for metric in (
        _workload("completion_s", "time until the last user was done, in seconds"),
        _workload("acceleration_percent", "how much sooner it finishes than in the arm `baseline`, in percent"),
        _workload("slowdown", "completion time divided by that of the workload alone"),
        _workload("goodput_gbps", "application bytes over time, in Gbit/s", "after"),
        _workload("goodput_share_percent", "its part of the goodput of all workloads, in percent", "after"),
        _workload("connections_spread_percent", "distance of the connection farthest from their mean, in percent"),
        _workload("transactions", "transactions that were completed"),
        _workload("retransmits", "segments that TCP sent again"),
        _workload("timeouts", "retransmission timeouts of TCP"),
        _workload("users_jain", "Jain index of the users by the inverse of their completion time"),
        *(_latency(name) for name in LATENCIES),
        Metric("fairness_jain", "Jain index of the goodput of all workloads"),
        Metric(
            "drops_frames",
            "frames lost in switches; at a port or queue those that it dropped, otherwise also those that were dropped "
            "before any queue",
            takes=("port", "queue", "cause"),
        ),
        Metric("marked_frames", "frames marked as having met congestion", takes=("port", "queue")),
        Metric("prioritised_frames", "frames that `dpp` sent to the express queue", takes=("port",)),
        Metric("elephants", "flows that the elephant trap found", takes=("port",)),
        Metric("elephant_share_percent", "bytes that arrived from elephants, share of all in %", takes=("port",)),
        Metric("queue_depth_mean_bytes", "mean depth of the deepest queue, in bytes", takes=("port", "queue", "after")),
        Metric("queue_depth_max_bytes", "largest depth of a queue, in bytes", takes=("port", "queue", "after")),
        *(
            Metric(
                f"queue_depth_p{share}_bytes",
                f"bytes that all queues of a port together do not exceed for {share} % of the time",
                needs=("port",),
            )
            for share in DEPTH_PERCENTILES
        ),
        Metric(
            "queue_share_percent",
            "the queue's part of what the port sent, with the overhead on the wire, in percent",
            needs=("port", "queue"),
        ),
        Metric(
            "pauses_frames",
            "pauses that switches sent, renewals not counted; at a port to that neighbour",
            takes=("port",),
        ),
        Metric(
            "paused_percent",
            "part of the run for which a transmitter was paused, of the priority paused longest, in percent; the port "
            "may be `host>switch`",
            takes=("port",),
        ),
        Metric("storms", "pause storms that watchdogs found", takes=("port",)),
        Metric("deadlock_links", "links in the circle of pauses that the run ended with; 0 for none", takes=("port",)),
        Metric("notifications_frames", "congestion notifications (QCN) that switches sent", takes=("port", "queue")),
    )
}
