"""Which trial comes next within a time, and what is lacking at its end."""

from tailrace.experiment.budget import Budget, Lack, lacks, next_trial
from tailrace.experiment.schedule import TrialKey

A1, B1, A2, B2 = (TrialKey(arm, number) for number in (1, 2) for arm in ("a", "b"))
KEYS = [A1, B1, A2, B2]


def test_the_arm_with_the_fewest_valid_trials_comes_next() -> None:
    statuses = {A1: "ok", B1: "invalid"}
    chosen = next_trial(KEYS, statuses, lambda key: True, lambda key: 1 if key == B1 else 0)
    assert chosen == B2, "of the arm that lacks most, the trial that was tried least"
    assert next_trial(KEYS, statuses, lambda key: key == A2, lambda key: 0) == A2
    assert next_trial(KEYS, dict.fromkeys(KEYS, "ok"), lambda key: True, lambda key: 0) is None


def test_what_is_lacking_is_told_by_arm() -> None:
    found = lacks(KEYS, {A1: "ok", A2: "ok", B1: "invalid", B2: "ok"})
    assert found == [Lack("b", 1, 2)]
    assert found[0].sentence == "b has 1 of 2 valid trials"


def test_a_trial_that_would_end_too_late_is_not_started() -> None:
    now = [0.0]
    budget = Budget(100.0, lambda: now[0])
    assert budget.has_room(A1)
    budget.took(A1, 30.0)
    now[0] = 69.0
    assert budget.has_room(A2)
    now[0] = 71.0
    assert not budget.has_room(A2)
    assert budget.has_room(B1), "how long another arm takes is not known"
    now[0] = 100.0
    assert not budget.has_room(B1)
