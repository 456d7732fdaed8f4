"""How often intervals of few trials cover the true mean, by simulation; and the quantiles that make them cover it.

    scripts/coverage.py                coverage of the intervals as they are, by number of trials and distribution
    scripts/coverage.py --quantiles    the table in `tailrace.statistics.interval`
    scripts/coverage.py --minutes 3    the coverage again with other samples, added to those of the calls before; exit
                                       code 1 when an interval covers the mean certainly less often than its level

An interval is the estimate and so many standard errors to both sides. For normal values that number is Student's
quantile; skewed values need more, because a sample without large values has a small mean and a small standard error.
The number here is the smallest with which the interval covers the mean at the printed level for normal, uniform,
exponential and log-normal values (sigma 1, skewness 6.2) alike.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import numpy.typing

from tailrace.files import make_folder, read_json, write_json
from tailrace.statistics.interval import LEVEL, QUANTILES, quantile_for

Values = numpy.typing.NDArray[numpy.float64]
SIGMA = 1.0
DISTRIBUTIONS = ("normal", "uniform", "exponential", "log-normal")
MEANS = {"normal": 10.0, "uniform": 0.5, "exponential": 1.0, "log-normal": float(numpy.exp(SIGMA**2 / 2))}
TRIALS = (*range(3, 21), 25, 30, 40, 60, 100, 200)
REPEATS = 400_000
SEED = 20
STATE = Path(__file__).resolve().parent.parent / "target" / "nightly"
REPEATS_OF_PART = 20_000
"""Samples between two looks at the clock."""
LACKING_MAX = 0.002
"""The quantiles are estimates from `REPEATS` samples, printed with two decimals: so much of the coverage may lack."""
DEVIATIONS = 4
"""Standard deviations of a share that is certainly below another."""


def drawn(generator: numpy.random.Generator, name: str, repeats: int, trials: int) -> Values:
    """So many samples of so many trials."""
    shape = (repeats, trials)
    match name:
        case "normal":
            return generator.normal(10.0, 1.0, shape)
        case "uniform":
            return generator.uniform(size=shape)
        case "exponential":
            return generator.exponential(size=shape)
        case _:
            return generator.lognormal(0.0, SIGMA, shape)


def distances(name: str, trials: int, repeats: int, part: int = 0) -> Values:
    """How many standard errors the mean of each sample is from the true one; other samples in each part."""
    generator = numpy.random.default_rng([SEED, trials, DISTRIBUTIONS.index(name), *([part] if part else [])])
    values = drawn(generator, name, repeats, trials)
    errors = values.std(axis=1, ddof=1) / numpy.sqrt(trials)
    found: Values = abs(values.mean(axis=1) - MEANS[name]) / errors
    return found


def coverage(name: str, trials: int, repeats: int = REPEATS) -> float:
    """Share of samples whose interval covers the true mean."""
    return float(numpy.mean(distances(name, trials, repeats) <= quantile_for(trials - 1)))


def quantile(trials: int, repeats: int = REPEATS) -> float:
    """Standard errors that every distribution needs at most."""
    return max(float(numpy.quantile(distances(name, trials, repeats), LEVEL)) for name in DISTRIBUTIONS)


def accumulate(minutes: float, folder: Path) -> int:
    """Adds samples to those in the folder; prints the table of all, and what is below the level."""
    make_folder(folder)
    file = folder / "coverage.json"
    stated = {str(freedom + 1): QUANTILES[freedom] for freedom in sorted(QUANTILES)}
    held = read_json(file) if file.exists() else {}
    if held.get("quantiles") != stated:  # of another table: its samples say nothing of this one
        held = {"quantiles": stated, "parts": 0, "covered": {}}
    covered: dict[str, list[int]] = held["covered"]
    end_s = time.monotonic() + 60 * minutes
    samples = 0
    while not samples or time.monotonic() < end_s:
        held["parts"] += 1
        for trials in map(int, stated):
            for name in DISTRIBUTIONS:
                found = distances(name, trials, REPEATS_OF_PART, held["parts"]) <= quantile_for(trials - 1)
                counts = covered.setdefault(f"{trials} {name}", [0, 0])
                counts[0] += int(numpy.count_nonzero(found))
                counts[1] += REPEATS_OF_PART
                samples += REPEATS_OF_PART
        write_json(file, held)
    print_table(lambda name, trials: covered[f"{trials} {name}"][0] / covered[f"{trials} {name}"][1])
    faults = [fault for key, counts in covered.items() if (fault := lacking(key, *counts))]
    print("".join(f"{fault}\n    scripts/coverage.py --minutes 5\n" for fault in faults), end="")
    print(f"coverage: {samples} samples, {held['parts'] * REPEATS_OF_PART} of each kind in all, {len(faults)} findings")
    return 1 if faults else 0


def lacking(key: str, covered: int, samples: int) -> str:
    """What is wrong with a coverage; empty for nothing."""
    least = LEVEL - LACKING_MAX
    margin = DEVIATIONS * math.sqrt(least * (1 - least) / samples)
    if covered / samples >= least - margin:
        return ""
    return f"intervals of {key} values cover the mean in {covered / samples:.2%} of {samples} samples"


def print_table(share: Callable[[str, int], float]) -> None:
    """A row for each number of trials."""
    print("| trials | " + " | ".join(DISTRIBUTIONS) + " |\n|---|" + "---|" * len(DISTRIBUTIONS))
    for trials in sorted(freedom + 1 for freedom in QUANTILES):
        print(f"| {trials} | " + " | ".join(f"{share(name, trials):.1%}" for name in DISTRIBUTIONS) + " |", flush=True)


def main() -> int:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quantiles", action="store_true", help="print the table of quantiles")
    parser.add_argument("--minutes", type=float, help="add samples to those in --state for this long")
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER")
    options = parser.parse_args()
    if options.minutes is not None:
        return accumulate(options.minutes, options.state)
    if options.quantiles:
        for trials in TRIALS:
            print(f"    {trials - 1}: {quantile(trials):.2f},", flush=True)
        return 0
    print_table(coverage)
    return 0


if __name__ == "__main__":
    sys.exit(main())
