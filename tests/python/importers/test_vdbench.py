"""vdbench parameter files: what becomes of devices, workloads, runs and loops, and which files are
refused."""

from pathlib import Path
from typing import Any

import pytest

from tailrace.errors import ScenarioError
from tailrace.importers.storage.scenario import Setting, StorageScenario, protocols
from tailrace.importers.vdbench.importer import import_vdbench

BASE = "sd=sd1,lun=/dev/sdb,size=10g,threads=16\nwd=wd1,sd=sd1,xfersize=4k,rdpct=70\n"
RUN = "rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=5\n"


def imported(text: str, file: Path = Path("test.vdb"), **setting: Any) -> StorageScenario:
    scenario, remarks = import_vdbench(text, file, Setting(**setting))
    assert scenario is not None, remarks.found
    return scenario


def fates(text: str) -> dict[str, tuple[str, str]]:
    _, remarks = import_vdbench(text, Path("test.vdb"), Setting())
    return {one.text: (one.verdict, one.words) for one in remarks.found}


def refusal(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        import_vdbench(text, Path("test.vdb"), Setting())
    return "\n".join(str(one) for one in caught.value.problems)


def test_devices_workloads_and_runs_become_a_scenario() -> None:
    data = imported(BASE + RUN).data()
    assert data["devices"] == {"sd1": {"preset": "sata-ssd"}}
    assert data["workloads"]["wd1"] == {
        "kind": "storage",
        "initiators": ["localhost"],
        "device": "sd1",
        "protocol": "local",
        "read": 70,
        "access": "random",
        "block": "4KiB",
        "depth": 16,
        "size": "10GiB",
    }
    assert data["experiment"] == {"duration": "1min", "warm_up": "5s"}


def test_keywords_may_be_shortened_as_in_vdbench() -> None:
    short = "sd=sd1,lu=/dev/sdb,si=10g,th=16\nwd=wd1,sd=sd1,xf=4k,rd=70\nrd=rd1,wd=wd1,io=max,el=60,in=5\n"  # noqa: E501
    assert imported(short.replace("rd=70", "rdp=70")).data() == imported(BASE + RUN).data()


def test_defaults_apply_to_what_follows() -> None:
    text = (
        "sd=default,size=1g,threads=2\n"
        + BASE.replace(",size=10g,threads=16", "")
        + "wd=default,rdpct=0\n"
        + RUN
    )
    keys = imported(text).workloads["wd1"]
    assert (keys["size"], keys["depth"], keys["read"]) == ("1GiB", 2, 70)


def test_a_run_of_devices_without_a_workload_has_that_of_the_defaults() -> None:
    # RD_entry.java, `selectWhichWdsToUse`: the last wd=default.
    text = (
        "sd=sd1,lun=/dev/sdb,size=10g,openflags=o_direct\nwd=default,xfersize=8k,rdpct=20\n"
        "rd=r1,sd=sd*,rdpct=70,seekpct=100,iorate=5500,elapsed=60,interval=5,threads=32\n"
    )
    scenario = imported(text)
    assert scenario.workloads == {
        "rd-r1": {
            "kind": "storage",
            "initiators": ["localhost"],
            "device": "sd1",
            "protocol": "local",
            "read": 70,
            "access": "random",
            "block": "8KiB",
            "depth": 32,
            "size": "10GiB",
            "arrivals": "exponential(181818182ps)",
        }
    }
    assert fates(text)["rd=r1"][0] == "understood"
    assert "the run names no workload definition" in refusal(BASE + "rd=r1,iorate=max\n")


def test_values_of_a_loop_that_mean_the_same_are_one_point() -> None:
    text = BASE + "wd=wd2,sd=sd1\nrd=rd1,wd=*,iorate=max,threads=(1,2,8)\n"
    scenario = imported(text)
    assert scenario.axes["workloads.wd1.depth"] == [1, 4]


def test_an_area_has_a_block_of_each_stream() -> None:
    scenario = imported(
        BASE.replace("10g", "4k").replace("xfersize=4k", "xfersize=64k,streams=4") + RUN
    )
    assert scenario.workloads["wd1"]["size"] == "256KiB"


def test_warm_up_comes_before_the_elapsed_time() -> None:
    scenario = imported(BASE + RUN.replace("interval=5", "interval=5,warmup=2m"))
    assert scenario.data()["experiment"] == {"duration": "3min", "warm_up": "2min"}


def test_a_rate_is_shared_by_skew_devices_and_hosts_with_exponential_gaps() -> None:
    text = (
        "hd=a,system=a1\nhd=b,system=b1\n"
        "sd=sd1,lun=/dev/sdb\nsd=sd2,lun=/dev/sdc\n"
        "wd=wd1,sd=sd1,skew=20\nwd=wd2,sd=sd2\n"
        "rd=rd1,wd=wd*,iorate=1000\n"
    )
    scenario = imported(text)
    assert scenario.hosts == ["a", "b"]
    # 20 % of 1000/s on two hosts are 100/s each; the rest is 400/s each.
    assert scenario.workloads["wd1"]["arrivals"] == "exponential(10ms)"
    assert scenario.workloads["wd2"]["arrivals"] == "exponential(2500us)"


def test_a_workload_with_a_rate_of_its_own_leaves_the_rest_to_the_others() -> None:
    text = "sd=sd1,lun=/dev/sdb\nsd=sd2,lun=/dev/sdc\nwd=a,sd=sd1,iorate=200,priority=1\nwd=b,sd=sd2,skew=100\n"  # noqa: E501
    scenario = imported(text + "rd=rd1,wd=*,iorate=1000\n")
    assert [keys["arrivals"] for keys in scenario.workloads.values()] == [
        "exponential(5ms)",
        "exponential(1250us)",
    ]


@pytest.mark.parametrize(
    ("word", "arrivals"),
    [
        ("deterministic", "1ms"),
        ("uniform", "uniform(0s, 2ms)"),
        ("exponential", "exponential(1ms)"),
    ],
)
def test_the_distribution_of_gaps_is_read(word: str, arrivals: str) -> None:
    text = BASE + RUN.replace("iorate=max", f"iorate=1000,distribution={word}")
    assert imported(text).workloads["wd1"]["arrivals"] == arrivals


def test_loops_of_one_run_become_a_sweep_in_their_order() -> None:
    scenario = imported(BASE + RUN.replace("\n", ",forxfersize=(4k-16k,d),forthreads=(1,8)\n"))
    assert scenario.axes == {
        "workloads.wd1.block": ["4KiB", "4KiB", "8KiB", "8KiB", "16KiB", "16KiB"],
        "workloads.wd1.depth": [1, 8, 1, 8, 1, 8],
    }
    assert not scenario.arms


def test_a_loop_over_rates_with_a_maximum_becomes_arms_because_a_point_has_no_value_for_it() -> (
    None
):
    scenario = imported(BASE + RUN.replace("iorate=max", "iorate=(1000,max)"))
    assert scenario.workloads["wd1"]["arrivals"] == "exponential(1ms)"
    assert scenario.arms == {"rd1-rate1000": {}, "rd1-max": {"workloads.wd1.arrivals": None}}


def test_several_runs_become_arms_that_say_what_differs() -> None:
    text = (
        BASE
        + "wd=wd2,sd=sd1,rdpct=0,seekpct=seq\n"
        + RUN
        + "rd=rd2,wd=wd2,iorate=(100,max),elapsed=30\n"
    )
    scenario = imported(text.replace("(100,max)", "(100,200)"))
    assert scenario.arms["rd1"] == {}
    assert scenario.arms["rd2-rate100"] == {
        "workloads.wd1.enabled": False,
        "workloads.wd2.enabled": True,
        "experiment.duration": "30s",
        "experiment.warm_up": "1s",
    }
    assert scenario.arms["rd2-rate200"]["workloads.wd2.arrivals"] == "exponential(5ms)"


def test_blocks_may_have_several_sizes() -> None:
    pairs = imported(BASE.replace("xfersize=4k", "xfersize=(4k,85,8k,15)") + RUN).workloads["wd1"][
        "block"
    ]
    assert pairs == {"cdf": [["4KiB", "85%"], ["8KiB", "85%"], ["8KiB", "100%"]]}
    steps = imported(BASE.replace("xfersize=4k", "xfersize=(4k,12k,4k)") + RUN).workloads["wd1"][
        "block"
    ]
    assert [row[0] for row in steps["cdf"]] == ["4KiB", "8KiB", "8KiB", "12KiB", "12KiB"]


@pytest.mark.parametrize(
    ("seek", "access"),
    [("seq", "sequential"), ("0", "sequential"), ("rand", "random"), ("60", {"random": 60})],
)
def test_seeks_become_access(seek: str, access: Any) -> None:
    assert (
        imported(BASE.replace("rdpct", f"seekpct={seek},rdpct") + RUN).workloads["wd1"]["access"]
        == access
    )


def test_equal_devices_of_different_hosts_are_one_workload() -> None:
    devices = "".join(f"hd=h{n},system=s{n}\n" for n in range(3))
    devices += "".join(f"sd=sd{n},host=h{n},lun=/dev/sdb\n" for n in range(3))
    scenario = imported(devices + "wd=wd1,sd=sd*\n" + RUN)
    assert [keys["initiators"] for keys in scenario.workloads.values()] == [["h0", "h1", "h2"]]
    assert list(scenario.devices) == ["sd0"]


@pytest.mark.parametrize("protocol", protocols())
def test_every_protocol_of_the_kind_gives_a_valid_scenario(protocol: str) -> None:
    scenario = imported("hd=a,system=x\nhd=b,system=y\n" + BASE + RUN, protocol=protocol)
    assert scenario.workloads["wd1"].get("target") == (None if protocol == "local" else "storage")
    assert scenario.data()["network"]["topology"]["hosts"] == ["a", "b"] + ["storage"] * (
        protocol != "local"
    )


def test_host_names_and_numbers_repeat_a_definition() -> None:
    text = (
        "hd=one,system=a\nhd=two,system=b\nsd=sd$host,host=$host,lun=/dev/disk#host,\nthreads=4\nwd=wd1,sd=*\n"
        + RUN
    )
    assert imported(text).workloads["wd1"]["initiators"] == ["one", "two"]


def test_two_workloads_of_one_device_share_its_threads_and_the_drive() -> None:
    text = BASE + "wd=wd2,sd=sd1,rdpct=0\n" + RUN.replace("wd=wd1", "wd=wd*")
    scenario = imported(text)
    assert [keys["depth"] for keys in scenario.workloads.values()] == [8, 8]
    assert [keys["device"] for keys in scenario.workloads.values()] == ["sd1", "sd1"]
    assert list(scenario.devices) == ["sd1"]


def test_a_range_is_an_area_with_its_beginning() -> None:
    keys = imported(BASE.replace("threads=16", "threads=16,range=(50,75)") + RUN).workloads["wd1"]
    whole = imported(BASE + RUN).workloads["wd1"]
    assert (keys["offset"], keys["size"]) == ("5GiB", "2560MiB")
    assert "offset" not in whole


def test_hosts_of_one_device_share_its_threads() -> None:
    hosts = "".join(f"hd=h{number},system=s\n" for number in range(4))
    assert imported(hosts + BASE + RUN).workloads["wd1"]["depth"] == 4
    assert (
        imported(hosts + BASE.replace("threads=16", "threads=2") + RUN).workloads["wd1"]["depth"]
        == 1
    )


def test_a_sequential_workload_runs_on_one_host_of_its_device() -> None:
    text = "hd=a,system=s\nhd=b,system=s\n" + BASE.replace("rdpct", "seekpct=seq,rdpct") + RUN
    keys = imported(text.replace("iorate=max", "iorate=1000")).workloads["wd1"]
    assert (keys["initiators"], keys["depth"], keys["arrivals"]) == (["a"], 16, "exponential(1ms)")


def test_comments_continuations_quotes_and_the_end_are_those_of_vdbench() -> None:
    text = (
        "* comment\n/ comment\n# comment\n"
        'sd=sd1,lun="/dev/disk/by-id/a b,c",\n   size=10g,threads=16 a remark\n'
        "wd=wd1,sd=sd1,\nxfersize=4k,rdpct=70\n" + RUN + "eof\nrubbish\n"
    )
    assert imported(text).data() == imported(BASE + RUN).data()


def test_an_included_file_is_read_and_its_lines_are_named(tmp_path: Path) -> None:
    (tmp_path / "disks").write_text(BASE.splitlines()[0] + "\n")
    main = tmp_path / "main.vdb"
    scenario, remarks = import_vdbench(
        "include=disks\n" + BASE.splitlines()[1] + "\n" + RUN, main, Setting()
    )
    assert scenario is not None
    assert scenario.data()["workloads"] == imported(BASE + RUN).data()["workloads"]
    assert any(one.line == 1 and one.text.endswith("disks:1: threads=16") for one in remarks.found)


def test_an_include_of_itself_is_refused(tmp_path: Path) -> None:
    main = tmp_path / "main.vdb"
    main.write_text("include=other\n")
    (tmp_path / "other").write_text("include=main.vdb\n")
    with pytest.raises(ScenarioError, match="includes itself"):
        import_vdbench(main.read_text(), main, Setting())


def test_variables_come_from_the_command_line() -> None:
    text = BASE.replace("size=10g", "size=$area") + RUN
    assert imported(text, variables={"area": "10g"}).data() == imported(BASE + RUN).data()
    assert "test.vdb:1: area: the variable 'area' has no value" in refusal(text)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "sd=sd1,xfersize",
            "sd=sd9,xfersize",
            "test.vdb:2: sd: there is no storage definition 'sd9' (hint: did you mean 'sd1'?)",
        ),
        ("rdpct=70", "rdpct=101", "test.vdb:2: rdpct: 101 is not a percentage"),
        (
            "xfersize=4k",
            "xfersize=1000",
            "test.vdb:2: xfersize: 1000 bytes are not a multiple of a sector of 512 bytes",
        ),
        (
            "xfersize=4k",
            "xfersize=(4k,10,8k,10)",
            "test.vdb:2: xfersize: pairs of size and percent",
        ),
        ("wd=wd1,iorate", "wd=wd7,iorate", "test.vdb:3: wd: there is no workload definition 'wd7'"),
        ("iorate=max,", "", "test.vdb:3: rd=rd1: the run has no iorate"),
        ("iorate=max", "iorate=fast", "test.vdb:3: iorate: 'fast' is no rate"),
        ("threads=16", "threads=0", "test.vdb:1: threads: 0 threads are out of range"),
        ("threads=16", "threads=many", "test.vdb:1: threads: 'many' is not a number"),
        ("size=10g", "host=nowhere", "test.vdb:1: host: there is no host 'nowhere'"),
        (
            "wd=wd1,sd=sd1",
            "wd=wd1,sd=sd1\nwd=wd1,sd=sd1",
            "test.vdb:3: wd=wd1: this name is defined twice",
        ),
        ("elapsed=60", "elapsed=0", "test.vdb:3: elapsed: elapsed=0 is out of range"),
        (
            "elapsed=60",
            "forthreads=(1-9)",
            "test.vdb:3: forthreads: the range forthreads=(1-9) has no usable step",
        ),
    ],
)
def test_bad_input_is_refused_with_file_line_fault_and_hint(
    old: str, new: str, problem: str
) -> None:
    text = BASE + RUN
    assert old in text
    said = refusal(text.replace(old, new, 1))
    assert problem in said
    assert "(hint: " in said


