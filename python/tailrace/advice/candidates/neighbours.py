"""Other workloads: limits on their rate, and more connections for streams of the goal."""

from collections.abc import Iterator

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, Candidate, Settings
from tailrace.advice.situation import Situation
from tailrace.scenario.workloads.base import LongFlows, WorkloadKind

MORE = 4
CONNECTIONS_MAX = 60_000
SHARE_PERCENT = 50
EVIDENCE = "docs/validation.md, against theory"


def candidates(situation: Situation) -> Iterator[Candidate]:
    """More streams, and neighbours that send at half of the line."""
    own = {
        name: flows.connections
        for name, one in situation.of_goal.items()
        if (flows := _lasting(one))
    }
    if own:
        yield Candidate(
            name=f"streams-{MORE}-times",
            group="streams",
            title=f"{MORE} times as many connections",
            changes={
                f"workloads.{name}.connections": min(CONNECTIONS_MAX, MORE * number)
                for name, number in own.items()
            },
            acts_on=frozenset(),
            costs="A larger share of any link that others use too.",
            settings=tuple(
                Settings(
                    f"the application {name}",
                    (f"parallel connections: {MORE * number}",),
                    (f"parallel connections: {number}",),
                )
                for name, number in own.items()
            ),
            evidence="docs/validation.md (streams add up until the line is full), "
            "reproductions/aws-streams",
        )
    bulk = {
        name: flows.source
        for name, one in situation.others.items()
        if (flows := _lasting(one)) and _is_free(one)
    }
    if bulk:
        rates = {
            name: situation.scenario.graph.rates_bps[source] * SHARE_PERCENT // 100 // len(bulk)
            for name, source in bulk.items()
        }
        yield Candidate(
            name="neighbours-limited",
            group="neighbours-limited",
            title=f"The senders of {', '.join(bulk)} limit themselves to half of the line together",
            changes={f"workloads.{name}.rate": f"{rate}bit/s" for name, rate in rates.items()},
            acts_on=QUEUES | REPEATS | {WINDOW},
            costs="They take longer.",
            settings=tuple(
                Settings(
                    f"the application {name}",
                    (f"rate limit: {rate // 1_000_000} Mbit/s",),
                    ("rate limit: none",),
                )
                for name, rate in rates.items()
            ),
            evidence=EVIDENCE,
        )


def _lasting(workload: WorkloadKind) -> LongFlows | None:
    """Its lasting connections, where their number is a key."""
    return workload.long_flows() if "connections" in type(workload).model_fields else None


def _is_free(workload: WorkloadKind) -> bool:
    """Whether it could have a rate limit and has none."""
    return "rate" in type(workload).model_fields and getattr(workload, "rate", 0) is None
