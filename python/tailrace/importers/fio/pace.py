"""How fast and how long a job requests: depth, rates, pauses, flushes, times, amounts."""

from dataclasses import dataclass
from fractions import Fraction

from tailrace.errors import closest
from tailrace.importers.fio.jobs import Job
from tailrace.importers.fio.options import (
    ALIASES_OF_LIBAIO,
    ASYNCHRONOUS,
    ENGINE_USUAL,
    ENGINES,
    EXTERNAL,
    NETWORKED,
    OTHER_ENGINES,
    SPDK,
    SYNCHRONOUS,
)
from tailrace.importers.fio.pattern import Pattern, Weights
from tailrace.importers.fio.units import size_of
from tailrace.importers.section import size
from tailrace.importers.storage.scenario import DEPTH_MAX
from tailrace.importers.storage.values import (
    RATE_MAX,
    SECOND_PS,
    SECTOR_BYTES,
    exponential_gap,
    gap,
    mean_bytes,
    span,
)
from tailrace.importers.whole import Yaml

MICROSECOND = Fraction(1, 10**6)
LOOPS_MAX = 10**6


@dataclass(frozen=True)
class Arrivals:
    """Requests per second of all jobs of an initiator."""

    rate_per_s: Fraction
    is_poisson: bool

    def with_more(self, rate_per_s: Fraction) -> "Arrivals":
        """Those of one more job."""
        return Arrivals(self.rate_per_s + rate_per_s, self.is_poisson)

    @property
    def text(self) -> str:
        """The gap between them in the notation of a scenario."""
        return exponential_gap(self.rate_per_s) if self.is_poisson else gap(self.rate_per_s)


def read_engine(job: Job) -> str | None:
    """The engine; None for one whose requests have no counterpart. An unknown engine is a
    problem."""
    text = (job.text("ioengine") or ENGINE_USUAL).strip()
    name, _, path = text.partition(":")
    name = name.lower()
    if name == EXTERNAL or "/" in name:
        words = (
            f"an engine of {(path or text)[:60]} is taken as one that keeps its depth under "
            "way, at the device"
        )
        job.say("ioengine", "assumed", words)
        # SPDK's plugins have the names of its engines.
        return next((one for one in reversed(SPDK) if text.rstrip("/").endswith(one)), EXTERNAL)
    if name.startswith(ALIASES_OF_LIBAIO):
        return "libaio"
    if name in SYNCHRONOUS or name in ASYNCHRONOUS or name in NETWORKED:
        return name
    if name in OTHER_ENGINES:
        job.say("ioengine", "not-modelled", f"{OTHER_ENGINES[name]}; the job is left out")
    else:
        job.fault("ioengine", f"fio has no engine '{name[:40]}'", closest(name, ENGINES, "engines"))
    return None


def depth_keys(job: Job, engine: str) -> Yaml:
    """Requests under way of a job: one with a synchronous engine."""
    depth = job.whole("iodepth", 1, 1)
    if engine in SYNCHRONOUS and depth > 1:
        job.say("iodepth", "no-effect", f"the engine '{engine}' has one request under way")
        depth = 1
    jobs = job.whole("numjobs", 1, 1)
    for name, value in (("iodepth", depth), ("numjobs", jobs)):
        if value > DEPTH_MAX:
            job.say(name, "not-modelled", f"at most {DEPTH_MAX}")
    return {"depth": min(depth, DEPTH_MAX), "jobs": min(jobs, DEPTH_MAX)}


def pace_keys(job: Job, pattern: Pattern, jobs: int) -> Yaml:
    """Arrivals of all jobs of an initiator, pauses and flushes."""
    found: Yaml = {}
    rate = _rate(job, pattern)
    if rate is not None and rate * jobs >= RATE_MAX:
        rate = None
    think = job.seconds("thinktime", MICROSECOND) / job.whole("thinktime_blocks", 1, 1)
    if think and rate is not None:
        # fio catches up to its rate after a pause (HOWTO, `rate_ignore_thinktime`): the slower of
        # the two decides.
        if think * rate < 1:
            job.say(
                "thinktime",
                "not-modelled",
                "the rate is kept, as fio does, but not the bursts after pauses",
            )
            think = Fraction(0)
        else:
            for name in ("rate", "rate_iops"):
                if name in job.options:
                    job.say(
                        name, "no-effect", "the pauses of thinktime keep the job below this rate"
                    )
            rate = None
    if rate is not None:
        found["arrivals"] = Arrivals(
            rate * jobs, (job.text("rate_process") or "").strip().lower() == "poisson"
        )
    if round(think * SECOND_PS):
        if "thinktime_blocks" in job.options:
            job.say(
                "thinktime_blocks", "assumed", "each request pauses for an equal part of the time"
            )
        found["think"] = span(think)
    if pattern.read_percent < 100 and (every := _flush_every(job)):
        found["flush_every"] = every
    return found


def _flush_every(job: Job) -> int:
    if job.is_on("sync"):
        return 1
    return job.whole("fsync", 0, 0, 10**9) or job.whole("fdatasync", 0, 0, 10**9)


def _rate(job: Job, pattern: Pattern) -> Fraction | None:
    """Requests per second of one job: the direction that reaches its limit first sets the pace of
    both."""
    limits: list[Fraction] = []
    for name in ("rate", "rate_iops"):
        text = job.text(name)
        if text is None:
            continue
        parts = [part.strip() for part in text.split(",")]
        sides = (
            (0, pattern.reads, pattern.read_percent),
            (1, pattern.writes, 100 - pattern.read_percent),
        )
        for side, weights, percent in sides:
            part = parts[min(side, len(parts) - 1)]
            if not percent or not part:
                continue
            limit = _limit(job, name, part, weights)
            if limit is not None:
                limits.append(limit * 100 / percent)
    return min(limits) if limits else None


def _limit(job: Job, name: str, text: str, weights: Weights) -> Fraction | None:
    value = size_of(text, job.kb_base)
    if value is None or value < 0:
        job.fault(
            name,
            f"{name}={text[:40]} is no rate",
            f"write {name}={'1m' if name == 'rate' else '1000'}",
        )
        return None
    if value == 0:
        return None
    return value / mean_bytes(weights) if name == "rate" else value


@dataclass
class Amount:
    """The duration of a job, and the part of its file."""

    keys: Yaml
    start_s: Fraction
    ramp_s: Fraction
    runtime_s: Fraction
    """0: until its bytes are done."""


def read_amount(job: Job, jobs: int) -> Amount:
    """Area, bytes of each job, and times."""
    runtime, is_time_based = job.seconds("runtime"), job.is_on("time_based")
    if is_time_based and not runtime:
        job.say(
            "time_based",
            "contradiction",
            "it needs a runtime, and is not used without one, as in fio",
        )
        is_time_based = False
    keys: Yaml = {}
    each = job.bytes("size") or job.bytes("filesize")
    is_shared = job.text("filename") is not None
    if each is not None:
        total = each if is_shared else each * jobs
        keys["size"] = max(1, total // SECTOR_BYTES) * SECTOR_BYTES
    loops = job.whole("loops", 1, 1, LOOPS_MAX)
    amount = job.bytes("io_size") or each
    requests = job.whole("number_ios", 0, 0)
    if not is_time_based:
        if requests:
            keys.update(requests=requests)
        elif amount is not None:
            keys["bytes"] = size(max(1, amount * loops // SECTOR_BYTES) * SECTOR_BYTES)
    start = job.seconds("startdelay")
    if start:
        keys["start"] = span(start)
    return Amount(keys, start, job.seconds("ramp_time"), runtime)
