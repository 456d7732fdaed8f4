"""Settings for running, recording and judging a scenario."""

import hashlib
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, FiniteFloat, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from tailrace.scenario.goal import HeadlineMetric, read_goal
from tailrace.scenario.live import Live
from tailrace.scenario.text.quantities import (
    Count,
    Offset,
    Part,
    PortNames,
    Share,
    Time,
    refuse,
    refuse_unless,
)
from tailrace.scenario.text.units import QuantityError, shown
from tailrace.scenario.variation import Variation

SOLO = "solo:"
"""Prefix of arms that run one workload alone on the network of the baseline arm."""
TRIALS_DEFAULT = 6
"""Six against six can reach p < 0.01 in an exact test; three against three cannot reach 0.05."""
TRIALS_MOST = 1000
LEAST_DECIDING = 6
"""Trials before the first look of `auto` (`tailrace.statistics.looks`)."""
PRECISION_RANGE = (10**6, 5 * 10**8)
"""Parts per billion."""


def _trials(value: object) -> object:
    if value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise refuse(
            f"{shown(value)} is not a number of trials", "write a whole number such as 6, or auto"
        )
    if not 1 <= value <= TRIALS_MOST:
        raise refuse(f"{value} is out of range", f"write 1 to {TRIALS_MOST}, or auto")
    return value


Trials = Annotated[
    Annotated[Count, Field(ge=1, le=TRIALS_MOST)] | Literal["auto"], BeforeValidator(_trials)
]
"""A number of trials, or as many as it takes."""


class Calibrate(Part):
    """Choose the size of each workload such that alone, in the baseline arm, it takes a given
    time."""

    to: Time
    """Target completion time of each workload alone."""
    workloads: list[str] | None = None
    """Workloads to calibrate. Default: every OLTP workload."""
    method: Literal["transactions", "gap"] = "transactions"
    """transactions: choose the number of transactions; gap: keep that number and scale the gap."""
    share_gap: bool = False
    """With gap: use one factor for all workloads instead of one for each."""


class Experiment(Part):
    """Trials, duration and seed of a scenario, and the conditions under which a trial is
    invalid."""

    trials: Trials = TRIALS_DEFAULT
    """Trials of each arm. auto: 6, 8, 12, 16, 24 and so on, until every comparison of a main metric
    is decided; with one arm, until its main figures are precise.
    """
    trials_max: Annotated[Count, Field(ge=LEAST_DECIDING, le=TRIALS_MOST)] = 24
    """With `trials: auto`: trials of each arm at most. The last look is the last one that is not
    beyond it."""
    precision: Annotated[
        Share,
        refuse_unless(
            lambda share: PRECISION_RANGE[0] <= share <= PRECISION_RANGE[1],
            "it is out of range",
            "write 0.1% to 50%",
        ),
    ] = 5 * 10**7
    """With `trials: auto`: arms whose figures differ by less are alike, and figures of one arm with
    an interval of that width to both sides are precise.
    """
    baseline: str | None = None
    """The arm with which the others are compared. Default: the first one."""
    seed: Annotated[Count, Field(le=2**63 - 1)] = 1
    """Seed of the experiment; trial seeds derive from it, and trial n has the same seed in every
    arm."""
    duration: Time
    """End of a trial, even if a workload is unfinished."""
    ends: Literal["work", "duration"] = "work"
    """work: a trial ends when all finite workloads are done, or at `duration`; duration: at
    `duration` only, so that what is endless is measured for as long.
    """
    warm_up: Time = 0
    """Start of measurement of endless workloads, queues and switches; time series include the time
    before."""
    calibrate: Calibrate | None = None
    """Solo calibration."""
    solo: bool = False
    """Also run each workload alone in the baseline arm, as the reference for slowdown. Implied by
    calibration."""
    solo_trials: Annotated[Count, Field(ge=1, le=1000)] = 3
    """Trials of each workload alone, at most `trials`; they vary less than those of the arms."""
    clock: Offset = 50_000
    """Each node's clock is off by a uniform draw in plus or minus this; IEEE 802.3 allows
    100ppm."""
    invalid_if: list[Literal["unfinished", "host-drops"]] = ["unfinished"]
    """Conditions that make a trial invalid: a finite workload that did not finish, drops in
    hosts."""
    live: Live = Live()
    """Bounds for live trials; a trial outside them is invalid."""

    @property
    def is_auto(self) -> bool:
        """Whether the number of trials follows from their results."""
        return self.trials == "auto"

    @property
    def has_solo(self) -> bool:
        """Whether workloads are also run alone."""
        return self.solo or self.calibrate is not None


class Headline(Part):
    """The metric that summarises a workload in results."""

    workload: str
    """A workload or a group."""
    metric: HeadlineMetric | None = None
    """Default: the first that all trials have. oltp and mpi: completion, rate; storage: rate;
    stream: completion, goodput; requests, blocks, datagrams, flows and replay: the 99th percentile
    of latency; frames and groups of several kinds: goodput.
    """

    @model_validator(mode="before")
    @classmethod
    def _of_name(cls, value: object) -> object:
        """A name alone is a workload or group."""
        return {"workload": value} if isinstance(value, str) else value


