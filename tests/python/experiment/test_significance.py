"""What the trials of a scenario can decide is known before any of them has run."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tailrace.cli import main
from tailrace.experiment.significance import comparisons_of, too_few_words
from tailrace.scenario.loading import load_scenario


def scenario(workloads: int, trials: int | str, **more: Any) -> dict[str, Any]:
    """So many databases in two arms."""
    trips = [{"response": "8kB"}]
    shops = {
        f"db{number}": {
            "kind": "oltp",
            "client": "web",
            "server": "db",
            "users": 1,
            "round_trips": trips,
        }
        for number in range(workloads)
    }
    return {
        "tailrace": 1,
        "name": "many",
        "network": {
            "link": {"rate": "1Gbit/s"},
            "topology": {"kind": "star", "hosts": ["web", "db"]},
        },
        "workloads": shops,
        "arms": {"fifo": {}, "slow": {"network.link.delay": "1us"}},
        "experiment": {"duration": "10ms", "trials": trials},
    } | more


@pytest.mark.parametrize(
    ("workloads", "trials", "words"),
    [
        (12, 4, "4 trials cannot decide 12 comparisons: 6 would"),
        (12, 6, ""),
        (1, 3, "3 trials cannot decide a comparison: 4 would"),
        (1, 4, ""),
    ],
)
def test_too_few_trials_are_told_with_the_number_that_would_do(
    workloads: int, trials: int, words: str
) -> None:
    loaded = load_scenario(scenario(workloads, trials))
    assert comparisons_of(loaded) == workloads
    assert too_few_words(loaded) == words


def test_looks_have_a_price_that_is_told_too() -> None:
    assert too_few_words(load_scenario(scenario(12, "auto"))) == ""
    few = load_scenario(scenario(12, "auto"), {"experiment.trials_max": 7})
    assert too_few_words(few) == "6 trials cannot decide 12 comparisons: 8 would"
    assert too_few_words(load_scenario(scenario(3, "auto"), {"experiment.trials_max": 7})) == ""


def test_what_arms_do_not_have_in_common_is_not_compared() -> None:
    arms = {
        "fifo": {},
        "less": {"workloads.db0.enabled": False},
        "slow": {"network.link.delay": "1us"},
    }
    assert comparisons_of(load_scenario(scenario(3, 6, arms=arms))) == 2 + 3
    assert comparisons_of(load_scenario(scenario(3, 6, arms={}))) == 0
    named = load_scenario(
        scenario(3, 6, arms=arms, headline=["db0", {"workload": "db1", "metric": "latency_p99_ms"}])
    )
    assert comparisons_of(named) == 1 + 2


def test_a_group_is_compared_where_both_arms_run_all_of_its_members() -> None:
    arms = {
        "less": {"workloads.db0.enabled": False},
        "fifo": {},
        "slow": {"network.link.delay": "1us"},
    }
    stated = scenario(3, 6, arms=arms, headline=["bulk", "db2"])
    for name in ("db0", "db1"):
        stated["workloads"][name]["group"] = "bulk"
    stated["experiment"]["baseline"] = "fifo"
    assert comparisons_of(load_scenario(stated)) == 1 + 2
    assert comparisons_of(load_scenario(stated | {"headline": []})) == 1 + 2
    assert comparisons_of(load_scenario(stated, {"experiment.baseline": "less"})) == 1 + 1
    assert comparisons_of(load_scenario(stated, {"workloads.db0.enabled": False})) == 2 + 2, (
        "no arm runs db0"
    )


def test_check_and_dry_run_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(json.dumps(scenario(12, 4)))
    for command in (
        ["check", str(file)],
        ["run", str(file), "--dry-run", "--out", str(tmp_path / "run")],
    ):
        monkeypatch.setattr(sys, "argv", ["tailrace", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        assert "4 trials cannot decide 12 comparisons: 6 would" in capsys.readouterr().out
