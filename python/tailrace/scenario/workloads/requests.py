"""Requests and responses: of closed-loop users, or that arrive by themselves."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Literal, Self

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.programs import LOAD_PRESETS
from tailrace.scenario.workloads import division, loops, request_checks
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    named_problems,
    scaled_count,
)
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.ports import Serving
from tailrace.scenario.workloads.request_keys import RequestKeys
from tailrace.scenario.workloads.request_parts import (
    AT_ONCE,
    Call,
    service,
)
from tailrace.scenario.workloads.request_presets import PRESETS, Preset

HTTP = "http"
"""Preset of requests that name no other service."""
TIMEOUT_PS = PS_PER_S
"""Time after which a query is sent again, where neither the workload nor its preset states one [A];
0.1 s to 5 s."""


class Requests(RequestKeys):
    """Requests and responses: of closed-loop users (`users`), or that arrive by themselves
    (`arrivals`)."""

    kind: Literal["requests"]

    # --- facts ------------------------------------------------------------------------------------

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="requests",
            group_noun="services",
            protocol="tcp",
            is_open_loop=True,
            is_ever_done=True,
            done_key="transactions",
            latency="request latency",
            metrics=frozenset(
                {
                    "completion_s",
                    "rate_per_s",
                    "failed_percent",
                    "lost_queries",
                    "timed_out",
                    "connections_opened",
                },
            ),
            main_metrics=("latency_p99_ms", "rate_per_s", "goodput_gbps"),
            sweep_metrics=("rate_per_s", "latency_p50_ms", "latency_p99_ms", "failed_percent"),
            load_metric=("rate_per_s", "requests per second"),
            growth=("users", "rate_per_s"),
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=False,
            live_load="request-response",
            live_refusal=None,
        )

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        return Ends(body["clients"], body["servers"], are_openers_receivers=True)

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return int(body.get("requests", 0) * (body.get("users", 0) or 1))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return 2 if body.get("is_kept") is False else 1

    @classmethod
    def are_datagrams_in(cls, body: Mapping[str, Any]) -> bool:
        return bool(body.get("is_udp"))

    @classmethod
    def servings_in(cls, body: Mapping[str, Any], port: int) -> Iterator[Serving]:
        yield Serving(
            body["servers"], "udp" if cls.are_datagrams_in(body) else "tcp", port, body["clients"]
        )
        # Tier by tier, as the plan numbers them (`crates/plan/src/workloads/requests.rs`); calls go
        # over TCP.
        waiting = deque((body["servers"], stage) for stage in body["stages"])
        while waiting:
            callers, stage = waiting.popleft()
            port += 1
            yield Serving(stage["servers"], "tcp", port, callers)
            waiting.extend((stage["servers"], below) for below in stage.get("stages", ()))

    @classmethod
    def is_answered_in(cls, body: Mapping[str, Any]) -> bool:
        return True

    # --- hosts ------------------------------------------------------------------------------------

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        for key in ("client", "server"):
            yield from _named((), self, key)
        for index, call in enumerate(self.calls):
            yield from _called(("calls", index), call)
        if self.replicas:
            yield from (
                (("replicas", "servers", index), name)
                for index, name in enumerate(self.replicas.servers)
            )

    def path_problems(self, graph: Graph) -> Found:
        own: KeyPath = ()
        pairs = [
            (own, client, server) for client in self.client_hosts for server in self.server_hosts
        ]
        for index, call in enumerate(self.calls):
            pairs += _asked(("calls", index), call, self.server_hosts)
        copies = enumerate(self.replicas.servers if self.replicas else [])
        pairs += [
            (("replicas", "servers", at), server, name)
            for at, name in copies
            for server in self.server_hosts
        ]
        for at, first, second in pairs:
            found = list(named_problems(first, second, graph))
            if found:
                yield from ((at, what, hint) for _, what, hint in found)
                return

    def senders(self, graph: Graph) -> list[str]:
        return list(dict.fromkeys([*self.client_hosts, *self.server_hosts, *self.called_hosts]))

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return set(self.client_hosts)

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    # --- checks -----------------------------------------------------------------------------------

    def problems(self, around: Surroundings) -> Found:
        yield from request_checks.problems(self, around)

    def cautions(self, around: Surroundings) -> Found:
        yield from request_checks.cautions(self)

    def least_time(self, graph: Graph) -> LeastTime | None:
        gap_ps = self.gap.mean if self.gap else 0.0
        cycle_ps = (gap_ps + self.server_time.mean + self.server_work.mean) / self.depth
        return loops.least_time(self, self.requests, cycle_ps, "requests")

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    @property
    def _common(self) -> Preset:
        """The common service that it is: that of its preset, or of its program."""
        return PRESETS[self.preset or LOAD_PRESETS.get(self.load_generator or "", HTTP)]

    def usual_port(self) -> int:
        return self._common.port

    def service_name(self) -> str:
        return self._common.service

    def held_ports(self) -> list[tuple[str, str, int]]:
        """Those of users, who keep theirs; arrivals share as many as they need."""
        clients = self.client_hosts
        each = len(self.server_hosts) if self.balance == "random" else 1
        if self.users is None:
            held = (self.connections or 0) * len(self.server_hosts)
            return [(host, "connections", held) for host in clients if held]
        return [(host, "users", held) for host, held in loops.shares(self, each)]

    # --- plan -------------------------------------------------------------------------------------

    def start_ps(self) -> int:
        return self.start

    def is_first_at_start(self) -> bool:
        return self.first_at_start

    def live_choices(self) -> Raw:
        chosen = {"preset": self.preset, "load_generator": self.load_generator}
        return {key: name for key, name in chosen.items() if name is not None}

    def lowered(self, graph: Graph) -> Raw:
        request, response = self.sizes
        assert request is not None, "checks reject requests without sizes"
        assert response is not None, "checks reject responses without sizes"
        stages = [call.lowered() for call in self.calls]
        if self.replicas:
            stages.append(self.replicas.lowered())
        return {
            "clients": self.client_hosts,
            "servers": self.server_hosts,
            "is_random": self.balance == "random",
            "is_udp": self.is_udp,
            "is_kept": self.connection == "kept",
            "users": self.users or 0,
            "gap": (self.gap or AT_ONCE).raw,
            "arrivals": None if self.arrivals is None else self.arrivals.raw,
            "spikes": [spike.lowered() for spike in self.spikes],
            "connections": self.connections or (1 if self.is_udp else 0),
            "pipeline": 1 if self.is_udp else self.depth,
            "requests": self.requests or 0,
            "request": request.raw,
            "response": response.raw,
            "service": service(self.server_time.raw, self.server_work.raw, self.concurrency),
            "timeout_ps": self.effective("timeout", TIMEOUT_PS)
            if self.is_udp
            else self.timeout or 0,
            "retries": self.effective("retries", 0) if self.is_udp else self.retries or 0,
            "stages": stages,
        }

    # --- experiments ------------------------------------------------------------------------------

    def work(self) -> int:
        return self.requests or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={
                "requests": scaled_count(self.requests, factor),
                "start": round(self.start * factor),
                "spikes": [spike.scaled(factor) for spike in self.spikes],
            },
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        return self.model_copy(update=loops.divided(self, self.requests, "requests", name, scale))

    def closed_loop(self) -> ClosedLoop | None:
        return None


def _called(at: KeyPath, call: Call) -> Iterator[tuple[KeyPath, str]]:
    """The hosts of a call, and of the calls that its servers make."""
    yield from _named(at, call, "server")
    for index, inner in enumerate(call.calls):
        yield from _called((*at, "calls", index), inner)


def _asked(at: KeyPath, call: Call, callers: Sequence[str]) -> Iterator[tuple[KeyPath, str, str]]:
    """Who asks whom, in a call and in the calls that its servers make."""
    yield from (
        (key, caller, name) for key, name in _named(at, call, "server") for caller in callers
    )
    for index, inner in enumerate(call.calls):
        yield from _asked((*at, "calls", index), inner, call.hosts)


def _named(at: KeyPath, part: Any, key: str) -> Iterator[tuple[KeyPath, str]]:
    """The hosts that a part names under a key or its plural."""
    one: str | None = getattr(part, key)
    several: Sequence[str] | None = getattr(part, f"{key}s")
    if one is not None:
        yield (*at, key), one
    yield from (((*at, f"{key}s", index), name) for index, name in enumerate(several or ()))
