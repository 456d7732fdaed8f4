"""The search for the largest payload of a path, on paths that are functions."""

import random
import time
from dataclasses import replace

import pytest

from tailrace.tools.path.confidence import chance_of_silence, loss_bound
from tailrace.tools.path.path import Asked, Loss, probe
from tailrace.tools.path.report import Report
from tailrace.tools.path.search import (
    CONTROL_BYTES,
    HEADERS_BYTES,
    Attempt,
    NoAnswerError,
    Try,
    find_largest,
)
from tailrace.tools.path.talk import ProbeError

LATER_S = time.monotonic() + 3600
ASKED = Asked(9_000, tries=10, limit_s=60)


def path_of(
    own_mtu: int = 65_535,
    hole_mtu: int = 65_535,
    router_mtu: int = 65_535,
    loss: float = 0.0,
    seed: int = 1,
) -> Try:
    """A path with an interface, a router that answers and a port that does not."""
    chance = random.Random(seed)

    def try_size(payload: int, count: int) -> Attempt:
        size = payload + HEADERS_BYTES
        if size > own_mtu:
            return Attempt(payload, 0, 0, own_mtu=own_mtu)
        if size > router_mtu:
            return Attempt(payload, count, 0, router_mtu=router_mtu, router="10.0.0.1")
        if size > hole_mtu:
            return Attempt(payload, count, 0)
        return Attempt(payload, count, sum(chance.random() >= loss for _ in range(count)))

    return try_size


@pytest.mark.parametrize(
    "mtu", [576, 577, 1_400, 1_499, 1_500, 1_501, 4_321, 8_999, 9_000, 9_001, 9_216, 65_534]
)
def test_the_mtu_of_any_path_is_found_to_one_byte(mtu: int) -> None:
    for path in (path_of(own_mtu=mtu), path_of(hole_mtu=mtu), path_of(router_mtu=mtu)):
        found = find_largest(path, 9_000, 5, LATER_S)
        assert (found.mtu, found.is_complete) == (mtu, True)
        assert found.failed is not None
        assert found.failed.payload_bytes == found.largest.payload_bytes + 1


def test_a_path_as_expected_needs_three_sizes_and_a_hint_saves_the_bisection() -> None:
    assert [
        each.payload_bytes
        for each in find_largest(path_of(own_mtu=9_000), 9_000, 5, LATER_S).attempts
    ] == [
        CONTROL_BYTES,
        8_972,
        8_973,
    ]
    hinted = find_largest(path_of(router_mtu=4_321), 9_000, 5, LATER_S)
    assert [each.payload_bytes for each in hinted.attempts] == [CONTROL_BYTES, 8_972, 4_293, 4_294]


def test_ordinary_loss_is_no_black_hole() -> None:
    for seed in range(200):
        assert (
            find_largest(path_of(hole_mtu=9_000, loss=0.2, seed=seed), 9_000, 10, LATER_S).mtu
            == 9_000
        )


def test_the_largest_packet_of_ipv4_ends_the_search() -> None:
    found = find_largest(path_of(), 9_000, 5, LATER_S)
    assert (found.mtu, found.failed, found.is_complete) == (65_535, None, True)


def test_the_deadline_ends_the_search_with_what_is_known() -> None:
    found = find_largest(path_of(hole_mtu=4_321), 9_000, 5, time.monotonic() - 1)
    assert (found.is_complete, found.largest.payload_bytes) == (False, CONTROL_BYTES)


def test_a_silent_host_is_told_in_words() -> None:
    with pytest.raises(NoAnswerError):
        find_largest(path_of(hole_mtu=50), 9_000, 5, LATER_S)
    with pytest.raises(
        ProbeError, match="b does not answer a: all 10 probes of 64 bytes were lost"
    ):
        probe(("a", "b"), path_of(hole_mtu=50), ASKED)


def test_a_black_hole_is_confirmed_among_small_probes() -> None:
    direction = probe(("a", "b"), path_of(hole_mtu=1_500), ASKED)
    assert (
        direction.silent.sent,
        direction.silent.lost,
        direction.small.sent,
        direction.small.lost,
    ) == (30, 30, 30, 0)
    # 0 of 30: the bound is 1 - 0.05^(1/30) = 9.5 % (the "rule of three" says 10 %).
    assert loss_bound(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30), rel=1e-9)
    assert direction.chance == pytest.approx((1 - 0.05 ** (1 / 30)) ** 30, rel=1e-6)
    assert probe(("a", "b"), path_of(own_mtu=9_000), ASKED).chance is None


def test_the_bound_of_a_loss_is_that_of_clopper_and_pearson() -> None:
    # One-sided 95 % bounds from tables of the beta distribution: qbeta(0.95, 2, 9), qbeta(0.95, 6,
    # 95).
    assert loss_bound(1, 10) == pytest.approx(0.39416, abs=1e-5)
    assert loss_bound(5, 100) == pytest.approx(0.10225, abs=1e-5)
    assert loss_bound(3, 3) == 1.0
    assert chance_of_silence(10, 10, 5) == 1.0


def test_small_probes_that_were_lost_all_count() -> None:
    path, tried = path_of(hole_mtu=1_500, loss=0.3), []

    def noting(payload: int, count: int) -> Attempt:
        tried.append(path(payload, count))
        return tried[-1]

    direction = probe(("a", "b"), noting, ASKED)
    small = [each for each in tried if each.payload_bytes == CONTROL_BYTES]
    lost = sum(each.sent - each.received for each in small)
    assert (direction.small.sent, direction.small.lost) == (30, lost)
    assert lost > 0


def test_a_report_names_the_cause_and_rounds_chances_up() -> None:
    def reported(path: Try) -> Report:
        return Report("simulated", 9_000, [probe(("a", "b"), path, ASKED)])

    of_router = reported(path_of(router_mtu=1_400))
    assert of_router.data()["directions"][0]["cause"] == "fragmentation-needed"
    assert "10.0.0.1 answers: fragmentation needed, mtu=1400" in of_router.text()
    [direction] = reported(path_of(hole_mtu=1_400)).directions
    # 0 of 30 small ones: 9.5 % are lost at most, and both of two by chance in 0.9 % of cases.
    few = Report("simulated", 9_000, [replace(direction, silent=Loss(2, 0))])
    assert few.data()["directions"][0]["cause"] == "silent-black-hole"
    assert "by chance in at most 1e-02" in " ".join(few.text().split())
