"""The requests of a job: reads and writes, addresses, blocks."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tailrace.importers.fio.jobs import Job
from tailrace.importers.fio.units import size_of
from tailrace.importers.storage.values import SECTOR_BYTES, access_of, steps

BS_USUAL = 4096
BLOCK_MAX = 2**31
DIRECTIONS: dict[str, tuple[bool, bool, bool]] = {
    "read": (True, False, False),
    "write": (False, True, False),
    "randread": (True, False, True),
    "randwrite": (False, True, True),
    "rw": (True, True, False),
    "readwrite": (True, True, False),
    "randrw": (True, True, True),
}
"""Whether it reads, writes, and at random addresses."""
TRIMS = ("trim", "randtrim", "trimwrite", "randtrimwrite")
MIX_USUAL = 50
VALUE_OF_SUFFIX_MAX = 10**8
ZIPF_LEAST, ZIPF_MOST = Fraction(1, 1000), 10

Weights = list[tuple[int, Fraction]]


@dataclass
class Pattern:
    """Requests of a job."""

    read_percent: Fraction
    access: Any
    reads: Weights
    writes: Weights

    @property
    def block(self) -> Weights:
        """Sizes of all requests."""
        found: Weights = []
        for weights, percent in (
            (self.reads, self.read_percent),
            (self.writes, 100 - self.read_percent),
        ):
            total = sum(weight for _, weight in weights)
            found += [
                (size_bytes, weight / total * percent) for size_bytes, weight in weights if percent
            ]
        return found


def read_pattern(job: Job) -> Pattern | None:
    """The pattern; None for a job that trims."""
    text = (job.text("rw") or "read").strip().lower()
    word, _, suffix = text.partition(":")
    if word in TRIMS:
        job.say("rw", "not-modelled", "trims are not modelled: the job is left out")
        return None
    if word not in DIRECTIONS:
        job.fault("rw", f"'{word[:40]}' is no direction", f"write one of {', '.join(DIRECTIONS)}")
        return None
    has_reads, has_writes, is_random = DIRECTIONS[word]
    reads, writes = _blocks(job)
    if reads != writes and has_reads and has_writes:
        name = next(one for one in ("bssplit", "bsrange", "bs") if one in job.options)
        job.say(
            name,
            "not-modelled",
            "reads and writes of one workload have the same sizes: they are mixed by their shares",
        )
    return Pattern(
        _read_percent(job, has_reads, has_writes),
        _access(job, suffix, is_random=is_random),
        reads,
        writes,
    )


def _read_percent(job: Job, has_reads: bool, has_writes: bool) -> Fraction:
    if not has_writes:
        return Fraction(100)
    if not has_reads:
        return Fraction(0)
    for name in reversed([name for name in job.options if name in ("rwmixread", "rwmixwrite")]):
        percent = job.whole(name, MIX_USUAL, 0, 100)
        return Fraction(percent if name == "rwmixread" else 100 - percent)
    return Fraction(MIX_USUAL)


def _access(job: Job, suffix: str, *, is_random: bool) -> Any:
    if (text := job.text("percentage_random")) is not None and is_random:
        return access_of(Fraction(_first_percent(job, "percentage_random", text)))
    if (text := job.text("percentage_sequential")) is not None and is_random:
        return access_of(Fraction(100 - _first_percent(job, "percentage_sequential", text)))
    if not is_random:
        if suffix:
            job.say(
                "rw", "not-modelled", "holes between sequential requests: they follow each other"
            )
        return "sequential"
    if suffix.isdecimal() and 0 < int(suffix[:9]) < VALUE_OF_SUFFIX_MAX:
        return access_of(Fraction(100, int(suffix[:9])))
    return _distribution(job)


def _first_percent(job: Job, name: str, text: str) -> int:
    first = text.replace(":", ",").split(",")[0].strip()
    if first.isdecimal() and len(first) < 4 and int(first) <= 100:
        return int(first)
    job.fault(name, f"{name}={text[:40]} is not a percentage", "write a value from 0 to 100")
    return 100


def _distribution(job: Job) -> Any:
    text = (job.text("random_distribution") or "random").strip().lower()
    kind, _, rest = text.partition(":")
    if kind == "random":
        return "random"
    if kind == "zipf":
        theta = size_of(rest.partition("/")[0] or "1.1")
        if theta is None or not ZIPF_LEAST <= theta <= ZIPF_MOST or theta == 1:
            job.fault(
                "random_distribution",
                f"zipf:{rest[:40]} has no usable exponent",
                "write zipf:1.2, and not 1",
            )
            return "random"
        return {"zipf": float(theta)}
    if kind in ("pareto", "normal", "zoned", "zoned_abs", "sequence"):
        job.say(
            "random_distribution",
            "not-modelled",
            f"'{kind}' has no counterpart: addresses are uniform",
        )
    else:
        job.fault(
            "random_distribution", f"'{kind[:40]}' is no distribution", "write random or zipf:1.2"
        )
    return "random"


def _blocks(job: Job) -> tuple[Weights, Weights]:
    """Sizes of reads and of writes: `bssplit` before `bsrange` before `bs`."""
    for name, reader in (("bssplit", _split), ("bsrange", _range), ("bs", _plain)):
        text = job.text(name)
        if text is None:
            continue
        parts = [
            reader(job, name, part.strip()) if part.strip() else None
            for part in _of_directions(name, text)
        ]
        if name == "bs" and "-" in text:
            job.say(
                name,
                "assumed",
                "as fio reads it: the size of reads, then that of writes; a range is `bsrange`",
            )
        reads = parts[0] or [(BS_USUAL, Fraction(1))]
        writes = (parts[1] if len(parts) > 1 else None) or reads
        return reads, writes
    usual = [(BS_USUAL, Fraction(1))]
    return usual, usual


def _size(job: Job, name: str, text: str) -> int:
    """A size, which must be a multiple of the sector where the job says direct=1, as the kernel
    demands."""
    value = size_of(text, job.kb_base)
    if value is None or value.denominator != 1 or not 0 < value <= BLOCK_MAX:
        job.fault(name, f"'{text[:40]}' is not a size of a block", f"write {name}=4k")
        return BS_USUAL
    size_bytes = int(value)
    if size_bytes % SECTOR_BYTES == 0:
        return size_bytes
    up = -(-size_bytes // SECTOR_BYTES) * SECTOR_BYTES
    if job.is_on("direct"):
        what = (
            f"{size_bytes} bytes are not a multiple of a sector of {SECTOR_BYTES} bytes, which "
            "direct=1 needs"
        )
        job.fault(name, what, f"write {name}={up}")
    else:
        job.say(
            name,
            "not-modelled",
            f"requests are multiples of the sector: {size_bytes} bytes are taken as {up}",
        )
    return up


def _plain(job: Job, name: str, text: str) -> Weights:
    return [(_size(job, name, text), Fraction(1))]


def _of_directions(name: str, text: str) -> list[str]:
    """The values of reads and of writes. `bs=4k-512k` is no range: reads have 4k and writes 512k.

    Of `bs`, fio 3.33 cuts at the first comma, else the first `-`, else the first `:`, and what is
    left in the same way (parse.c, `FIO_OPT_INT`); what follows another separator is not read.
    """
    if name != "bs" or "(" in text:
        return text.split(",")[:2]
    mark = next((one for one in ",-:" if one in text), None)
    if mark is None:
        return [text]
    first, _, rest = text.partition(mark)
    second = rest.partition(next((one for one in ",-:" if one in rest), ","))[0]
    return [re.split("[,:-]", first)[0], second]


def _range(job: Job, name: str, text: str) -> Weights:
    """Multiples of the least size (fio rounds draws to them)."""
    low_text, _, high_text = text.replace(":", "-").partition("-")
    low, high = sorted((_size(job, name, low_text), _size(job, name, high_text or low_text)))
    return steps(low, high, low)


def _split(job: Job, name: str, text: str) -> Weights:
    """`4k/60:64k/40`: sizes with percentages; those without one share the rest."""
    pairs = [part.partition("/") for part in text.split(":") if part.strip()]
    sizes = [_size(job, name, size_text) for size_text, _, _ in pairs]
    stated = [
        int(share) if share.strip().isdecimal() and len(share) < 4 else None
        for _, _, share in pairs
    ]
    total = sum(one or 0 for one in stated)
    silent = stated.count(None)
    if not sizes or total > 100 or (silent == 0 and total != 100):
        job.fault(
            name,
            f"the percentages of {text[:40]} do not add up to 100",
            "write bssplit=4k/60:64k/40",
        )
        return [(BS_USUAL, Fraction(1))]
    rest = Fraction(100 - total, silent) if silent else Fraction(0)
    return [
        (size_bytes, rest if share is None else Fraction(share))
        for size_bytes, share in zip(sizes, stated, strict=True)
    ]
