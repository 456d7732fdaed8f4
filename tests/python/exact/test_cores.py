"""Trials at the same time have cores of their own."""

from tailrace.exact.trial import Cores


def test_the_lowest_free_core_is_taken_and_given_back() -> None:
    cores = Cores()
    with cores.one() as first:
        with cores.one() as second:
            assert (first, second) == (0, 1)
        with cores.one() as third:
            assert third == 1
    with cores.one() as again:
        assert again == 0
