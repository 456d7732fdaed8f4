"""The options of a search for one scenario, checked before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tailrace.errors import RunRefusedError, closest
from tailrace.scenario.figures import parse_goal
from tailrace.scenario.goal import Goal
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.document import Document
from tailrace.search.options import SearchOptions
from tailrace.search.variable import Variable, parse_variables, refuse_unsound
from tailrace.statistics.interval import VALUES_MIN

PRECISION_MIN, PRECISION_MAX = 1e-4, 0.5
GRID = "grid"
SAMPLERS = ("tpe", "random", GRID)
GRID_MAX = 2000
"""Settings of a grid, at most."""
EVALUATIONS_MAX = 10_000
GROUPED = " "
"""Between the thousands of a number."""


@dataclass(frozen=True)
class Aim:
    """What is minimised or maximised: a variable, or a figure."""

    is_minimised: bool
    variable: int | None = None
    """Number of the variable."""
    figure: Goal | None = None

    @property
    def verb(self) -> str:
        """The option."""
        return "minimise" if self.is_minimised else "maximise"


@dataclass(frozen=True)
class Asked:
    """The options, read."""

    variables: list[Variable]
    goals: list[Goal]
    aim: Aim

    @property
    def count(self) -> int:
        """Settings of the whole grid."""
        return prod(len(one.values) for one in self.variables)


def read(options: SearchOptions, scenario: Scenario, document: Document) -> Asked:
    """The options for a scenario, whose document is also given; raises `RunRefusedError` for
    the first that is invalid."""
    _refuse_numbers(options)
    if not options.vary:
        raise RunRefusedError(
            "--vary is needed (hint: for example --vary switches.leaf.buffer=1MB..64MB)"
        )
    variables = parse_variables(options.vary, options.precision)
    if options.sampler == GRID:
        refuse_large_grid(variables)
    refuse_unsound(document, variables)
    goals = [parse_goal(text, scenario) for text in options.goals]
    for goal in goals:
        if goal.bound is None:
            raise RunRefusedError(
                f"--goal '{goal}': a search needs a bound (hint: write {goal} {goal.sign} and a "
                "value; as good as possible is "
                f"--{'maximise' if goal.is_higher_better else 'minimise'} {goal})"
            )
    if not goals:
        raise RunRefusedError("--goal is needed (hint: for example --goal 'shop.p99 < 5ms')")
    return Asked(variables, goals, _aim(options, variables, scenario))


def _aim(options: SearchOptions, variables: Sequence[Variable], scenario: Scenario) -> Aim:
    names = [one.name for one in variables]
    if (options.minimise is None) == (options.maximise is None):
        hint = f"for example --minimise {names[0]}"
        raise RunRefusedError(f"one of --minimise and --maximise is needed (hint: {hint})")
    is_minimised = options.minimise is not None
    text = str(options.minimise if is_minimised else options.maximise)
    option = f"--{'minimise' if is_minimised else 'maximise'}"
    for number, variable in enumerate(variables):
        if text in (variable.name, variable.path):
            return Aim(is_minimised, variable=number)
    if "." not in text or text.split(".")[0] not in (*scenario.running, *scenario.groups):
        known = [*names, *(one.path for one in variables)]
        raise RunRefusedError(
            f"{option} {text}: no --vary varies it (hint: {closest(text, known, 'varied values')})"
        )
    figure = parse_goal(text, scenario, option)
    if figure.bound is not None or figure.is_higher_better == is_minimised:
        way = "more" if figure.is_higher_better else "less"
        raise RunRefusedError(
            f"{option} {text}: {way} of it is better, without a bound (hint: {figure})"
        )
    return Aim(is_minimised, figure=figure)


def _refuse_numbers(options: SearchOptions) -> None:
    if not PRECISION_MIN <= options.precision <= PRECISION_MAX:
        raise RunRefusedError(
            f"--precision must be between {PRECISION_MIN:.2%} and {PRECISION_MAX:.0%} (hint: "
            "1% is the default)"
        )
    if min(options.trials_max, options.confirm) < VALUES_MIN:
        raise RunRefusedError(
            f"--trials-max and --confirm must be at least {VALUES_MIN}: fewer trials have no "
            "interval (hint: the defaults are 16 and 6)"
        )
    if not 0.5 <= options.confidence < 1:
        raise RunRefusedError(
            "--confidence must be from 50% to below 100% (hint: 95% is the default)"
        )
    if options.sampler not in SAMPLERS:
        hint = closest(options.sampler, SAMPLERS, "samplers")
        raise RunRefusedError(
            f"--sampler {options.sampler}: there is no such sampler (hint: {hint})"
        )
    if not 1 <= options.evaluations <= EVALUATIONS_MAX:
        raise RunRefusedError(
            f"--evaluations must be from 1 to {EVALUATIONS_MAX} (hint: 60 is the default)"
        )


def refuse_large_grid(variables: Sequence[Variable]) -> None:
    """Raises `RunRefusedError` for a grid with too many settings, with its size."""
    count = prod(len(one.values) for one in variables)
    if count > GRID_MAX:
        sizes = " × ".join(str(len(one.values)) for one in variables)
        number = f"{count:,}".replace(",", GROUPED)
        raise RunRefusedError(
            f"--sampler grid: the grid has {number} settings ({sizes}); the limit is {GRID_MAX} "
            "(hint: list fewer values, or leave --sampler out)"
        )
