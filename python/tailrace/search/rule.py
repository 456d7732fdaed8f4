"""The looks at the trials of a setting, and the error probability of each.

The error of a decision is divided over its looks (Bonferroni), so the decision holds for any
dependence between trials and for any look that decides.
"""

from dataclasses import dataclass, replace

from tailrace.statistics.looks import looks_until

EARLY = 3
"""Trials of the first look at a proposal; an interval takes as many."""


@dataclass(frozen=True)
class Rule:
    """How a setting is decided."""

    error: float
    """Probability of a wrong decision, over all looks."""
    looks: tuple[int, ...]
    """Numbers of trials after which a decision is possible, ascending."""

    @property
    def error_of_look(self) -> float:
        """Error probability of one look."""
        return self.error / len(self.looks)

    def from_trials(self, least: int) -> "Rule":
        """The looks from this number of trials on, one of them at that number, each with the same
        error probability as before."""
        looks = tuple(sorted({least, *(look for look in self.looks if look > least)}))
        return replace(self, error=self.error_of_look * len(looks), looks=looks)


def rule_of(error: float, trials_max: int, *, is_early: bool = False) -> Rule:
    """The looks of every experiment, and one after `trials_max`; early ones begin with `EARLY`."""
    early = [EARLY] if is_early and trials_max > EARLY else []
    return Rule(error, tuple(sorted({*early, *looks_until(trials_max), trials_max})))
