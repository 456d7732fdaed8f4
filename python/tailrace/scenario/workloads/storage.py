"""Requests of storage: jobs of initiators that read and write block devices."""

import math
from collections.abc import Iterator, Mapping, Set
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.distribution import Distribution, parse_distribution
from tailrace.scenario.text.quantities import (
    Count,
    Percent,
    RequestRate,
    Size,
    SizeDistribution,
    Time,
    TimeDistribution,
)
from tailrace.scenario.text.tails import mean_of
from tailrace.scenario.text.units import SIZE
from tailrace.scenario.vocabulary import STORAGE_METRICS
from tailrace.scenario.workloads import division, storage_checks
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    WorkloadKind,
    named_problems,
    scaled_count,
)
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.ports import ISCSI, NBD, NVME_TCP
from tailrace.scenario.workloads.request_parts import AT_ONCE, MILLI
from tailrace.scenario.workloads.storage_access import PPB_PER_PERCENT, Access, AccessPattern
from tailrace.scenario.workloads.storage_protocols import (
    PROTOCOL_KEYS,
    PROTOCOLS,
    Iscsi,
    Nbd,
    NvmeTcp,
    protocol_key,
    protocol_problems,
)

BLOCK = parse_distribution("4KiB", SIZE)
"""Block of the IOPS of data sheets."""
SIZE_BYTES = 2**30
PORTS = {"local": ISCSI, "iscsi": ISCSI, "nvme-tcp": NVME_TCP, "nbd": NBD}
"""Ports of the protocols; local requests cross no network."""
RANDOM = Access({"random": 100 * PPB_PER_PERCENT})
JOBS_MAX = 1024