def test_what_has_no_counterpart_is_named() -> None:
    text = (
        "compratio=2\n" + BASE.replace("rdpct=70", "rdpct=70,rhpct=50,stride=(1k,2k)")
    ) + RUN.replace("iorate=max", "iorate=curve,stopcurve=5,frobnicate=7")
    told = fates(text)
    assert told["compratio=2"][0] == "no-effect"
    assert told["rhpct=50"][0] == "not-modelled"
    assert told["stride=(1k,2k)"][0] == "not-modelled"
    assert told["iorate=curve"][0] == "not-modelled"
    assert told["frobnicate=7"][0] == "not-understood"


def test_file_systems_are_not_modelled_and_leave_nothing() -> None:
    text = "fsd=fsd1,anchor=/a,depth=1,width=1,files=1,size=1m\nfwd=fwd1,fsd=fsd1,operation=read\n"
    text += "rd=rd1,fwd=fwd1,fwdrate=max\n"
    scenario, remarks = import_vdbench(text, Path("test.vdb"), Setting())
    assert scenario is None
    assert {one.verdict for one in remarks.found if one.line < 3} == {"not-modelled"}
    assert sum(one.line == 1 for one in remarks.found) == 6


def test_every_piece_has_a_fate() -> None:
    text = BASE + RUN
    _, remarks = import_vdbench(text, Path("test.vdb"), Setting())
    for number, line in enumerate(text.splitlines(), start=1):
        told = {one.text for one in remarks.found if one.line == number}
        assert told == set(line.split(",")), number
