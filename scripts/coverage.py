"""How often intervals of few trials cover the true mean, by simulation; and the quantiles that make them cover it.

    scripts/coverage.py                coverage of the intervals as they are, by number of trials and distribution
    scripts/coverage.py --quantiles    the table in `tailrace.statistics.interval`

An interval is the estimate and so many standard errors to both sides. For normal values that number is Student's
quantile; skewed values need more, because a sample without large values has a small mean and a small standard error.
The number here is the smallest with which the interval covers the mean at the printed level for normal, uniform,
exponential and log-normal values (sigma 1, skewness 6.2) alike.
"""

import argparse
import sys

import numpy
import numpy.typing

from tailrace.statistics.interval import LEVEL, QUANTILES, quantile_for

Values = numpy.typing.NDArray[numpy.float64]
SIGMA = 1.0
DISTRIBUTIONS = ("normal", "uniform", "exponential", "log-normal")
MEANS = {"normal": 10.0, "uniform": 0.5, "exponential": 1.0, "log-normal": float(numpy.exp(SIGMA**2 / 2))}
TRIALS = (*range(3, 21), 25, 30, 40, 60, 100, 200)
REPEATS = 400_000
SEED = 20


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


def distances(name: str, trials: int, repeats: int) -> Values:
    """How many standard errors the mean of each sample is from the true one."""
    generator = numpy.random.default_rng([SEED, trials, DISTRIBUTIONS.index(name)])
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


def main() -> int:
    """The tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quantiles", action="store_true", help="print the table of quantiles")
    if arguments.parse_args().quantiles:
        for trials in TRIALS:
            print(f"    {trials - 1}: {quantile(trials):.2f},", flush=True)
        return 0
    print("| trials | " + " | ".join(DISTRIBUTIONS) + " |\n|---|" + "---|" * len(DISTRIBUTIONS))
    for trials in sorted(freedom + 1 for freedom in QUANTILES):
        shares = [f"{coverage(name, trials):.1%}" for name in DISTRIBUTIONS]
        print(f"| {trials} | " + " | ".join(shares) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