class Storage(WorkloadKind):
    """Jobs of initiators that keep requests to a block device under way, as tests of storage do."""

    kind: Literal["storage"]
    initiators: Annotated[list[str], Field(min_length=1, max_length=1024)]
    """Hosts with jobs."""
    target: str | None = None
    """Host with the device. Omitted with `protocol: local`, where each initiator has a device of
    its own."""
    device: str
    """A device of `devices`, or a preset: `sata-ssd`, `nvme`, `disk-7200` or `memory`. Workloads
    that name the same device of the same host share it.
    """
    protocol: Literal["local", "iscsi", "nvme-tcp", "nbd"] = "local"
    """How requests reach the device: `local` without a network, or a protocol over TCP."""
    iscsi: Iscsi | None = None
    """Values of `protocol: iscsi`."""
    nvme_tcp: NvmeTcp | None = None
    """Values of `protocol: nvme-tcp`."""
    nbd: Nbd | None = None
    """Values of `protocol: nbd`."""
    read: Percent = 100.0
    """Requests that read, in percent; the others write."""
    access: AccessPattern = RANDOM
    """Where requests begin: `sequential`, `random`, a share of random ones in percent (`{random:
    60}`), or by Zipf's law (`{zipf: 1.1}`). Default: random.
    """
    block: SizeDistribution = BLOCK
    """Bytes of a request: multiples of the device's sector; draws are rounded to it. Default:
    4KiB."""
    size: Size = SIZE_BYTES
    """Area of the device that the jobs of an initiator share out: each has its own part. Default:
    1GiB."""
    offset: Size = 0
    """Where that area begins on the device. Default: 0B, as the areas of other workloads."""
    jobs: Annotated[Count, Field(ge=1, le=JOBS_MAX)] = 1
    """Threads of each initiator."""
    depth: Annotated[Count, Field(ge=1, le=JOBS_MAX)] = 1
    """Requests that a job has under way at most."""
    rate: RequestRate | None = None
    """Requests of each initiator per second, evenly spaced: they begin whether or not others have
    ended (open loop), and latency counts from then. Default: each request follows one that has
    ended.
    """
    arrivals: TimeDistribution | None = None
    """Gap between requests of each initiator, an open loop as `rate`."""
    think: TimeDistribution | None = None
    """Pause between the end of a request and the next in its place. Default: none."""
    flush_every: Count = 0
    """Writes of a job after which it flushes; it begins nothing until the flush is complete.
    Default: 0, never."""
    request_cost: Time = 0
    """Time of a processor that each request takes in the thread of its job. Default: 0s."""
    write_cost: Time | None = None
    """The same for requests that write or flush. Default: `request_cost`."""
    requests: Annotated[Count, Field(ge=1)] | None = None
    """Number of requests of each job. Default: until the end of the trial."""
    bytes: Size | None = None
    """Data of each job after which it ends. Alternative to `requests`."""
    start: Time = 0
    """Time of the first request."""

    # --- facts ------------------------------------------------------------------------------------

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="requests",
            group_noun="jobs",
            protocol="tcp",
            is_open_loop=False,
            is_ever_done=True,
            done_key="transactions",
            latency="request latency",
            metrics=frozenset({"completion_s", "rate_per_s", "failed_percent", *STORAGE_METRICS}),
            main_metrics=("rate_per_s", "latency_p99_ms", "goodput_gbps"),
            sweep_metrics=("rate_per_s", "goodput_gbps", "latency_p50_ms", "latency_p99_ms"),
            load_metric=("rate_per_s", "requests per second"),
            growth=("depth", "rate_per_s"),
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=False,
            live_load="block-storage",
            live_refusal=None,
        )

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        target = body.get("target")
        return Ends(body["initiators"], [target] if target else [], are_openers_receivers=True)

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        of_a_job = body.get("requests", 0) or _requests_of(
            body.get("bytes", 0), mean_of(body["block"])
        )
        return int(of_a_job * body["jobs"] * len(body["initiators"]))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return None

    # --- hosts ------------------------------------------------------------------------------------

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        yield from ((("initiators", index), name) for index, name in enumerate(self.initiators))
        if self.target is not None:
            yield ("target",), self.target

    def path_problems(self, graph: Graph) -> Found:
        if self.target is None:
            return
        for index, name in enumerate(self.initiators):
            for _, what, hint in named_problems(name, self.target, graph):
                yield ("initiators", index), what, hint

    def senders(self, graph: Graph) -> list[str]:
        return [] if self.target is None else [*dict.fromkeys(self.initiators), self.target]

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        if self.target is None:
            return set()
        return set(self.initiators) if self.read >= 50 else {self.target}

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    def used_devices(self) -> list[tuple[str, str]]:
        return [
            (host, self.device)
            for host in ([self.target] if self.target else dict.fromkeys(self.initiators))
        ]

    # --- checks -----------------------------------------------------------------------------------

    def problems(self, around: Surroundings) -> Found:
        yield from storage_checks.problems(self, around)
        yield from protocol_problems(
            self.protocol, {key: getattr(self, key) for key in PROTOCOL_KEYS}
        )

    def cautions(self, around: Surroundings) -> Found:
        yield from storage_checks.cautions(self, around)

    @property
    def session(self) -> Iscsi | NvmeTcp | Nbd | None:
        """The values of its protocol; none where the device is in the initiator."""
        stated: Iscsi | NvmeTcp | Nbd | None = getattr(self, protocol_key(self.protocol), None)
        made = PROTOCOLS.get(self.protocol)
        return stated or (made() if made else None)

    @property
    def gaps(self) -> Distribution | None:
        """Gap between requests of an initiator that begin by themselves."""
        if self.rate:
            return parse_gap(self.rate)
        return self.arrivals

    def least_time(self, graph: Graph) -> LeastTime | None:
        requests = self.work()
        if not requests:
            return None
        key = "requests" if self.requests else "bytes"
        gaps = self.gaps
        if gaps is not None:
            needed_s = (self.start + requests * self.jobs * gaps.mean) / PS_PER_S
            return LeastTime(needed_s, "at the pace of its arrivals", key)
        rounds = requests / self.depth - 1
        pause = self.think.mean if self.think else 0.0
        return LeastTime(
            (self.start + max(0.0, rounds) * pause) / PS_PER_S, "at its jobs' own pace", key
        )

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    def usual_port(self) -> int:
        return PORTS[self.protocol]

    def service_name(self) -> str:
        return self.protocol

    def held_ports(self) -> list[tuple[str, str, int]]:
        return []

    # --- plan -------------------------------------------------------------------------------------

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        return {}

    def lowered(self, graph: Graph) -> Raw:
        gaps = self.gaps
        return {
            "initiators": self.initiators,
            **({"target": self.target} if self.target is not None else {}),
            "device": self.device,
            "protocol": "local" if self.session is None else self.session.lowered(),
            "jobs": self.jobs,
            "depth": self.depth,
            "read_ppb": round(self.read * PPB_PER_PERCENT),
            "access": self.access.raw,
            "block": self.block.raw,
            **({"offset_bytes": self.offset} if self.offset else {}),
            "size_bytes": self.size,
            **({"arrivals": gaps.raw} if gaps is not None else {}),
            "think": (self.think or AT_ONCE).raw,
            "flush_every": self.flush_every,
            "read_cost_ps": self.request_cost,
            "write_cost_ps": self.request_cost if self.write_cost is None else self.write_cost,
            "requests": self.requests or 0,
            "bytes": self.bytes or 0,
        }

    # --- experiments ------------------------------------------------------------------------------

    def work(self) -> int:
        return self.requests or _requests_of(self.bytes or 0, self.block.mean)

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={
                "requests": scaled_count(self.requests, factor),
                "bytes": scaled_count(self.bytes, factor),
                "start": round(self.start * factor),
            },
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        slower = {
            "rate": None if self.rate is None else max(1, round(self.rate / scale.divisor)),
            "arrivals": None if self.arrivals is None else self.arrivals.scaled(scale.divisor),
            "requests": division.divided_count(self.requests, scale.divisor),
        }
        return self.model_copy(update=slower)

    def closed_loop(self) -> ClosedLoop | None:
        return None


def _requests_of(size_bytes: int, block_bytes: float) -> int:
    """Requests of a job that ends after so many bytes: blocks of the mean length, the last one
    begun."""
    return math.ceil(size_bytes / max(1.0, block_bytes))


def parse_gap(rate_milli: int) -> Distribution:
    """The constant gap of so many thousandths of a request per second, in whole picoseconds."""
    return parse_distribution(
        f"{max(1, round(PS_PER_S * MILLI / rate_milli))}ps", storage_checks.TIME
    )
