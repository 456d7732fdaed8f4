"""What an experiment, its arms and its expectations cannot be is refused with the key and the
reason."""

import math

import pytest

from lab import problems, sound

ORDERS = "workloads__orders__"
QUEUES = "policies__dpp__queues__"
FLOWS = {"kind": "flows", "sizes": "web-search", "load": "50%"}
DATAGRAMS = {
    "kind": "datagrams",
    "source": "db",
    "destination": "client",
    "sizes": "100B",
    "interarrival": "1us",
}
GRAPH = {"hosts": ["client", "db", "bulk"], "switches": ["leaf", "far"]}
LINKS = [
    {"between": ["client", "leaf"]},
    {"between": ["db", "leaf"]},
    {"between": ["bulk", "leaf"]},
]


@pytest.mark.parametrize(
    ("path", "value", "key", "what"),
    [
        # experiment and observation
        ("experiment__duration", "0s", "experiment.duration", "must be greater than zero"),
        ("experiment__trials", 0, "experiment.trials", "write 1 to 1000, or auto"),
        ("experiment__clock", "2000ppm", "experiment.clock", "is out of range"),
        (
            "experiment__calibrate",
            {"to": "6s"},
            "experiment.calibrate.to",
            "at most experiment.duration",
        ),
        (
            "experiment__calibrate",
            {"to": "1s", "workloads": ["backup"]},
            "experiment.calibrate.workloads.0",
            "no transactions",
        ),
        (
            "experiment__calibrate",
            {"to": "1s", "workloads": ["order"]},
            "experiment.calibrate.workloads.0",
            "did you mean 'orders'?",
        ),
        ("observe__ports", ["leaf"], "observe.ports.0", "is not a switch port"),
        ("observe__ports", ["leaf>far"], "observe.ports.0", "no link joins"),
        # arms and expectations
        ("arms__solo-x", {}, "arms.solo-x", "are reserved for solo runs"),
        (
            "arms__odd",
            {"switches.leaf.polcy": "fifo"},
            "switches.leaf.polcy",
            "did you mean 'policy'?",
        ),
        (
            "arms__odd",
            {"swtches.leaf.policy": "fifo"},
            "arms.odd.swtches.leaf.policy",
            "did you mean 'switches'?",
        ),
        ("arms__odd", {"workloads.orders.round_trips.5": 1}, "arms.odd", "does not exist"),
        ("expect", [{"metric": "completion"}], "expect.0.metric", "there is no metric"),
        ("expect", [{"metric": "completion_s", "at_most": 1}], "expect.0", "requires `workload`"),
        ("expect", [{"metric": "drops_frames"}], "expect.0", "add value and tolerance"),
        (
            "expect",
            [{"metric": "drops_frames", "value": 1}],
            "expect.0",
            "requires exactly one tolerance",
        ),
        (
            "expect",
            [{"metric": "drops_frames", "value": 1, "tolerance": "x"}],
            "expect.0.tolerance",
            "not a share",
        ),
        (
            "expect",
            [{"metric": "drops_frames", "at_most": 1, "kind": "guess"}],
            "expect.0.kind",
            "independent",
        ),
        ("expect", [{"metric": "drops_frames", "at_most": math.nan}], "expect.0.at_most", "finite"),
        (
            "expect",
            [{"metric": "drops_frames", "at_least": 2, "at_most": 1}],
            "expect.0.at_most",
            "no result can hold",
        ),
        (
            "expect",
            [
                {
                    "metric": "acceleration_percent",
                    "value": 1,
                    "tolerance_points": 5,
                    "kind": "derived",
                }
            ],
            "expect.0.tolerance_points",
            "without effect would pass",
        ),
        (
            "expect",
            [{"metric": "drops_frames", "arm": "ffo", "at_most": 1}],
            "expect.0.arm",
            "did you mean 'fifo'?",
        ),
        (
            "expect",
            [{"metric": "slowdown", "workload": "order", "at_most": 1}],
            "expect.0.workload",
            "did you mean 'orders'?",
        ),
        (
            "expect",
            [{"metric": "drops_frames", "value": 1, "tolerance": "1%", "at_most": 1}],
            "expect.0",
            "exclude each other",
        ),
        (
            "expect",
            [{"metric": "rate_per_s", "workload": "nobody", "at_most": 1}],
            "expect.0.workload",
            "no workload 'nobody'",
        ),
        (
            "expect",
            [{"metric": "slowdown", "workload": "orders", "at_most": 1}],
            "expect.0",
            "requires solo runs",
        ),
        ("expect", [{"metric": "pauses", "at_most": 1}], "expect.0.metric", "there is no metric"),
        (
            "expect",
            [{"metric": "drops_frames", "cause": "taildrop", "at_most": 1}],
            "expect.0.cause",
            "did you mean 'tail-drop'?",
        ),
        (
            "expect",
            [{"metric": "drops_frames", "port": "leaf>clint", "at_most": 1}],
            "expect.0.port",
            "did you mean 'leaf>client'?",
        ),
        (
            "expect",
            [{"metric": "drops_frames", "queue": "exprss", "at_most": 1}],
            "expect.0.queue",
            "did you mean 'express'?",
        ),
        (
            "expect",
            [{"metric": "pauses_frames", "queue": "all", "at_most": 1}],
            "expect.0.queue",
            "does not accept",
        ),
        (
            "expect",
            [{"metric": "fairness_jain", "cause": "red", "at_most": 1}],
            "expect.0.cause",
            "does not accept",
        ),
        (
            "expect",
            [{"metric": "queue_depth_p99_bytes", "at_most": 1}],
            "expect.0",
            "requires `port`",
        ),
        (
            "expect",
            [{"metric": "connections_spread_percent", "workload": "orders", "at_most": 1}],
            "expect.0.workload",
            "has no connections",
        ),
        (
            "expect",
            [{"metric": "goodput_gbps", "workload": "orders", "after": "1h", "at_most": 1}],
            "expect.0.after",
            "less than the duration",
        ),
        (
            "expect",
            [{"metric": "queue_depth_max_bytes", "after": "1ms", "at_most": 1}],
            "expect.0.after",
            "not per queue",
        ),
    ],
)
def test_nonsense_of_an_experiment_is_refused(
    path: str, value: object, key: str, what: str
) -> None:
    found = problems(sound(**{path: value}))
    assert any(problem.startswith(key) and what in problem for problem in found), found
