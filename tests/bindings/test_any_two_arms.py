"""Arms of a simulated run, compared with any other, and groups of workloads in every figure and
table."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert, to_builtins

import tailrace
from command_line import tailrace as command_line
from night import SCENARIO
from sealing import interrupt
from tailrace.errors import RunRefusedError
from tailrace.outcome.types import Workload
from tailrace.results import RunDirectoryError, compare_two_arms, format_two_arms
from tailrace.statistics import Histogram
from trial_files import read_trial

KEPT = (
    "workload",
    "metric",
    "baseline",
    "arm",
    "change_percent",
    "change_interval",
    "p_value",
    "is_paired",
    "is_main",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("night")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    done = command_line(
        "run", str(folder / "scenario.yaml"), "--full", "--out", str(folder / "run")
    )
    assert done.returncode == 0, done.stderr
    (folder / "text").write_text(done.stdout, encoding="utf-8")
    return folder / "run"


@pytest.fixture(scope="module")
def text(run: Path) -> str:
    return (run.parent / "text").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def result(run: Path) -> tailrace.Result:
    return tailrace.Result(run)


def pairs_of(told: Any) -> set[tuple[str, str]]:
    """Of a summary, or of its JSON."""
    return {(effect["baseline"], effect["arm"]) for effect in to_builtins(told)["comparisons"]}


def one_line(text: str) -> str:
    return " ".join(text.split())


def rows_of(text: str, head: str) -> list[list[str]]:
    """Cells of the terminal's table whose head begins like this."""
    block = next(part for part in text.split("\n\n") if part.startswith(head))
    return [re.split(r" {2,}", line.strip()) for line in block.splitlines()[1:]]


def test_every_arm_is_compared_with_the_baseline_of_the_scenario(
    result: tailrace.Result, text: str
) -> None:
    assert result.summary.baseline == "tonight"
    assert pairs_of(result.summary) == {("tonight", "quiet"), ("tonight", "strict")}
    assert "With strict instead of tonight, " in one_line(text)
    assert "Changes are relative to tonight" in text
    page = (result.path / "report.html").read_text(encoding="utf-8")
    assert "strict against tonight" in page
    assert "tonight against" not in page


