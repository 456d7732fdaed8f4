"""The commands in one process: what they print where, and the exit codes that CI sees."""

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sockets import watched_sockets
from tailrace.cli import main
from tailrace.scenario.starter import STARTER

pytestmark = pytest.mark.usefixtures("fake")

TINY = ("--trials", "2", "--scale", "0.05")


class Ended:
    """What a command left."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


Program = Callable[..., Ended]


@pytest.fixture
def tailrace(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """The program, in an empty folder with a starter scenario."""
    (workplace / "lab.yaml").write_text(STARTER, encoding="utf-8")

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["tailrace", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        seen = capsys.readouterr()
        assert "Traceback" not in seen.out + seen.err
        return Ended(int(end.value.code or 0), seen.out, seen.err)

    return run


def test_help_has_three_examples_and_the_exit_codes(tailrace: Program) -> None:
    ended = tailrace("--help")
    assert ended.code == 0
    assert ended.out.count("\n    tailrace ") == 3
    assert "130 interrupted" in ended.out


def test_no_command_is_a_usage_error_that_shows_the_help(tailrace: Program) -> None:
    ended = tailrace()
    assert ended.code == 2
    assert "Live lab:" in ended.out + ended.err


@pytest.mark.parametrize(
    "arguments", [("fly",), ("run",), ("run", "lab.yaml", "--trials", "0"), ("run", "--nope")]
)
def test_wrong_usage_is_exit_code_2(tailrace: Program, arguments: tuple[str, ...]) -> None:
    ended = tailrace(*arguments)
    assert ended.code == 2
    assert "Error" in ended.err


@pytest.mark.smoke
def test_init_writes_a_scenario_that_is_sound_and_never_replaces_one(
    tailrace: Program, workplace: Path
) -> None:
    assert tailrace("init", "new/first.yaml").code == 0
    assert tailrace("check", "new/first.yaml").code == 0
    (workplace / "new/first.yaml").write_text("mine", encoding="utf-8")
    refused = tailrace("init", "new/first.yaml")
    assert (refused.code, (workplace / "new/first.yaml").read_text(encoding="utf-8")) == (2, "mine")
    assert tailrace("init", "new/first.yaml", "--force").code == 0


@pytest.mark.smoke
def test_check_prints_every_problem_with_its_line(tailrace: Program, workplace: Path) -> None:
    (workplace / "bad.yaml").write_text(
        STARTER.replace("buffer: 12MB", "bufer: 12MB").replace("8kB", "8"), "utf-8"
    )
    ended = tailrace("check", "bad.yaml")
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 2
    assert (
        "bad.yaml:20: switches.leaf.bufer: unknown key (hint: did you mean 'buffer'?)" in ended.err
    )
    as_json = tailrace("check", "bad.yaml", "--json")
    assert as_json.code == 2
    assert [problem["line"] for problem in json.loads(as_json.out)["problems"]] == [20, 37]


def test_check_says_what_is_in_a_sound_scenario(tailrace: Program) -> None:
    assert "valid. 3 hosts, 1 switch, 3 links" in tailrace("check", "lab.yaml").out
    assert json.loads(tailrace("check", "lab.yaml", "--json").out)["arms"] == ["fifo", "dpp"]


def test_check_names_the_first_of_many_workloads(tailrace: Program, workplace: Path) -> None:
    one = "kind: stream, source: database, destination: client, size: 1MB"
    more = "".join(f"  w{number}: {{{one}}}\n" for number in range(500))
    text = STARTER.replace("workloads:\n", f"workloads:\n{more}")
    (workplace / "many.yaml").write_text(text, encoding="utf-8")
    ended = tailrace("check", "many.yaml")
    assert ended.code == 0, ended.err
    assert "workloads w0, w1, w2" in ended.out
    assert " more; arms fifo, dpp" in ended.out
    assert len(ended.out) < 300
    assert len(json.loads(tailrace("check", "many.yaml", "--json").out)["workloads"]) > 500


def test_plan_prints_the_plan_of_one_trial(tailrace: Program) -> None:
    plan = json.loads(tailrace("plan", "lab.yaml", "--arm", "dpp", "--trial", "3").out)
    assert plan["name"] == "starter/dpp/trial-3"
    assert plan["switches"][0]["policy"]["dpp"]["max_packets"] == 20
    base = json.loads(
        tailrace("plan", "lab.yaml", "--set", "workloads.orders.users=3", "--scale", "0.1").out
    )
    assert (base["name"], base["workloads"][0]["body"]["oltp"]["users"]) == (
        "starter/fifo/trial-1",
        3,
    )
    assert base["workloads"][0]["body"]["oltp"]["transactions"] == 20
    assert tailrace("plan", "lab.yaml", "--arm", "dp").code == 2


def test_run_prints_the_table_and_the_place_of_the_report(
    tailrace: Program, workplace: Path
) -> None:
    ended = tailrace("run", "lab.yaml", *TINY, "--set", "expect=[]")
    assert ended.code == 0, ended.err
    [report] = workplace.glob("runs/starter-*/report.html")
    assert f"report: {report.relative_to(workplace)}" in ended.out
    assert "orders" in ended.out
    assert "trials: 6 trials" in ended.err
    assert "about" not in ended.out


def test_run_as_json_has_one_document_on_stdout_and_lines_of_json_on_stderr(
    tailrace: Program,
) -> None:
    ended = tailrace("run", "lab.yaml", *TINY, "--set", "expect=[]", "--json")
    summary = json.loads(ended.out)
    assert summary["run"]["scale"] == 0.05
    assert Path(summary["report"]).is_file()
    events = [json.loads(line) for line in ended.err.splitlines()]
    trials = [event for event in events if event["event"] == "trial"]
    assert len(trials) == 6
    assert {event["status"] for event in trials} == {"ok"}


def test_a_failed_expectation_is_exit_code_1(tailrace: Program) -> None:
    expect = "expect=[{metric: completion_s, arm: fifo, workload: orders, at_most: 0.001}]"
    ended = tailrace("run", "lab.yaml", *TINY, "--set", expect)
    assert ended.code == 1, ended.err
    assert "FAIL" in ended.out


def test_an_expectation_that_cannot_be_judged_is_exit_code_1(tailrace: Program) -> None:
    expect = "expect=[{metric: cpu_s, arm: fifo, workload: orders, at_most: 5}]"
    ended = tailrace("run", "lab.yaml", *TINY, "--set", expect)
    assert ended.code == 1, ended.err
    assert "1 expectation(s) cannot be judged" in ended.err


def test_an_invalid_trial_is_exit_code_3_even_when_expectations_fail(tailrace: Program) -> None:
    ended = tailrace("run", "lab.yaml", *TINY, "--set", "experiment.duration=2ms")
    assert ended.code == 3
    assert "did not finish" in ended.err


def test_a_failed_trial_is_exit_code_3(tailrace: Program) -> None:
    ended = tailrace("run", "lab.yaml", *TINY, "--set", "name=broken")
    assert ended.code == 3
    assert "a queue forgot a frame" in ended.err


def test_a_dry_run_lists_trials_and_runs_nothing(tailrace: Program, workplace: Path) -> None:
    ended = tailrace("run", "lab.yaml", "--trials", "2", "--arm", "dpp", "--dry-run")
    assert ended.code == 0
    assert "dpp/1" in ended.out
    assert "remaining" in ended.out
    assert not (workplace / "runs").exists()
    listing = json.loads(tailrace("run", "lab.yaml", "--trials", "2", "--dry-run", "--json").out)
    assert len(listing["trials"]) == 6
    assert listing["estimated_s"] is not None
    assert "batch_script" not in listing


def test_a_dry_run_on_slurm_has_the_script_of_its_jobs(tailrace: Program, workplace: Path) -> None:
    asked = ("run", "lab.yaml", "--trials", "1", "--dry-run", "--on", "slurm", "--partition", "lab")
    large = (
        "--sweep",
        "workloads.orders.users=linear(2..4000, 2500)",
        "--set",
        "experiment.solo=false",
    )
    for more in ((), large):
        with watched_sockets() as seen:
            ended = tailrace(*asked, *more, "--json")
        assert (ended.code, seen) == (0, []), ended.err
        told, listing = tailrace(*asked, *more).out, json.loads(ended.out)
        script = listing["batch_script"]
        assert script.startswith("#!")
        assert "#SBATCH -p lab" in script.splitlines()
        assert f"Each job would run:\n\n{script.splitlines()[0]}" in told
        assert listing["jobs"] == 4
        more_jobs = tailrace(*asked, *more, "--json", "--max-workers", "8", "--cores", "3")
        assert json.loads(more_jobs.out)["jobs"] == 24


def test_a_rerun_goes_on_and_a_report_can_be_written_again(
    tailrace: Program, workplace: Path
) -> None:
    assert tailrace("run", "lab.yaml", *TINY, "--set", "expect=[]", "--out", "mine").code == 0
    assert (
        "6 of 6 trials are complete already"
        in tailrace("run", "lab.yaml", *TINY, "--out", "mine").err
    )
    (workplace / "mine/report.html").unlink()
    assert tailrace("report", "mine").code == 0
    assert (workplace / "mine/report.html").is_file()
    refused = tailrace("run", "lab.yaml", "--seed", "2", "--out", "mine")
    assert refused.code == 2
    assert "not overwritten" in refused.err


def test_compare_tells_two_runs_apart(tailrace: Program) -> None:
    for seed in ("1", "2"):
        tailrace("run", "lab.yaml", *TINY, "--seed", seed, "--out", f"run{seed}")
    ended = tailrace("compare", "run1", "run2")
    assert ended.code == 0, ended.err
    assert "orders" in ended.out
    assert json.loads(tailrace("compare", "run1", "run2", "--json").out)


def test_list_shows_runs_and_scenarios(tailrace: Program) -> None:
    tailrace("run", "lab.yaml", *TINY)
    shown = tailrace("list").out
    assert "runs/starter-" in shown
    assert "lab.yaml  What does prioritising" in shown
    listed = json.loads(tailrace("list", "--json").out)
    assert listed["runs"][0]["trials_done"] == 6
    assert [row["path"] for row in listed["scenarios"]] == ["lab.yaml"]


def test_a_list_of_nothing_says_what_to_do(tailrace: Program, workplace: Path) -> None:
    (workplace / "lab.yaml").unlink()
    assert "tailrace init" in tailrace("list").out


def test_schema_prints_json_schema(tailrace: Program) -> None:
    schema = json.loads(tailrace("schema").out)
    assert schema["$schema"].endswith("2020-12/schema")
    assert "workloads" in schema["properties"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("run", "none.yaml"), "the file does not exist"),
        (("check", "."), "this is a directory"),
        (("check", "lab.yaml", "--set", "workloads.orders"), "expected key=value"),
        (("check", "lab.yaml", "--set", "workload.orders.users=3"), "did you mean 'workloads'?"),
        (
            ("check", "lab.yaml", "--set", "hosts.defaults.mtu=abc"),
            "lab.yaml with --set: hosts.defaults.mtu: 'abc' is",
        ),
        (
            ("check", "lab.yaml", "--sweep", "hosts.defaults.mtu=abc"),
            "lab.yaml with --sweep: hosts.defaults.mtu: 'abc'",
        ),
        (
            ("check", "lab.yaml", "--sweep", "nosuch.key=1"),
            "lab.yaml with --sweep: sweep.axes.nosuch.key: 'nosuch'",
        ),
        (("check", "lab.yaml", "--set", "workloads.orders.users=three"), "not a whole number"),
        (("check", "lab.yaml", "--set", "workloads.orders.users=[1"), "YAML"),
        (("run", "lab.yaml", "--scale", "0"), "outside"),
        (("run", "lab.yaml", "--arm", "dp"), "did you mean 'dpp'?"),
        (("report", "nowhere"), "nowhere"),
        (("compare", "nowhere", "nowhere"), "nowhere"),
    ],
)
def test_mistakes_are_sentences_with_hints(
    tailrace: Program, arguments: tuple[str, ...], what: str
) -> None:
    ended = tailrace(*arguments)
    assert ended.code == 2
    assert what in ended.err
    assert ended.out == ""


def test_an_error_of_ours_is_one_line_and_a_log_file(
    tailrace: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> str:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(sys.modules["tailrace._native"], "version", fail)
    ended = tailrace("run", "lab.yaml")
    assert ended.code == 70
    [line] = ended.err.splitlines()
    assert "ZeroDivisionError: a bug" in line
    log = Path(line.split("the details are in ")[1].split(";")[0])
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")
    log.unlink()


def test_a_simulator_that_is_not_built_is_said_so(
    tailrace: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tailrace._native", None)
    import tailrace as package

    monkeypatch.delattr(package, "_native", raising=False)
    ended = tailrace("run", "lab.yaml")
    assert ended.code == 2
    assert "the simulator is not built" in ended.err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_what_the_machine_refuses_is_no_fault_of_the_program(
    tailrace: Program, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number), "runs/x/result.json")

    monkeypatch.setattr("tailrace.folder.Folder.write", fail)
    ended = tailrace("run", "lab.yaml", *TINY)
    assert ended.code == 2
    assert f"runs/x/result.json: {os.strerror(number)} (hint: " in ended.err
    assert "failed" not in ended.err


def test_a_name_that_is_too_long_for_a_file_is_refused(tailrace: Program) -> None:
    ended = tailrace("check", "lab.yaml", "--set", f"name={'x' * 65}")
    assert ended.code == 2
    assert "is not a name (hint: use letters, digits, - and _, at most 64)" in ended.err


def test_nothing_where_keys_belong_is_called_so(tailrace: Program, workplace: Path) -> None:
    text = STARTER.replace("  fifo: {}\n", "  fifo:\n")
    (workplace / "lab.yaml").write_text(text, encoding="utf-8")
    assert (
        "arms.fifo: it has no value (hint: write {} for an empty section)"
        in tailrace("check", "lab.yaml").err
    )


def test_a_quoted_number_is_told_to_lose_its_quotes(tailrace: Program, workplace: Path) -> None:
    text = STARTER.replace("tailrace: 1\n", 'tailrace: "1"\n')
    (workplace / "lab.yaml").write_text(text, encoding="utf-8")
    assert "(hint: remove the quotes)" in tailrace("check", "lab.yaml").err


def test_warnings_are_told_by_check_and_run_and_refuse_nothing(
    tailrace: Program, workplace: Path
) -> None:
    path = workplace / "lab.yaml"
    policies = (
        "policies: {p: {queues: {san: {}, lan: {}}, priorities: {3: san}, pfc: {priorities: [3]}}}"
    )
    network = (
        "network: {topology: {kind: star, switch: s, hosts: [a, b]}}\nswitches: {s: {policy: p}}"
    )
    workloads = "workloads: {w: {kind: stream, source: a, destination: b, priority: 3}}"
    head = "tailrace: 1\nname: deaf\nexperiment: {duration: 10ms}"
    path.write_text("\n".join([head, network, policies, workloads]), encoding="utf-8")
    checked = tailrace("check", "lab.yaml")
    assert checked.code == 0
    assert "valid, with 1 warning." in checked.out
    assert checked.err.startswith("warning: lab.yaml:")
    (warning,) = json.loads(tailrace("check", "lab.yaml", "--json").out)["warnings"]
    assert (warning["path"], "ignores its pauses" in warning["what"]) == ("hosts.a.nic.pfc", True)
    assert "ignores its pauses" in tailrace("run", "lab.yaml", "--dry-run").err
