"""A page of many arms and workloads stays a page."""

from pathlib import Path
from typing import Any

from tailrace import report, results
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun
from tailrace.report.limited import limited, omissions
from tailrace.report.limits import ARMS_MAX, EXPECTATIONS_MAX, PAIRS_MAX
from tailrace.results.summary.summary import Summary
from tailrace.scenario.loading import load_scenario

PAGE_BYTES_MAX = 1_000_000


def page_of(tmp_path: Path, **sections: Any) -> tuple[Summary, str]:
    """Summary and report of a run of a star."""
    streams = {
        f"w{n}": {"kind": "stream", "source": "h1", "destination": "h2"}
        for n in range(sections.pop("streams"))
    }
    base = {"tailrace": 1, "name": "many", "network": {"topology": {"kind": "star", "hosts": 40}}}
    experiment = {"duration": "1us", "trials": 1}
    loaded = load_scenario(base | {"workloads": streams, "experiment": experiment} | sections)
    path = ExperimentRun(loaded, Options(jobs=1, out=tmp_path / "run")).run().path
    return results.summarise(path), report.write(path).read_text()


def test_many_workloads_are_cut(tmp_path: Path) -> None:
    expect = [
        {"metric": "goodput_gbps", "workload": f"w{n}", "at_least": n // 300} for n in range(400)
    ]
    summary, page = page_of(tmp_path, streams=400, expect=expect)
    assert len(page) < PAGE_BYTES_MAX
    assert f"{PAIRS_MAX} of 400 workloads shown, all in result.json" in page
    assert "w0" in page
    assert "w399</" in page, "an expectation that failed is shown before those that hold"
    shown = limited(summary)
    assert [one.passed for one in shown.expectations] == [False] * 100 + [True] * (
        EXPECTATIONS_MAX - 100
    )
    assert [fact.text.split()[0] for fact in omissions(summary, shown)] == [
        str(PAIRS_MAX),
        str(EXPECTATIONS_MAX),
    ]


def test_many_arms_and_many_different_switches_are_cut(tmp_path: Path) -> None:
    arms = {f"a{n}": {"switches.defaults.buffer": f"{4000 + n}kB"} for n in range(60)}
    own = {f"leaf{n}": {"latency": f"{n}ns"} for n in range(1, 31)}
    network = {"topology": {"kind": "leaf-spine", "leaves": 30, "spines": 1, "hosts_per_leaf": 1}}
    _, page = page_of(tmp_path, streams=1, arms=arms, network=network, switches=own)
    assert len(page) < PAGE_BYTES_MAX
    assert f"{ARMS_MAX} of 60 arms shown, all in result.json" in page
    assert "19 more switches have different settings" in page
    assert "The policies of 52 more arms are listed in the plans of the run." in page
