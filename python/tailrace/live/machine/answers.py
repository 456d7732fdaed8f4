"""Measures the times of a database and its user for responses of several sizes, over loopback and
over a link of the fabric.

Over loopback there is no network, and a statement takes the time of the programs. Over the link,
the fabric's log separates its parts: the server may build a whole row before it sends any of it,
and the client may receive all of it before it continues. Every figure is a median, so that single
responses that waited for a core do not distort it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tailrace.live import registry
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Load
from tailrace.live.measure import ingress
from tailrace.live.measure.ingress import Answer
from tailrace.live.transactions import TransactionLoad
from tailrace.live.trial.servers import Servers
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads import ports
from tailrace.scenario.workloads.planned import planned_workloads

LARGE = (1_000_000, 8_000_000, 32_000_000, 64_000_000)
"""Sizes in bytes for which a rate is found. The rate changes above 32 MiB: up to there glibc's
malloc keeps freed memory, beyond it requests fresh pages from the kernel each time
(DEFAULT_MMAP_THRESHOLD_MAX, malloc/malloc.c)."""
LARGE_COUNTS = dict(zip(LARGE, (100, 16, 8, 6), strict=True))
"""Requests for each size: eight seconds of the link."""
LOOPBACK_COUNTS = {1_000: 2000, 18_000: 2000} | LARGE_COUNTS
LINK_COUNTS = {18_000: 200} | LARGE_COUNTS
LINK_RATE = "1Gbit/s"
"""Rate of a link that machines for live runs sustain; the times of the programs do not depend on
it."""
ASK_LIMIT_S = 60.0
POLL_S = 0.02
SIZE_TOLERANCE = 0.01
"""Factor of a size above which a response had retransmissions and is ignored."""


@dataclass(frozen=True)
class AnswerTimes:
    """Medians in milliseconds, by size of the response in bytes."""

    loopback_ms: dict[int, float]
    """A statement on the server's own host."""
    before_ms: dict[int, float]
    """Over the link, from the request to the first frame."""
    after_ms: dict[int, float]
    """Over the link, from the last frame to the next request of a user without a pause."""


def measure(folder: Path, mtu: str) -> AnswerTimes:
    """Measures with a separate database, in at most half a minute."""
    counts = {f"loopback-{size}": (size, count) for size, count in LOOPBACK_COUNTS.items()}
    counts |= {f"link-{size}": (size, count) for size, count in LINK_COUNTS.items()}
    plan = _plan(mtu, {name: _oltp(size, count) for name, (size, count) in counts.items()})
    planned = [(own.kind, own.flat) for own in planned_workloads(plan)]
    workloads = [(kind, _over_loopback(raw)) for kind, raw in planned]
    servers = Servers(planned, folder)
    servers.make_templates()
    with Lab(canonical_json(plan), folder / "answers", "--log-ingress") as lab:
        servers.start(lab, {})
        asked = {
            raw["name"]: _ask(lab, registry.make_load(kind, servers.task(raw, 1, 0)))
            for kind, raw in workloads
        }
        lab.call("down")
    loopback_ms = {size: asked[f"loopback-{size}"] for size in LOOPBACK_COUNTS}
    seen = ingress.answers(folder / "answers" / ingress.FILE, ports.POSTGRESQL)
    return AnswerTimes(loopback_ms, *parts_of(seen, list(LINK_COUNTS)))


def parts_of(
    seen: Sequence[Answer], sizes: Sequence[int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Medians of the times before and after responses, by size; raises `FabricError` for a size
    without responses."""
    before_ms, after_ms = {}, {}
    for size in sizes:
        own = [
            answer for answer in seen if size <= answer.size_bytes <= size * (1 + SIZE_TOLERANCE)
        ]
        after = [answer.after_ms for answer in own if answer.after_ms is not None]
        if not after:
            raise FabricError(
                f"no response of {size} bytes was seen on the link (hint: run it again when "
                "the machine is idle)"
            )
        before_ms[size] = median(answer.before_ms for answer in own)
        after_ms[size] = median(after)
    return before_ms, after_ms


def _plan(mtu: str, workloads: dict[str, Any]) -> dict[str, Any]:
    data = {
        "tailrace": 1,
        "name": "calibrate-answers",
        "network": {
            "topology": {"kind": "star", "hosts": ["client", "server"]},
            "link": {"rate": LINK_RATE},
        },
        "hosts": {"defaults": {"mtu": mtu}},
        "workloads": workloads,
        "experiment": {"duration": "60s"},
    }
    return lower(load_scenario(data).scenario, "base", 1)


def _oltp(size: int, count: int) -> dict[str, Any]:
    trip = {"response": f"{size}B"}
    ends = {"client": "client", "server": "server"}
    return {
        "kind": "oltp",
        **ends,
        "users": 1,
        "transactions": count,
        "start": "0s",
        "round_trips": [trip],
    }


def _over_loopback(raw: dict[str, Any]) -> dict[str, Any]:
    """A user on the server's own host reaches it over loopback."""
    return raw | {"client": "server"} if raw["name"].startswith("loopback") else raw


def _ask(lab: Lab, load: Load) -> float:
    """Median time of a transaction, in milliseconds, of one user that requests one size."""
    assert isinstance(load, TransactionLoad), "the kind oltp needs a load of transactions"
    load.prepare(lab)
    deadline = time.monotonic() + ASK_LIMIT_S
    load.tick(lab, 0.0)
    while not load.is_done:
        if time.monotonic() >= deadline:
            raise FabricError(f"{load.name}: its users did not finish within {ASK_LIMIT_S:g} s")
        time.sleep(POLL_S)
    load.stop(lab)
    return median(one.latency_us for one in load.transactions()) / 1000
