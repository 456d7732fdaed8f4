"""The reproduction of two streams over one link: what a run gives, what arithmetic gives, and what
its README says."""

import re
from pathlib import Path

import pytest

import tailrace
from tailrace.results.directory.published import read_published
from tailrace.results.summary.summary import Summary

pytestmark = pytest.mark.smoke

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "hagen-pfc"
LINE = 10_000 / 8 * 1000 / 1024
"""MB/s of frames of 1000 bytes on 10 Gbit/s."""
AXIS = (720, 840)
PAYLOAD = 958
Rates = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return tailrace.run(
        HERE / "scenario.yaml", trials=1, out=tmp_path_factory.mktemp("runs") / "pfc", explain=False
    ).summary


@pytest.fixture(scope="module")
def rates(summary: Summary) -> Rates:
    """MB/s of frames, by arm and stream."""
    return {
        name: {
            stream: own.goodput_gbps.mean * 1000 / 8 * 1000 / PAYLOAD
            for stream, own in arm.workloads.items()
        }
        for name, arm in summary.arms.items()
    }


def test_the_rival_alone_misses_its_figure(summary: Summary) -> None:
    missed = [one.arm for one in summary.expectations if not one.passed]
    assert missed == ["no-lock-2"]


def test_a_lock_keeps_every_number_of_threads_on_the_axis_and_two_cores_without_one_fill_the_line(
    rates: Rates,
) -> None:
    assert rates["threads-1"]["stream1"] == pytest.approx(780, rel=0.005)
    for threads in range(2, 7):
        assert AXIS[0] < rates[f"threads-{threads}"]["stream1"] < AXIS[1]
        assert rates[f"threads-{threads}"]["stream1"] == pytest.approx(1000 / 1.232, rel=0.005)
    assert rates["no-lock-1"]["stream1"] == pytest.approx(780, rel=0.005)
    assert rates["no-lock-2"]["stream1"] == pytest.approx(LINE, rel=0.005)


def test_pauses_do_nothing_beside_a_low_stream(rates: Rates) -> None:
    assert rates["low-on"] == pytest.approx(rates["low-off"])
    assert 15 < rates["low-on"]["stream2"] <= 16.05
    assert rates["low-on"]["stream1"] == pytest.approx(rates["threads-4"]["stream1"], rel=0.005)


def test_streams_of_one_priority_share_the_fate_of_the_slowest(rates: Rates) -> None:
    assert rates["slow-on"]["stream1"] == pytest.approx(rates["slow-on"]["stream2"], rel=0.02)
    assert rates["slow-on"]["stream2"] == pytest.approx(LINE / 5, rel=0.02)
    assert rates["slow-off"]["stream2"] == pytest.approx(LINE / 2, rel=0.02)
    for arm in ("high-off", "high-on"):
        assert sum(rates[arm].values()) == pytest.approx(LINE, rel=0.005)


def test_the_tables_of_the_readme_are_those_of_a_run(rates: Rates) -> None:
    page = (HERE / "README.md").read_text(encoding="utf-8")
    rows = {
        "high, high": ("high-off", "high-on"),
        "high, low as printed": ("low-off", "low-on"),
        "high, high, and CNA 3's port has 2 Gbit/s": ("slow-off", "slow-on"),
    }
    for label, arms in rows.items():
        [row] = re.findall(rf"^\| {re.escape(label)} \| (.*)$", page, flags=re.MULTILINE)
        told = [float(value) for value in re.findall(r"\d+\.\d", row)[:4]]
        found = [rates[arm][stream] for arm in arms for stream in ("stream1", "stream2")]
        assert told == pytest.approx(found, abs=0.1), label
    for threads, arm in (("1", "threads-1"), ("2", "threads-2"), ("3 to 6", "threads-6")):
        [row] = re.findall(rf"^\| {threads} \| 720 to 840 \| (\S+)", page, flags=re.MULTILINE)
        assert float(row) == pytest.approx(rates[arm]["stream1"], abs=0.1)


def test_figures_say_what_they_can_prove() -> None:
    kinds = {
        (band.arm, band.workload): band.kind for band in read_published(HERE / "published.yaml")
    }
    assert kinds["threads-1", "stream1"] == "fitted"
    assert {kinds[f"threads-{threads}", "stream1"] for threads in range(2, 7)} == {"independent"}
    assert {
        kinds[arm, stream] for arm in ("high-off", "high-on") for stream in ("stream1", "stream2")
    } == {"derived"}


CONDITIONS = ("alone", "low-off", "low-on", "high-on")
"""Of applications that end within milliseconds."""
ROWS = {
    "PingPong, 8 B": ("pingpong", 8),
    "PingPong, 64 KiB": ("pingpong", 65_536),
    "Exchange, 1 KiB": ("exchange", 1024),
    "Allreduce, 8 B": ("allreduce", 8),
    "Barrier": ("barrier", 0),
}


@pytest.fixture(scope="module")
def applications(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """The arms with MPI that do not wait for timeouts."""
    text = (HERE / "applications.yaml").read_text(encoding="utf-8")
    arms = {f"{pattern}-{condition}" for pattern, _ in ROWS.values() for condition in CONDITIONS}
    names = re.findall(r"^  (\S+): \{.*\}$", text[text.index("\narms:") :], flags=re.MULTILINE)
    assert arms <= set(names)
    lines = [
        line for line in text.splitlines() if line.strip().split(":")[0] not in set(names) - arms
    ]
    folder = tmp_path_factory.mktemp("applications")
    (folder / "some.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tailrace.run(folder / "some.yaml", trials=1, out=folder / "run", explain=False).summary


def test_the_times_of_mpi_in_the_readme_are_those_of_a_run(applications: Summary) -> None:
    page = (HERE / "README.md").read_text(encoding="utf-8")
    for label, (pattern, size) in ROWS.items():
        [row] = re.findall(rf"^\| {re.escape(label)} \| (.*)$", page, flags=re.MULTILINE)
        told = [
            float(re.split(r" \(", cell)[0])
            for cell in re.split(r"\s*\|\s*", row)
            if re.match(r"\d", cell)
        ]
        found = {
            condition: next(
                one.t_avg_us
                for one in applications.arms[f"{pattern}-{condition}"]
                .workloads["job"]
                .mpi_figures.rows
                if one.bytes == size
            )
            for condition in CONDITIONS
        }
        assert found["low-on"] == found["low-off"], "pauses have nothing to do"
        assert told == pytest.approx(
            [found[each] for each in ("alone", "low-off", "high-on")], rel=0.01
        ), label
