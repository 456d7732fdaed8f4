"""Which trial comes next within a time, and what is lacking at its end."""

from tailrace.experiment.budget import Budget, Lack, lacks, next_trial
from tailrace.experiment.schedule import TrialKey

A1, B1, A2, B2 = (TrialKey(arm, number) for number in (1, 2) for arm in ("a", "b"))
KEYS = [A1, B1, A2, B2]


def test_the_arm_that_was_tried_least_comes_next_among_those_that_lack() -> None:
    statuses = {A1: "ok", B1: "invalid"}
    tried = {A1: 1, B1: 2}
    assert next_trial(KEYS, statuses, lambda key: True, lambda key: tried.get(key, 0)) == A2
    assert (
        next_trial(KEYS, statuses, lambda key: key.arm == "b", lambda key: tried.get(key, 0)) == B2
    )
    assert next_trial(KEYS, statuses | {A2: "ok"}, lambda key: True, lambda key: 9) == B1, (
        "a has all it wants"
    )
    assert next_trial(KEYS, dict.fromkeys(KEYS, "ok"), lambda key: True, lambda key: 0) is None


def test_an_arm_that_is_always_invalid_takes_no_time_from_the_others() -> None:
    keys = [
        TrialKey(arm, number) for number in range(1, 5) for arm in ("invalid-arm", "good", "fair")
    ]
    statuses: dict[TrialKey, str] = {}
    tried: dict[TrialKey, int] = dict.fromkeys(keys, 0)
    for _ in range(15):
        key = next_trial(keys, statuses, lambda key: True, tried.__getitem__)
        assert key is not None
        tried[key] += 1
        statuses[key] = (
            "invalid"
            if key.arm == "invalid-arm" or (key.arm == "fair" and tried[key] == 1)
            else "ok"
        )
    valid = [key.arm for key, status in statuses.items() if status == "ok"]
    assert (valid.count("good"), valid.count("fair"), valid.count("invalid-arm")) == (4, 1, 0)
    assert sum(tried[key] for key in keys if key.arm == "invalid-arm") == 6


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
