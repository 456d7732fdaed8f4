"""A drive measured: every run several times, a deeper one after each, and the likely limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.statistics import Interval, mean, mean_log_interval
from tailrace.tools.drive.drive import Drive
from tailrace.tools.drive.io_limit import IoLimit
from tailrace.tools.drive.link import Link
from tailrace.tools.drive.load import Run, queue_of
from tailrace.tools.drive.load_run import Ran
from tailrace.tools.drive.specification import Specification
from tailrace.tools.drive.split import split
from tailrace.tools.drive.verdict import Evidence, Verdict, verdict

CarryOut = Callable[[Drive, Run, float, int], Ran]


@dataclass
class Found:
    """One run with all of its repeats."""

    run: Run
    repeats: list[Ran] = field(default_factory=list)
    deeper: tuple[Run, Ran] | None = None
    verdict: Verdict | None = None

    @property
    def values(self) -> list[float]:
        """Of each repeat, in the unit of the specification: bytes per second sequentially, requests
        at random."""
        return [ran.bytes_per_s if self.is_rate else ran.requests_per_s for ran in self.repeats]

    @property
    def is_rate(self) -> bool:
        """Whether its figure is a rate of data."""
        value = self.run.specified
        return value.rate is not None if value else self.run.access == "sequential"

    @property
    def mean(self) -> float:
        """Mean of the repeats."""
        return mean(self.values)

    @property
    def interval(self) -> Interval | None:
        """Of the mean; None with fewer than three repeats."""
        return mean_log_interval(self.values)

    @property
    def share(self) -> float | None:
        """Mean over the specification."""
        value = self.run.specified
        return self.mean / (value.rate or value.iops or 1) if value else None

    @property
    def median(self) -> Ran:
        """The repeat in the middle, whose evidence counts."""
        return sorted(self.repeats, key=lambda ran: ran.requests_per_s)[len(self.repeats) // 2]

    def data(self) -> dict[str, Any]:
        """As JSON."""
        interval, value = self.interval, self.run.specified
        return {
            "title": self.run.title,
            "operation": self.run.operation,
            "access": self.run.access,
            "block_bytes": self.run.block_bytes,
            "depth": self.run.depth,
            "asked_depth": self.run.asked_depth,
            "jobs": self.run.jobs,
            "unit": "B/s" if self.is_rate else "requests/s",
            "specified": None if value is None else value.rate or value.iops,
            "condition": value.condition if value else None,
            "mean": self.mean,
            "interval": [interval.low, interval.high] if interval else None,
            "share": self.share,
            "verdict": self.verdict.data() if self.verdict else None,
            "repeats": [ran.data() for ran in self.repeats],
            "median_repeat": self.median.data(),
            "deeper": {"depth": self.deeper[0].depth, **self.deeper[1].data()}
            if self.deeper
            else None,
        }


@dataclass
class Measurement:
    """All runs on a drive, with what was found so far."""

    drive: Drive
    specification: Specification | None
    runs: Sequence[Run]
    duration_s: float
    repeats: int
    link: Link | None
    limits: Sequence[IoLimit]
    carry_out: CarryOut
    say: Callable[[str], None]
    found: list[Found] = field(default_factory=list)
    is_whole: bool = False

    def run(self) -> None:
        """One after the other. What is found stays when it is interrupted."""
        for number, run in enumerate(self.runs):
            found = Found(run)
            for repeat in range(self.repeats):
                ran = self.carry_out(
                    self.drive, run, self.duration_s, number * self.repeats + repeat
                )
                found.repeats.append(ran)
                if repeat == 0:
                    self.found.append(found)
            most = queue_of(self.drive)
            if (deeper := run.deeper(most)) is not None:
                found.deeper = (deeper, self.carry_out(self.drive, deeper, self.duration_s, number))
            found.verdict = verdict(self._evidence(found, most))
            self.say(f"{run.title}: {found.verdict.limit} ({found.verdict.why})")
        self.is_whole = True

    def _evidence(self, found: Found, most: int) -> Evidence:
        cut = split(found.run.block_bytes, self.drive.limits, is_contiguous=False)
        return Evidence(
            run=found.run,
            ran=found.median,
            best_requests_per_s=max(ran.requests_per_s for ran in found.repeats),
            deeper=found.deeper,
            link=self.link,
            limits=self.limits,
            queue_most=most,
            split_key=cut.limit,
        )