class OrName:
    """In the JSON Schema, a name alone stands for the part too."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(core), {"type": "string"}]}


class Observe(Part):
    """Queues that are recorded over time, and the amount of data."""

    ports: PortNames = "auto"
    """Switch ports whose queue is recorded over time, as `switch>neighbour`; auto: those where
    queues can form."""
    series_bins: Annotated[Count, Field(le=100_000)] = 2000
    """Bins of every time series; 0 for none. The bin width doubles when a trial exceeds them."""
    series_bin: Time = 10**9
    """Initial width of a bin."""
    transactions: Count = 20_000
    """Individual transactions kept of each workload, at most; histograms contain all of them."""
    windows: Time | None = None
    """Record congestion windows, round trips and retransmissions of lasting connections so often,
    simulated and exact; default: never."""
    interfaces: Time | None = None
    """Record the counters of all interfaces so often, for `show interfaces --interval`, simulated;
    default: never."""
    digest: bool = True
    """Compute the digest of all events."""


class Assumption(Part):
    """A value that the report lists as an assumption."""

    name: str
    """Name of the value."""
    value: str
    """The value, with its unit."""
    mark: Literal["seen", "derived", "assumed", "fitted"]
    """Origin: stated in a source, derived from stated numbers, assumed, or fitted."""
    range: str = ""
    """Plausible range."""
    source: str = ""
    """Document and page, or the arithmetic."""
    vary: Variation | None = None
    """How it can be varied: the keys that hold it, and other values."""


class Expectation(Part):
    """A published or required figure, and the tolerance for the result. A text alone is its
    `goal`."""

    goal: str | None = None
    """A bound of a workload or group, as in `shop.p99 < 5ms`, instead of metric, workload and
    bounds."""
    metric: str = ""
    """The compared metric, e.g. completion_s or drops_frames: see the metrics in the scenario
    reference. Required without `goal`.
    """
    arm: str | None = None
    """Arm of the figure."""
    baseline: str | None = None
    """Reference arm, where the metric is a comparison."""
    workload: str | None = None
    """Workload of the figure."""
    port: str | None = None
    """Port of the figure, as `switch>neighbour`."""
    queue: str | None = None
    """Queue of the figure."""
    cause: str | None = None
    """Cause of the drops, such as tail-drop. Default: all causes together."""
    after: Time | None = None
    """Start of the evaluated time; only for metrics that accept it."""
    statistic: Literal["mean", "median"] = "mean"
    """Statistic over the trials."""
    value: FiniteFloat | None = None
    """The figure."""
    at_least: FiniteFloat | None = None
    """The result must not be below this (instead of value and tolerance). Latencies, rates,
    goodput, completion, loss, failures and timeouts of a workload are then those of all trials
    together, and the whole 90 % interval must keep the bound: an undecided expectation does not
    pass. Of one or two trials, and of other metrics, the value is judged.
    """
    at_most: FiniteFloat | None = None
    """The result must not be above this (instead of value and tolerance); judged as `at_least`
    is."""
    tolerance: str | None = None
    """Allowed relative distance, e.g. 10%."""
    tolerance_points: float | None = None
    """Allowed absolute distance, in the unit of the metric."""
    kind: Literal["independent", "derived", "bound", "fitted", "input"] | None = None
    """Value of the figure as evidence.

    input: an input of the model; fitted: values of the model were chosen to reproduce it; derived:
    it follows from other figures by arithmetic; bound: capacity or another limit determines it,
    whatever the mechanism does; independent (the default): none of these, so the model can miss it.
    """
    source: str = ""
    """Document, table or figure, page."""

    @model_validator(mode="before")
    @classmethod
    def _of_goal(cls, value: object) -> object:
        """A goal is its metric, workload and bound."""
        value = {"goal": value} if isinstance(value, str) else value
        if not isinstance(value, dict):
            return value
        if not isinstance(text := value.get("goal"), str):
            if "goal" not in value and "metric" not in value:
                raise refuse(
                    "the expectation has no figure",
                    "add goal: 'shop.p99 < 5ms', or a metric with its bounds",
                )
            return value
        if both := [key for key in OF_GOAL if key in value]:
            raise refuse(
                f"goal and {both[0]} exclude each other", f"keep goal, or {', '.join(OF_GOAL)}"
            )
        try:
            goal = read_goal(text)
        except QuantityError as error:
            raise refuse(f"'{text}': {error.what}", error.hint) from None
        if goal.bound is None:
            raise refuse(f"'{text}' has no bound", f"write {goal} {goal.sign} and a value")
        bound = {"at_least" if goal.is_floor else "at_most": goal.bound}
        return {**value, "metric": goal.metric, "workload": goal.subject, **bound}


OF_GOAL = (
    "metric",
    "workload",
    "value",
    "at_least",
    "at_most",
    "tolerance",
    "tolerance_points",
    "statistic",
)
"""Keys of an expectation that a goal states."""


def folder_of(arm: str) -> str:
    """The name that an arm has in paths: some file systems do not allow a colon."""
    return f"solo-{arm.removeprefix(SOLO)}" if arm.startswith(SOLO) else arm


def trial_seed(seed: int, trial: int) -> int:
    """Trial n has the same seed in every arm, so that arms can be compared pair by pair."""
    digest = hashlib.sha256(f"tailrace/{seed}/trial/{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
