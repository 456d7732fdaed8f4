"""Designs and indices of SALib: Morris's screening, and Sobol's shares of variance. Shares of
ranges are 0 to 1."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tailrace.errors import RunRefusedError

LEVELS = 4
"""Values of a factor in the screening: thirds of its range (Morris 1991, Technometrics 33)."""
RESAMPLES = 200
LEVEL = 0.9


@dataclass(frozen=True)
class Screened:
    """Elementary effects of one factor on one figure: changes of the figure per whole range."""

    mu_star: float
    """Mean of their absolute values."""
    sigma: float
    """Their standard deviation: interactions and curvature."""
    error: float
    """Half of the 90 % interval of the mean."""


@dataclass(frozen=True)
class Shares:
    """Shares of a figure's variance that a factor has alone, and with all of its interactions."""

    first: float
    first_error: float
    total: float
    total_error: float


@dataclass(frozen=True)
class Designs:
    """Samples and indices for this number of factors."""

    names: Sequence[str]
    seed: int

    def screening(self, trajectories: int) -> list[list[float]]:
        """Points of the screening: along each trajectory every factor changes once."""
        return _rows(self._screening(trajectories))

    def _screening(self, trajectories: int) -> Any:
        with _quiet():
            from SALib.sample import morris

            return morris.sample(self._problem, trajectories, num_levels=LEVELS, seed=self.seed)

    def screened(self, trajectories: int, values: Sequence[float]) -> list[Screened]:
        """Effects of every factor; one value for each point of `screening`."""
        points = self._screening(trajectories)
        with _quiet():
            from SALib.analyze import morris

            found = morris.analyze(
                self._problem,
                points,
                _filled(points, values),
                num_resamples=RESAMPLES,
                conf_level=LEVEL,
                num_levels=LEVELS,
                seed=self.seed,
            )
        columns = zip(found["mu_star"], found["sigma"], found["mu_star_conf"], strict=True)
        return [Screened(float(mu), float(sigma), float(error)) for mu, sigma, error in columns]

    def variance(self, samples: int) -> list[list[float]]:
        """Points of Sobol's design: `samples` times the number of factors plus two."""
        return _rows(self._variance(samples))

    def _variance(self, samples: int) -> Any:
        with _quiet():
            from SALib.sample import sobol

            return sobol.sample(self._problem, samples, calc_second_order=False, seed=self.seed)

    def shares(self, samples: int, values: Sequence[float]) -> list[Shares]:
        """Shares of every factor, from a value for each point of `variance`; zero where the figure
        never varies."""
        if max(values) == min(values):
            return [Shares(0.0, 0.0, 0.0, 0.0) for _ in self.names]
        with _quiet():
            from SALib.analyze import sobol

            found = sobol.analyze(
                self._problem,
                _filled(self._variance(samples), values),
                calc_second_order=False,
                num_resamples=RESAMPLES,
                conf_level=LEVEL,
                seed=self.seed,
            )
        columns = zip(found["S1"], found["S1_conf"], found["ST"], found["ST_conf"], strict=True)
        return [Shares(*(float(number) for number in row)) for row in columns]

    def uniform(self, count: int) -> list[list[float]]:
        """Points that fill the space evenly (Latin hypercube)."""
        with _quiet():
            from SALib.sample import latin

            return _rows(latin.sample(self._problem, count, seed=self.seed))

    @property
    def _problem(self) -> dict[str, Any]:
        return {
            "num_vars": len(self.names),
            "names": list(self.names),
            "bounds": [[0.0, 1.0]] * len(self.names),
        }


def refuse_missing() -> None:
    """Raises `RunRefusedError` with the remedy where SALib is not installed."""
    try:
        with _quiet():
            import SALib  # noqa: F401  only whether it is there
    except ImportError:
        hint = "pip install 'tailrace[sensitivity]'"
        raise RunRefusedError(
            f"tailrace sensitivity needs the package SALib (hint: {hint})"
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses warnings of SALib and its libraries about future changes and few samples; the
    intervals show the latter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _rows(array: Any) -> list[list[float]]:
    return [[float(value) for value in row] for row in array]


def _filled(samples: Any, values: Sequence[float]) -> Any:
    """An array of one value per sample, of the samples' array type: SALib imports the library of
    that type."""
    column = samples[:, 0].copy()
    for row, value in enumerate(values):
        column[row] = value
    return column
