"""Parts of the goal's figure at present; they decide the order of the candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.advice.candidate import WINDOW, Candidate
from tailrace.experiment.explain import causes_of
from tailrace.experiment.native import Ran
from tailrace.results.causes.bands import bands
from tailrace.results.causes.sentence import part_words
from tailrace.results.summary.causes import Band

TABLE = "causes"
BAND_OF = {"latency_p50_ms": "p50", "latency_p99_ms": "p99", "latency_p99_9_ms": "p99.9"}
"""The band of transactions that decides a metric; other metrics are decided by all bands."""
NAMED_SHARE_MIN = 0.05
NAMED_MAX = 4


@dataclass(frozen=True)
class Makeup:
    """Shares of the mean latency by part, in the band that decides the goal."""

    band: str
    latency_ps: float
    shares: Mapping[str, float]
    """Of parts, and of `windowed`, whose round trips consist of parts."""

    def share_of(self, candidate: Candidate) -> float:
        """The largest share that a candidate acts on."""
        if not candidate.acts_on:
            return 1.0
        parts = sum(self.shares.get(part, 0.0) for part in candidate.acts_on if part != WINDOW)
        return max(parts, self.shares.get(WINDOW, 0.0) if WINDOW in candidate.acts_on else 0.0)

    @property
    def words(self) -> str:
        """The largest parts, in descending order."""
        parts = sorted(
            (part for part in self.shares.items() if part[0] != WINDOW), key=lambda part: -part[1]
        )
        named = [part for part in parts if part[1] >= NAMED_SHARE_MIN][:NAMED_MAX] or parts[:1]
        return ", ".join(f"{100 * share:.0f} % {part_words(part)}" for part, share in named)


def makeup(
    ran: Ran, plan: Mapping[str, object], targets: Sequence[str], metric: str
) -> Makeup | None:
    """The makeup of the transactions of a trial; None where they were not explained."""
    if TABLE not in ran.tables:
        return None
    found = causes_of(ran, plan, is_counted=True).by_workload
    counted = [one for name in targets for one in found.get(name, [])]
    if not counted or any(name not in found for name in targets):
        return None
    wanted = BAND_OF.get(metric)
    all_bands = bands(counted)
    if wanted is None:
        return _of(all_bands, "all")
    indices = [index for index, band in enumerate(all_bands) if band.name == wanted]
    # With few transactions the band may be absent; the last one is used then.
    return _of([all_bands[indices[0] if indices else -1]], wanted)


def _of(chosen: Sequence[Band], name: str) -> Makeup:
    count = sum(band.count for band in chosen)
    latency_ps = sum(band.latency_ps * band.count for band in chosen) / count
    shares: dict[str, float] = {}
    for band in chosen:
        for part, time_ps in [*band.parts.items(), (WINDOW, band.windowed_ps)]:
            shares[part] = shares.get(part, 0.0) + time_ps * band.count / count / max(
                1.0, latency_ps
            )
    return Makeup(name, latency_ps, shares)
