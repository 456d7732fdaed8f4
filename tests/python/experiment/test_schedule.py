"""The order of trials: random, recorded, the same for the same seed, fair to every arm."""

from tailrace.experiment.schedule import TrialKey, shuffled

ARMS = ["fifo", "dpp", "solo:orders"]


def test_every_trial_of_every_arm_is_there_once() -> None:
    order = shuffled(ARMS, range(1, 7), seed=1)
    assert sorted(order) == sorted(TrialKey(arm, number) for arm in ARMS for number in range(1, 7))


def test_the_order_follows_from_the_seed() -> None:
    assert shuffled(ARMS, range(1, 7), seed=1) == shuffled(ARMS, range(1, 7), seed=1)
    assert shuffled(ARMS, range(1, 7), seed=1) != shuffled(ARMS, range(1, 7), seed=2)


def test_no_arm_is_always_first() -> None:
    first = [order[0].arm for seed in range(30) if (order := shuffled(ARMS, [1], seed))]
    assert set(first) == set(ARMS)


def test_a_partial_run_has_about_as_many_trials_of_every_arm() -> None:
    order = shuffled(ARMS, range(1, 7), seed=3)
    for end in range(0, len(order), len(ARMS)):
        counts = [sum(1 for key in order[:end] if key.arm == arm) for arm in ARMS]
        assert len(set(counts)) == 1


def test_more_trials_leave_the_order_of_the_first_ones_alone() -> None:
    assert shuffled(ARMS, range(1, 10), seed=1)[: 3 * len(ARMS)] == shuffled(
        ARMS, range(1, 4), seed=1
    )


def test_a_solo_arm_has_a_folder_without_a_colon() -> None:
    assert TrialKey("solo:orders", 1).folder == "solo-orders"
    assert TrialKey("fifo", 1).folder == "fifo"