def test_a_finished_run_is_told_again_with_another_baseline(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    again = command_line("report", str(tmp_path / "run"), "--baseline", "quiet", "--json")
    assert again.returncode == 0, again.stderr
    assert pairs_of(json.loads(again.stdout)) == {("quiet", "tonight"), ("quiet", "strict")}
    assert json.loads((tmp_path / "run" / "result.json").read_text())["baseline"] == "quiet"
    assert pairs_of(tailrace.Result(run, baseline="strict").summary) == {
        ("strict", "quiet"),
        ("strict", "tonight"),
    }
    told = json.loads(command_line("report", str(tmp_path / "run"), "--json").stdout)
    assert told["baseline"] == "tonight", "that of the scenario"
    refused = command_line("report", str(run), "--baseline", "strickt")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "there is no arm 'strickt' (hint: did you mean 'strict'?)" in refused.stderr


def test_the_baseline_of_a_command_runs_no_trial_again(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    scenario = str(run.parent / "scenario.yaml")
    command = ["run", scenario, "--out", str(tmp_path / "run"), "--baseline"]
    done = command_line(*command, "strict", "--json")
    assert pairs_of(json.loads(done.stdout)) == {("strict", "quiet"), ("strict", "tonight")}
    assert "15 of 15 trials are complete already" in done.stderr
    refused = command_line(*command, "strict", "--arm", "quiet", "--arm", "tonight")
    assert refused.returncode == 2
    assert "--baseline strict: the arm does not run (hint: add --arm strict" in refused.stderr
    assert "there is no arm 'strick'" in command_line(*command, "strick").stderr


def test_python_names_the_baseline_as_the_command_line_does(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    again = tailrace.run(run.parent / "scenario.yaml", out=tmp_path / "run", baseline="strict")
    assert pairs_of(again.summary) == {("strict", "quiet"), ("strict", "tonight")}
    with pytest.raises(RunRefusedError, match="strict: the arm does not run"):
        tailrace.run(
            run.parent / "scenario.yaml",
            out=tmp_path / "run",
            arms=["quiet", "tonight"],
            baseline="strict",
        )


def test_two_arms_have_the_statistics_of_the_run(run: Path, result: tailrace.Result) -> None:
    compared = compare_two_arms(run, "tonight", "strict")
    of_run = [effect for effect in result.summary.comparisons if effect.arm == "strict"]
    assert [[getattr(one, key) for key in KEPT] for one in compared.differences] == [
        [getattr(one, key) for key in KEPT] for one in of_run
    ]
    mains = [one for one in compared.differences if one.is_main]
    assert [one.workload for one in mains] == ["oltp", "bulk"]
    assert all(one.tests == 2 for one in mains), "two comparisons, of these arms alone"
    assert compared.pairs[0].same_plan is False


def test_two_arms_are_told_with_the_table_and_the_sentences_of_two_runs(run: Path) -> None:
    done = command_line("compare", str(run), "--arms", "tonight", "strict")
    assert done.stdout == format_two_arms(compare_two_arms(run, "tonight", "strict"))
    head = next(line for line in done.stdout.splitlines() if line.startswith("metric"))
    assert re.split(r" {2,}", head)[:5] == ["metric", "workload", "tonight", "strict", "strict is"]
    assert re.search(r"^latency_p99_ms +oltp ", done.stdout, re.MULTILINE)
    assert re.search(
        r"oltp: 99th percentile of latency is [^:]* with strict than with tonight", done.stdout
    )
    assert "over the 2 comparisons of main metrics;" in one_line(done.stdout)
    data = json.loads(
        command_line("compare", str(run), "--arms", "strict", "quiet", "--json").stdout
    )
    assert data["arms"] == ["strict", "quiet"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["--arms", "tonight", "tonight"],
            "an arm is not compared with itself: 'tonight' (hint: name two arms)",
        ),
        (
            ["--arms", "tonight", "strikt"],
            "there is no arm 'strikt' (hint: did you mean 'strict'?)",
        ),
        (
            ["RUN", "--arms", "tonight", "strict"],
            "--arms compares two arms of one run; there are 2 runs",
        ),
        (
            ["--arms", "tonight", "strict", "--report", "page.html"],
            "--report requires runs of different engines",
        ),
        (["--arms", "tonight"], "Option '--arms' requires 2 arguments"),
        ([], "or two arms of one run with --arms"),
    ],
)
def test_arms_that_cannot_be_compared_are_refused(
    run: Path, words: list[str], expected: str
) -> None:
    done = command_line(
        "compare", str(run), *(str(run) if word == "RUN" else word for word in words)
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_python_compares_two_arms(result: tailrace.Result) -> None:
    table = result.compare(arms=("tonight", "strict"))
    assert {*table.column("baseline")} == {"tonight"}
    assert {*table.column("arm")} == {"strict"}
    assert {"oltp", "pg1", "pg2", "bulk"} <= {*table.column("workload")}
    with pytest.raises(RunRefusedError, match="there is no arm 'no'"):
        result.compare(arms=("tonight", "no"))
    with pytest.raises(RunDirectoryError, match="not compared with itself"):
        result.compare(arms=("strict", "strict"))
    with pytest.raises(RunRefusedError, match="arms are those of one run"):
        result.compare(result, arms=("tonight", "strict"))


def test_an_arm_without_trials_is_refused(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(interrupt(tmp_path / "run") / "trials" / "strict")
    with pytest.raises(RunDirectoryError, match="no valid trial of strict"):
        compare_two_arms(tmp_path / "run", "tonight", "strict")


def test_the_latency_of_a_group_is_that_of_all_transactions_of_its_members(
    result: tailrace.Result,
) -> None:
    found = result.latency("tonight", "oltp")
    members = [result.latency("tonight", name) for name in ("pg1", "pg2")]
    assert found.count == sum(member.count for member in members)
    outcomes = [
        read_trial(file) for file in (result.path / "trials" / "tonight").glob("[0-9].json")
    ]
    workloads = [
        convert(own, Workload)
        for one in outcomes
        for own in one["workloads"]
        if own["kind"] == "oltp"
    ]
    pooled = Histogram.from_workloads(workloads)
    assert pooled is not None
    assert found.p99_s == pytest.approx(pooled.percentile_ms(99).ms / 1000)
    kept = found.transactions()
    assert {*kept.column("workload")} == {"pg1", "pg2"}
    assert len(kept) == found.count
    assert len(result.table("transactions", workload="oltp")) == sum(
        result.latency(arm, "oltp").count for arm in ("quiet", "tonight", "strict")
    )


def test_a_group_counts_and_waits_as_its_members_together(result: tailrace.Result) -> None:
    own = result.summary.arms["tonight"]
    group, members = own.groups["oltp"], [own.workloads[name] for name in ("pg1", "pg2")]
    assert group.transactions.mean == pytest.approx(
        sum(one.transactions.mean or 0.0 for one in members)
    )
    assert group.tcp.segments_sent == pytest.approx(
        sum(one.tcp.segments_sent or 0.0 for one in members if one.tcp)
    )
    shares = {cause: sample.mean or 0.0 for cause, sample in group.limits.shares_percent.items()}
    assert sum(shares.values()) == pytest.approx(100)
    cause = max(shares, key=lambda one: shares[one])
    ends = sorted(one.limits.shares_percent[cause].mean or 0.0 for one in members)
    assert ends[0] <= shares[cause] <= ends[1]
    assert result.completion_s("tonight", "oltp") == [], "no member has an end"


def test_names_that_no_table_has_are_refused(result: tailrace.Result) -> None:
    with pytest.raises(
        KeyError, match="no workload bulk in the valid trials of quiet; there are oltp, pg1, pg2"
    ):
        result.latency("quiet", "bulk")
    with pytest.raises(KeyError, match="no latency of bulk in tonight"):
        result.latency("tonight", "bulk")
    with pytest.raises(KeyError, match="no workload or group oltpp; there are oltp, bulk, pg1"):
        result.table("transactions", workload="oltpp")
    with pytest.raises(KeyError, match="has no column workload"):
        result.table("queue_depth", workload="oltp")


def test_every_table_of_the_terminal_has_a_group_before_its_members(text: str) -> None:
    order = ["oltp", "pg1", "pg2", "bulk", "analytics", "backup"]
    latency = [row[0] for row in rows_of(text, "latency, ms") if len(row) > 6]
    assert list(dict.fromkeys(latency)) == order[:3]
    limits = [row[0] for row in rows_of(text, "limited by") if row[0] in order]
    assert list(dict.fromkeys(limits)) == order


def labels_of(page: str, column: str) -> list[list[str]]:
    """First cells of the rows of the report's tables whose first column has this head."""
    found = []
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        head, *rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        cells = [re.search(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in (head, *rows)]
        texts = [re.sub("<[^>]*>", "", cell[1]).strip() if cell else "" for cell in cells]
        if texts[0] == column:
            found.append(texts[1:])
    return found


def test_every_table_of_the_report_has_a_group_before_its_members(result: tailrace.Result) -> None:
    page = (result.path / "report.html").read_text(encoding="utf-8")
    tables = [list(dict.fromkeys(labels)) for labels in labels_of(page, "workload")]
    assert tables == [
        ["oltp", "pg1", "pg2", "bulk", "analytics", "backup"],
        ["oltp", "pg1", "pg2"],
        ["oltp", "pg1", "pg2", "bulk", "analytics", "backup"],
    ], "completion and goodput; percentiles; counters of TCP"
    assert "<figcaption>oltp <small>transaction latency" in page


def test_a_workload_that_the_first_arm_disables_keeps_its_name_in_the_others(
    result: tailrace.Result,
) -> None:
    page = (result.path / "report.html").read_text(encoding="utf-8")
    rows = labels_of(page, "workload")[0]
    assert rows == [
        *["oltp"] * 3,
        *["pg1"] * 3,
        *["pg2"] * 3,
        *["bulk"] * 2,
        *["analytics"] * 2,
        *["backup"] * 2,
    ]


def test_a_group_is_explained_with_the_transactions_of_all_members(
    run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run, tmp_path / "run")
    path = str(tmp_path / "run")
    done = command_line("explain", path, "--workload", "oltp", "--json", "--slowest", "3")
    found = {one["arm"]: one for one in json.loads(done.stdout)["explained"]}
    assert [one["workload"] for one in found.values()] == ["oltp"] * 3
    every = json.loads(command_line("explain", path, "--arm", "tonight", "--json").stdout)[
        "explained"
    ]
    assert [one["workload"] for one in every] == ["oltp", "pg1", "pg2"]
    assert every[0]["transactions"] == every[1]["transactions"] + every[2]["transactions"]
    assert {one["workload"] for one in every[0]["slowest"]} <= {"pg1", "pg2"}
    slowest = found["tonight"]["slowest"][0]
    assert f", {slowest['workload']}, user {slowest['user']}: " in slowest["sentence"]
    again = json.loads(command_line("report", path, "--json").stdout)
    causes = again["arms"]["tonight"]["groups"]["oltp"]["causes"]
    assert causes["transactions"] == every[0]["transactions"]
    told = one_line(command_line("report", path).stdout)
    assert re.search(
        r"With \w+ instead of tonight, the [\w ]+ of oltp .*, (mostly )?because the ", told
    )
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    shown = re.findall(
        r"<h3>(?:<[^>]*>)?(oltp|pg1|pg2)\b", page.split('id="causes"')[1].split("</section>")[0]
    )
    assert (shown[0], sorted(shown)) == ("oltp", ["oltp", "pg1", "pg2"])
    refused = command_line("explain", path, "--workload", "bulk")
    assert "'bulk' is not explained: a stream without an end is never complete" in refused.stderr
    unknown = command_line("explain", path, "--workload", "oltpp")
    assert "there is no workload or group 'oltpp' (hint: did you mean 'oltp'?)" in unknown.stderr
