"""The likely limit of a run, from evidence: what was reached, what was excluded, each with its
figures.

The order is that of certainty: what is known by rule (specification, limit of a control group), by
a bound (link), by the clock of the processor, by experiment (more requests under way), and by what
was issued (split).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from tailrace.results.format.numbers import THIN_SPACE
from tailrace.tools.drive.io_limit import IoLimit
from tailrace.tools.drive.link import Link
from tailrace.tools.drive.load import Run
from tailrace.tools.drive.load_run import Ran

REACHED_SHARE = 0.97
"""Of a specification: n0derunner's 534 of 540 MB/s is 0.99, and sheets print two or three
digits."""
LIMIT_SHARE = 0.9
"""Of a control group's limit: the kernel lets it through in slices of 20 to 100 ms."""
LINK_SHARE = 0.85
"""Of a link's data without its code; headers of frames and commands take the rest (SATA: 550 of 600
MB/s)."""
BUSY_SHARE = 0.9
"""Of a core: what a job could not have run more."""
MACHINE_SHARE = 0.97
DEEPER_GAIN = 1.15
"""With more requests under way; below it the spread of runs hides a gain."""
SPLIT_SHARE = 0.9
"""Size of issued requests, against that of the program."""
MB = 1e6
US_PER_S = 1e6


class Limit(StrEnum):
    """What bounds a run."""

    SPECIFICATION = "specification reached"
    GROUP = "control group's I/O limit"
    LINK = "link"
    PROCESSOR = "processor"
    QUEUE = "queue depth"
    SPLIT = "split"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Evidence:
    """All that a verdict rests on."""

    run: Run
    ran: Ran
    """The median one of the repeats."""
    best_requests_per_s: float
    """Of all repeats."""
    deeper: tuple[Run, Ran] | None
    """With more requests under way; None where the drive takes no more, or it was not tried."""
    link: Link | None
    limits: Sequence[IoLimit]
    queue_most: int
    split_key: str | None
    """The limit of the block layer that cuts a request of this size."""

    @property
    def share(self) -> float | None:
        """Of the specification."""
        value = self.run.specified
        if value is None:
            return None
        return (
            self.ran.bytes_per_s / value.rate
            if value.rate
            else self.ran.requests_per_s / (value.iops or 1)
        )


@dataclass(frozen=True)
class Verdict:
    """The likely limit, why, and what was excluded."""

    limit: Limit
    why: str
    excluded: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"excluded": list(self.excluded)}


Answer = tuple[bool, str]
"""Whether it is the limit, and the figures that tell so."""


def verdict(evidence: Evidence) -> Verdict:
    """The first limit that the evidence shows; `unknown` with everything that it excludes."""
    excluded: list[str] = []
    for limit, ask in QUESTIONS:
        answer = ask(evidence)
        if answer is None:
            continue
        is_it, why = answer
        if is_it:
            return Verdict(limit, why, tuple(excluded))
        excluded.append(f"{limit}: {why}")
    busy = evidence.ran.issued.busy_share
    why = (
        f"none of these; the drive was busy for {_percent(busy)} of the "
        "time: itself, or what is between"
    )
    return Verdict(Limit.UNKNOWN, why, tuple(excluded))


def _specification(evidence: Evidence) -> Answer | None:
    share, value = evidence.share, evidence.run.specified
    if share is None or value is None:
        return None
    return share >= REACHED_SHARE, f"{_percent(share)} of {value.text}"


def _group(evidence: Evidence) -> Answer | None:
    own = [limit for limit in evidence.limits if limit.direction == evidence.run.operation]
    if not own:
        return False, "none is set on this drive"
    told = []
    for limit in own:
        have = evidence.ran.bytes_per_s if limit.unit == "bytes" else evidence.ran.requests_per_s
        figure = f"{limit.per_s / MB:.1f} MB/s" if limit.unit == "bytes" else f"{limit.per_s}/s"
        text = f"{_percent(have / limit.per_s)} of {figure} ({limit.file})"
        if have >= LIMIT_SHARE * limit.per_s:
            return True, text
        told.append(text)
    return False, "; ".join(told)


def _link(evidence: Evidence) -> Answer | None:
    if evidence.link is None:
        return None
    share = evidence.ran.bytes_per_s / evidence.link.bytes_per_s
    return (
        share >= LINK_SHARE,
        f"{_percent(share)} of {evidence.link.bytes_per_s / MB:.0f} MB/s ({evidence.link.text})",
    )


def _processor(evidence: Evidence) -> Answer | None:
    busy = evidence.ran.busy
    text = (
        f"the busiest job ran for {_percent(busy.job_share)} of a core and waited for one for "
        f"{_percent(busy.job_waiting_share)}; the cores were busy for "
        f"{_percent(busy.machine_share)}"
    )
    is_job = busy.job_share + busy.job_waiting_share >= BUSY_SHARE
    return is_job or busy.machine_share >= MACHINE_SHARE, text


def _queue(evidence: Evidence) -> Answer | None:
    run, ran = evidence.run, evidence.ran
    if evidence.deeper is None:
        return (
            False,
            f"the drive takes no more than {evidence.queue_most} requests, and had {run.under_way}",
        )
    more, gave = evidence.deeper
    gain = gave.requests_per_s / evidence.best_requests_per_s
    text = (
        f"{run.under_way} under way / {ran.latency_us:.0f} us = "
        f"{run.under_way / ran.latency_us * US_PER_S:.0f}/s by Little's law; {more.under_way} "
        f"under way give {gave.requests_per_s:.0f}/s, {_percent(gain)} of the best run"
    )
    return gain >= DEEPER_GAIN, text


def _split(evidence: Evidence) -> Answer | None:
    mean, block = evidence.ran.issued.mean_bytes, evidence.run.block_bytes
    if not mean:
        return None
    cut = f", cut by {evidence.split_key}" if evidence.split_key and mean < block else ""
    text = f"requests of {block / 1024:g} KiB were issued as {mean / 1024:.1f} KiB on average{cut}"
    return mean < SPLIT_SHARE * block, text


QUESTIONS: tuple[tuple[Limit, Callable[[Evidence], Answer | None]], ...] = (
    (Limit.SPECIFICATION, _specification),
    (Limit.GROUP, _group),
    (Limit.LINK, _link),
    (Limit.PROCESSOR, _processor),
    (Limit.QUEUE, _queue),
    (Limit.SPLIT, _split),
)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}{THIN_SPACE}%"
