"""Rates are divided and ratios kept."""

from pathlib import Path

import pytest

from lab import sound
from tailrace.errors import RunRefusedError
from tailrace.experiment.divide import divided, stretch_of
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun
from tailrace.scenario.loading import Loaded, load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.datagrams import Datagrams
from tailrace.scenario.workloads.division import cycle_ps
from tailrace.scenario.workloads.oltp import Oltp
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.scenario.workloads.stream import Stream

REPRODUCTIONS = Path(__file__).parents[3] / "reproductions"
MS = 10**9


def cisco(divisor: int) -> Loaded:
    """The live Cisco experiment."""
    return divided(load_scenario(REPRODUCTIONS / "cisco-dpp" / "live.yaml"), divisor)


def oltp(loaded: Loaded, name: str) -> Oltp:
    """A workload of users."""
    workload = loaded.scenario.workloads[name]
    assert isinstance(workload, Oltp)
    return workload


def test_rates_queues_and_users_are_divided_and_times_kept() -> None:
    plan = lower(cisco(2).arms["dpp"], "dpp", 1)
    assert plan["links"][0]["rate_bps"] == 500 * 10**6
    policy = plan["switches"][0]["policy"]
    assert [queue["limit"]["bytes"] for queue in policy["queues"]] == [250_000, 250_000], (
        "the delay is 4 ms as before"
    )
    assert (policy["dpp"]["max_packets"], policy["dpp"]["age_ps"]) == (20, 5 * MS)
    assert plan["switches"][0]["buffer_bytes"] == 6_000_000
    assert {host["mtu_bytes"] for host in plan["hosts"]} == {9000}
    assert {own.flat["users"] for own in planned_workloads(plan)} == {1}


def test_a_user_alone_keeps_its_cycle_and_the_users_their_share_of_the_link() -> None:
    whole, half = cisco(1), cisco(2)
    for name in ("XS", "S", "M", "L1", "L2"):
        before, after = oltp(whole, name), oltp(half, name)
        answer_ps = before.round_trips[0].response * 8 * 1000
        cycle = cycle_ps(2, before.gap.mean, answer_ps)
        assert after.gap.mean + 2 * answer_ps == pytest.approx(cycle, rel=1e-6), name
        assert after.transactions == before.transactions
    assert oltp(half, "XS").gap.raw["normal"]["deviation"] == 700_000_000


def test_times_are_stretched_where_users_cannot_be_divided() -> None:
    quarter = cisco(4)
    plan = lower(quarter.arms["dpp"], "dpp", 1)
    assert plan["links"][0]["rate_bps"] == 250 * 10**6
    assert plan["switches"][0]["policy"]["queues"][0]["limit"]["bytes"] == 250_000, "8 ms"
    assert plan["switches"][0]["policy"]["dpp"]["age_ps"] == 10 * MS
    users = oltp(quarter, "XS")
    answer_ps = 18_000 * 8 * 4000
    assert users.gap.mean + answer_ps == pytest.approx(
        2 * cycle_ps(2, 6.8 * MS, 18_000 * 8 * 1000), rel=1e-6
    )
    assert (users.users, users.transactions) == (1, 418), "a trial takes as long as before"


def test_the_workload_with_the_fewest_users_decides_how_far_times_are_stretched() -> None:
    few = {
        "kind": "oltp",
        "client": "client",
        "server": "bulk",
        "users": 2,
        "round_trips": [{"response": "1kB"}],
    }
    scenario = load_scenario(sound(workloads__orders__users=20, workloads__few=few)).scenario
    assert [stretch_of(scenario, divisor) for divisor in (2, 10, 40)] == [1, 5, 20]


def test_streams_and_datagrams_take_as_long_as_before() -> None:
    loaded = load_scenario(
        sound(
            workloads__backup__size="10MB",
            workloads__backup__rate="400Mbit/s",
            workloads__voice={
                "kind": "datagrams",
                "source": "bulk",
                "destination": "client",
                "sizes": "200B",
                "interarrival": "1ms",
                "count": 100,
            },
        )
    )
    backup, voice = (divided(loaded, 4).scenario.workloads[name] for name in ("backup", "voice"))
    assert isinstance(backup, Stream)
    assert (backup.size, backup.rate) == (2_500_000, 100_000_000)
    assert isinstance(voice, Datagrams)
    assert (voice.count, voice.interarrival.mean) == (25, 4 * MS)


@pytest.mark.parametrize(("key", "value", "path"), [
    ("aqm", {"kind": "step", "threshold": "100kB"}, ("aqm", "step", "threshold_bytes")),
    ("shape", {"max": "4Gbit/s"}, ("shape_max_bps",)),
])  # fmt: skip
def test_thresholds_and_shapers_are_divided(
    key: str, value: dict[str, str], path: tuple[str, ...]
) -> None:
    loaded = load_scenario(sound(**{f"policies__dpp__queues__normal__{key}": value}))

    def found(loaded: Loaded) -> int:
        place = lower(loaded.arms["dpp"], "dpp", 1)["switches"][0]["policy"]["queues"][1]
        for step in path:
            place = place[step]
        return int(place)

    assert found(divided(loaded, 4)) * 4 == found(loaded)


def test_what_cannot_be_kept_is_refused_with_the_reason() -> None:
    with pytest.raises(RunRefusedError, match="outside 1 to 1000"):
        divided(load_scenario(sound()), 0)
    small = load_scenario(sound(policies__dpp__queues__normal={"limit": "3kB"}))
    with pytest.raises(
        Exception, match="with --live-scale 4: the queue of 750 B is smaller than one frame"
    ):
        divided(small, 4)


def test_the_simulator_takes_the_same_scale(tmp_path: Path, fake: None) -> None:
    options = Options(out=tmp_path / "run", live_scale=2)
    experiment = ExperimentRun(load_scenario(sound(workloads__backup=...)), options)
    assert experiment.run().is_valid
    manifest = experiment.directory.manifest()
    assert manifest is not None
    assert manifest["live_scale"] == 2
    other = ExperimentRun(
        load_scenario(sound(workloads__backup=...)), Options(out=tmp_path / "run")
    )
    with pytest.raises(RunRefusedError, match="holds another run"):
        other.run()
