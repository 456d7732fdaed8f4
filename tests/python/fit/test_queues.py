"""Captures behind full queues: what is the network's is neither the server's nor the users'."""

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simulated_capture
from tailrace.fit.compared import LONGER, fit_compared, longer_by, part_with_mean
from tailrace.fit.fitting import FitOptions, Fitting, fit_capture
from tailrace.fit.paths import NetworkPart, Vantage
from tailrace.fit.quantities import time_text
from tailrace.fit.waiting import APART_NS_MAX, SAMPLES_LEAST, Waits
from tailrace.fit.workload import Answers, Fit
from tailrace.results.summary.kinds import LatencyFigures

LINE = 10**9
GAP_NS = 5e6
SERVER_NS = 1e6
AT_CLIENT = ("client>switch", "switch>client")
AT_SERVER = ("server>switch", "switch>server")


def loaded(source: str, destination: str) -> dict[str, Any]:
    """Users of a server with exponential times, and bulk transfers that fill a queue on their
    way."""
    return {
        "tailrace": 1,
        "name": "queue",
        "network": {
            "link": {"rate": "1Gbit/s", "delay": "5us"},
            "topology": {"kind": "star", "hosts": ["client", "server", "other"]},
        },
        "workloads": {
            "shop": {
                "kind": "oltp",
                "client": "client",
                "server": "server",
                "users": 4,
                "gap": "exponential(5ms)",
                "round_trips": [
                    {"request": "200B", "response": "4kB", "server_time": "exponential(1ms)"}
                ],
            },
            "bulk": {
                "kind": "stream",
                "source": source,
                "destination": destination,
                "connections": 2,
                "size": "30MB",
            },
        },
        "experiment": {"trials": 1, "duration": "600ms"},
    }


def users(fitting: Fitting) -> Fit:
    return next(fit for fit in fitting.workloads.values() if fit.kind == "oltp")


def captured(folder: Path, ends: tuple[str, str], wires: tuple[str, str]) -> Path:
    return simulated_capture.capture(loaded(*ends), folder / "queue.pcap", wires)


def test_pauses_are_without_a_queue_to_the_client_that_acknowledgements_show(
    tmp_path: Path,
) -> None:
    path = captured(tmp_path, ("other", "client"), AT_SERVER)
    fit = users(fit_capture(path, FitOptions(line_bits_per_s=LINE)))
    assert fit.fits["gap"].mean == pytest.approx(GAP_NS, rel=0.1)
    assert fit.fits["round_trips[0].server_time"].mean == pytest.approx(SERVER_NS, rel=0.1)
    assert fit.seen["latency_p50_ns"] > 4e6, "the client waits for the queue"
    assert (
        "round trips to the client show waiting in the network, which the users' pause is without"
        in fit.notes
    )


@pytest.mark.parametrize("wires", [AT_CLIENT, AT_SERVER])
def test_a_queue_before_the_server_is_no_pause(wires: tuple[str, str], tmp_path: Path) -> None:
    path = captured(tmp_path, ("client", "server"), wires)
    vantage = Vantage.CLIENT if wires == AT_CLIENT else Vantage.SERVER
    fitting, compared = fit_compared(path, FitOptions(line_bits_per_s=LINE, vantage=vantage))
    assert users(fitting).fits["gap"].mean == pytest.approx(GAP_NS, rel=0.1)
    assert all(abs(one.off) < 0.1 for one in compared if one.off is not None), compared


@pytest.mark.parametrize("ends", [("other", "client"), ("server", "client")])
def test_a_queue_that_only_the_simulation_shows_is_not_the_servers_time(
    ends: tuple[str, str], tmp_path: Path
) -> None:
    path = captured(tmp_path, ends, AT_CLIENT)
    options = FitOptions(line_bits_per_s=LINE, vantage=Vantage.CLIENT)
    before = users(fit_capture(path, options))
    assert before.fits["round_trips[0].server_time"].mean > 2.5 * SERVER_NS
    fitting, compared = fit_compared(path, options)
    fit = users(fitting)
    # The corrections end as soon as the mean latencies agree to 5 %: so well is the mean of the
    # server's time known.
    assert fit.answers is not None
    within_ns = LONGER * fit.answers.mean_ns
    assert fit.fits["round_trips[0].server_time"].mean == pytest.approx(SERVER_NS, rel=0.25)
    assert within_ns < 0.25 * SERVER_NS
    assert all(abs(one.off) < 0.1 for one in compared if one.off is not None), compared
    (note,) = (
        note
        for note in fit.notes
        if note.startswith("simulated queues take a part of the times to responses")
    )
    assert note.endswith(f"its mean is known to {time_text(within_ns)}")


def test_a_quiet_path_has_its_shortest_round_trip_and_a_loaded_one_that_of_its_time() -> None:
    quiet = Waits(((at, 100_000 + at % 7 * 1_000) for at in range(100)), 100_000)
    assert (quiet.is_loaded, quiet.near(50)) == (False, 100_000)
    samples = [(at * 1_000_000, 100_000 * (1 + at)) for at in range(SAMPLES_LEAST)]
    waits = Waits(samples, 100_000)
    assert waits.is_loaded
    assert waits.near(2_500_000) == 400_000, "the one that was seen next"
    assert waits.near(samples[-1][0] + APART_NS_MAX) == 800_000
    assert waits.near(samples[-1][0] + APART_NS_MAX + 1) == 100_000, "none is near"


def test_acknowledgements_that_were_delayed_show_no_waiting() -> None:
    waits = Waits(((at, 40_200_000) for at in range(100)), 100_000)
    assert not waits.is_loaded


def test_few_round_trips_show_nothing() -> None:
    assert not Waits([(at, 5_000_000) for at in range(SAMPLES_LEAST - 1)], 100_000).is_loaded


def test_what_the_network_takes_is_a_shift_and_a_share() -> None:
    part = NetworkPart(2e6, 0.5)
    assert [part.without(seen) for seen in (1_000_000, 2_000_000, 4_000_000)] == [0, 0, 1_000_000]


@given(
    served=st.lists(st.integers(0, 10**10), min_size=1, max_size=50),
    share=st.floats(0.05, 1.0),
    wanted=st.floats(0.0, 1.0),
)
def test_what_is_left_of_the_times_has_the_wanted_mean(
    served: list[int], share: float, wanted: float
) -> None:
    """Also after times are cut off at zero, and where the wanted mean takes more than the stated
    share."""
    wanted_ns = wanted * fmean(served)
    part = part_with_mean(served, share, wanted_ns)
    assert fmean(part.without(one) for one in served) == pytest.approx(wanted_ns, abs=1.0)
    assert share - 1e-9 <= part.share <= 1.0
    assert part.less_ns == 0 or part.share == share


def test_a_few_repairs_of_lost_frames_do_not_decide_how_much_is_taken() -> None:
    def figures(mean: float) -> LatencyFigures:
        return LatencyFigures(mean=mean, p50=2, p90=4, p95=5, p99=6, p99_9=7, max=200)

    fit = Fit("oltp", (), seen={"latency_p50_ns": 1.5e6})
    usual, stalled = Answers(1.8e6, 3e6, 1, ()), Answers(9e6, 3e6, 1, ())
    assert longer_by(fit, usual, figures(2.3)) == pytest.approx((1.8e6, 0.5e6))
    for answers, mean in ((usual, 9.0), (stalled, 2.3)):
        assert longer_by(fit, answers, figures(mean)) == pytest.approx((1.5e6, 0.5e6))
