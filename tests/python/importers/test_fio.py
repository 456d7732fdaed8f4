"""fio job files: what becomes of jobs, groups and options, and which files are refused."""

from pathlib import Path
from typing import Any

import pytest

from tailrace.errors import ScenarioError
from tailrace.importers.fio.importer import import_fio
from tailrace.importers.fio.units import size_of, time_of
from tailrace.importers.storage.scenario import Setting, StorageScenario, protocols

GLOBAL = (
    "[global]\nioengine=libaio\ndirect=1\nfilename=/dev/sdb\nsize=10g\nruntime=60\ntime_based\n"
)
JOB = "[db]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=16\nnumjobs=4\n"


def imported(text: str, **setting: Any) -> StorageScenario:
    scenario, remarks = import_fio(text, Path("test.fio"), Setting(**setting))
    assert scenario is not None, remarks.found
    return scenario


def job(extra: str = "", base: str = GLOBAL + JOB) -> dict[str, Any]:
    return imported(base + extra).workloads["db"]


def fates(text: str) -> dict[str, tuple[str, str]]:
    _, remarks = import_fio(text, Path("test.fio"), Setting())
    return {one.text: (one.verdict, one.words) for one in remarks.found}


def refusal(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        import_fio(text, Path("test.fio"), Setting())
    return "\n".join(str(one) for one in caught.value.problems)


def test_a_job_becomes_a_workload() -> None:
    data = imported(GLOBAL + JOB).data()
    assert data["devices"] == {"sdb": {"preset": "sata-ssd"}}
    assert data["workloads"] == {
        "db": {
            "kind": "storage",
            "initiators": ["host"],
            "device": "sdb",
            "protocol": "local",
            "read": 70,
            "access": "random",
            "block": "4KiB",
            "depth": 16,
            "jobs": 4,
            "size": "10GiB",
        }
    }
    assert data["experiment"] == {"duration": "1min"}


def test_a_job_ends_after_its_size_unless_it_is_time_based() -> None:
    base = GLOBAL.replace("time_based\n", "") + JOB
    assert job(base=base)["bytes"] == "10GiB"
    assert job("io_size=1g\nloops=3\n", base)["bytes"] == "3GiB"
    assert job("number_ios=1000\n", base)["requests"] == 1000


def test_stonewall_makes_arms() -> None:
    scenario = imported(
        GLOBAL + JOB + "[log]\nstonewall\nrw=write\nbs=64k\nruntime=30\nramp_time=5\n"
    )
    assert scenario.arms == {
        "db": {},
        "log": {
            "workloads.db.enabled": False,
            "workloads.log.enabled": True,
            "experiment.duration": "35s",
            "experiment.warm_up": "5s",
        },
    }


def test_equal_jobs_of_a_group_become_one_workload() -> None:
    scenario = imported(
        GLOBAL + "[a]\nrw=randread\nrate_iops=100\n[b]\nrw=randread\nrate_iops=300\n"
    )
    assert [(keys["jobs"], keys["arrivals"]) for keys in scenario.workloads.values()] == [
        (2, "2500us")
    ]


def test_jobs_that_differ_share_the_drive_of_their_file() -> None:
    text = GLOBAL + "[a]\nrw=randread\n[b]\nrw=write\n"
    assert [keys["device"] for keys in imported(text).workloads.values()] == ["sdb", "sdb"]
    assert "workloads.b" not in fates(text), "nothing is lost that a remark would have to name"


@pytest.mark.parametrize(
    ("rw", "read", "access"),
    [
        ("read", 100, "sequential"),
        ("write", 0, "sequential"),
        ("randwrite", 0, "random"),
        ("readwrite", 50, "sequential"),
        ("randread:8", 100, {"random": 12.5}),
    ],
)
def test_directions(rw: str, read: int, access: Any) -> None:
    keys = job(base=GLOBAL + f"[db]\nrw={rw}\n")
    assert (keys["read"], keys["access"]) == (read, access)


@pytest.mark.parametrize(
    ("options", "block"),
    [
        ("bssplit=4k/60:64k/40", {"cdf": [["4KiB", "60%"], ["64KiB", "60%"], ["64KiB", "100%"]]}),
        ("bssplit=4k/60:64k/", {"cdf": [["4KiB", "60%"], ["64KiB", "60%"], ["64KiB", "100%"]]}),
        ("bsrange=4k-8k", {"cdf": [["4KiB", "50%"], ["8KiB", "50%"], ["8KiB", "100%"]]}),
        ("bs=4k,8k", {"cdf": [["4KiB", "70%"], ["8KiB", "70%"], ["8KiB", "100%"]]}),
        ("kb_base=1000\nbs=4ki", "4KiB"),
    ],
)
def test_blocks(options: str, block: Any) -> None:
    assert job(base=GLOBAL + JOB.replace("bs=4k", options))["block"] == block


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        (
            "rate_iops=1000",
            "arrivals",
            "175us",
        ),  # 700 of 1000 requests read: 1000 reads are 1429 requests, of each of 4 jobs
        ("rate_iops=1000\nrate_process=poisson", "arrivals", "exponential(175us)"),
        (
            "rate=4m,8m",
            "arrivals",
            "170898438ps",
        ),  # 1024 reads of 4 KiB are 1463 requests of each of 4 jobs
        ("rate_iops=1000,100", "arrivals", "750us"),
        ("thinktime=200", "think", "200us"),
        ("thinktime=1ms", "think", "1ms"),
        ("fsync=32", "flush_every", 32),
        ("sync=1", "flush_every", 1),
        ("startdelay=5", "start", "5s"),
        ("random_distribution=zipf:1.2", "access", {"zipf": 1.2}),
        ("percentage_random=40", "access", {"random": 40}),
        ("percentage_sequential=40", "access", {"random": 60}),
        ("rwmixwrite=80", "read", 20),  # after rwmixread=70: the last of the two counts
        ("rwmixwrite=80\nrwmixread=40", "read", 40),
        ("ioengine=psync", "depth", 1),
    ],
)
def test_options(options: str, key: str, value: Any) -> None:
    assert job(options + "\n")[key] == value


SPDK = "[global]\nioengine=spdk_bdev\nthread=1\ndirect=1\niodepth=128\nrw=randrw\nbs=4k\nruntime=10\ntime_based\n"  # noqa: E501


def test_an_engine_of_spdk_has_its_depth_at_its_own_device() -> None:
    scenario = imported(SPDK + "[a]\nfilename=Nvme0n1\n[b]\nfilename=Malloc0\n")
    assert scenario.devices == {"Nvme0n1": {"preset": "nvme"}, "Malloc0": {"preset": "memory"}}
    keys = scenario.workloads["a"]
    assert (keys["protocol"], keys["depth"], keys["read"], keys["block"]) == (
        "local",
        128,
        50,
        "4KiB",
    )


@pytest.mark.parametrize(
    ("transport", "protocol", "device"),
    [
        ("trtype=PCIe traddr=0000.04.00.0 ns=1", "local", "nvme-0000-04-00-0"),
        (
            "trtype=TCP adrfam=IPv4 traddr=192.168.1.50 trsvcid=4420 ns=1",
            "nvme-tcp",
            "nvme-192-168-1-50",
        ),
        (
            "trtype=RDMA adrfam=IPv4 traddr=192.168.1.50 trsvcid=4420 ns=1",
            "local",
            "nvme-192-168-1-50",
        ),
    ],
)
def test_a_transport_of_spdk_is_the_protocol(transport: str, protocol: str, device: str) -> None:
    text = SPDK.replace("spdk_bdev", "spdk") + f"[a]\nfilename={transport}\n"
    keys = imported(text).workloads["a"]
    assert (keys["protocol"], keys["device"], keys.get("target")) == (
        protocol,
        device,
        "storage" if protocol == "nvme-tcp" else None,
    )
    assert (fates(text)[f"filename={transport}"][0] == "not-modelled") == ("RDMA" in transport)


@pytest.mark.parametrize(
    "engine", ["external:/opt/spdk/build/fio/spdk_nvme", "/opt/engine.so", "aio", "linuxaio"]
)
def test_an_engine_of_another_file_and_the_old_names_of_libaio_keep_their_depth(
    engine: str,
) -> None:
    assert job(base=GLOBAL.replace("libaio", engine) + JOB)["depth"] == 16


@pytest.mark.parametrize(
    ("rw", "bs", "block"),
    [
        # fio 3.33 prints R 4096B, W 512KiB for 4k-512k: `bs` is no range.
        ("randwrite", "4k-512k", "512KiB"),
        ("randread", "4k-512k", "4KiB"),
        ("randwrite", "4k:64k", "64KiB"),
        ("randwrite", "4k,8k-64k", "8KiB"),
        ("randwrite", "4k-8k,16k-32k", "16KiB"),
        ("randread", "4k-8k,16k-32k", "4KiB"),
    ],
)
def test_a_dash_in_bs_separates_reads_and_writes(rw: str, bs: str, block: str) -> None:
    assert job(base=GLOBAL + f"[db]\nrw={rw}\nbs={bs}\n")["block"] == block


@pytest.mark.parametrize(
    ("options", "kept", "left_out", "remark"),
    [
        ("rate_iops=100\nthinktime=1ms\n", "arrivals", "think", "thinktime=1ms"),
        ("rate_iops=100\nthinktime=50ms\n", "think", "arrivals", "rate_iops=100"),
        (
            "rate_iops=100\nthinktime=50ms\nthinktime_blocks=10\n",
            "arrivals",
            "think",
            "thinktime=50ms",
        ),
    ],
)
def test_of_a_rate_and_pauses_the_slower_one_is_kept(
    options: str, kept: str, left_out: str, remark: str
) -> None:
    base = GLOBAL + JOB.replace("randrw", "randread")
    keys = job(options, base)
    assert kept in keys
    assert left_out not in keys
    assert remark in fates(base + options)


def test_an_area_has_a_block_of_each_job_and_fio_refuses_less_than_one() -> None:
    base = GLOBAL.replace("10g", "128k") + JOB.replace("bs=4k", "bs=64k")
    assert job(base=base)["size"] == "256KiB"
    assert "less than the smallest block of 65536 bytes" in refusal(base.replace("128k", "4k"))


def test_a_late_start_is_before_the_end_in_every_arm() -> None:
    scenario = imported(
        "[global]\nfilename=/dev/sdb\nruntime=5\n[a]\nrw=read\nstartdelay=9\n[b]\nstonewall\nrw=write\n[c]\nstonewall\n"
        "startdelay=300\nrw=write\n"
    )
    assert [arm.get("workloads.a.start") for arm in scenario.arms.values()] == [None, "0s", "0s"]
    assert imported("[a]\nfilename=/dev/sdb\nstartdelay=300\n").data()["experiment"] == {
        "duration": "6min"
    }


def test_variables_without_a_value_are_listed_with_a_command_that_works(tmp_path: Path) -> None:
    text = "[a]\nioengine=libaio\nfilename=/dev/sdb\nrw=${RW}\nbs=${BS}\niodepth=${DEPTH}\n"
    said = refusal(text)
    assert (
        "test.fio:4: variables: without a value: RW, BS, DEPTH (hint: with values of yours: "
        "tailrace import fio" in said
    )
    words = said.partition("tailrace import fio test.fio ")[2].partition(")")[0].split()
    variables = dict(one.split("=") for one in words if one != "--define")
    assert imported(text, variables=variables).workloads["a"]["depth"] == 16


def test_clients_are_the_initiators_and_a_protocol_has_a_target() -> None:
    scenario = imported(GLOBAL + JOB, clients=["n1", "n2"])
    assert scenario.workloads["db"]["initiators"] == ["n1", "n2"]
    assert scenario.data()["network"]["topology"]["hosts"] == ["n1", "n2"]


@pytest.mark.parametrize(("engine", "protocol"), [("nbd", "nbd"), ("libiscsi", "iscsi")])
def test_engines_of_a_network_reach_a_target_if_the_kind_has_their_protocol(
    engine: str, protocol: str
) -> None:
    text = f"[a]\nioengine={engine}\nrw=randread\n"
    keys = imported(text).workloads["a"]
    if protocol in protocols():
        assert (keys["protocol"], keys["target"]) == (protocol, "storage")
    else:
        assert keys["protocol"] == "local"
        assert fates(text)[f"ioengine={engine}"][0] == "not-modelled"


def test_variables_includes_and_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPTH", "16")
    (tmp_path / "more.fio").write_text("numjobs=${JOBS} ; four of them\n")
    text = GLOBAL + JOB.replace("iodepth=16", "iodepth=${DEPTH} # from the environment").replace(
        "numjobs=4", "include more.fio"
    )
    scenario, _ = import_fio(text, tmp_path / "main.fio", Setting(variables={"JOBS": "4"}))
    assert scenario is not None
    assert scenario.workloads == imported(GLOBAL + JOB).workloads


def test_an_include_of_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "more.fio").write_text("include more.fio\n")
    with pytest.raises(ScenarioError, match="includes itself"):
        import_fio("[global]\ninclude more.fio\n", tmp_path / "main.fio", Setting())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "ioengine=libaio",
            "ioengine=libaoi",
            "test.fio:2: ioengine: fio has no engine 'libaoi' (hint: did you mean 'libaio'?)",
        ),
        ("rw=randrw", "rw=sideways", "test.fio:9: rw: 'sideways' is no direction"),
        (
            "bs=4k",
            "bs=1000",
            "test.fio:11: bs: 1000 bytes are not a multiple of a sector of 512 bytes, which "
            "direct=1 needs",
        ),
        (
            "bs=4k",
            "bssplit=4k/60:64k/60",
            "test.fio:11: bssplit: the percentages of 4k/60:64k/60 do not add up",
        ),
        (
            "rwmixread=70",
            "rwmixread=101",
            "test.fio:10: rwmixread: rwmixread=101 is not a whole number from 0 to 100",
        ),
        (
            "iodepth=16",
            "iodepth=${NO_SUCH_DEPTH}",
            "test.fio:12: iodepth: iodepth=${NO_SUCH_DEPTH} is empty",
        ),
        ("runtime=60", "runtime=soon", "test.fio:6: runtime: runtime=soon is not a time"),
        ("[global]\n", "", "test.fio:1: 'ioengine=libaio' stands before the first section"),
        ("[db]", "[db", "test.fio:8: '[db' is not the head of a section"),
        (
            "bs=4k",
            "random_distribution=zipf:1",
            "test.fio:11: random_distribution: zipf:1 has no usable exponent",
        ),
    ],
)
def test_bad_input_is_refused_with_file_line_fault_and_hint(
    old: str, new: str, problem: str
) -> None:
    text = GLOBAL + JOB
    assert old in text
    said = refusal(text.replace(old, new, 1))
    assert problem in said
    assert "(hint: " in said


@pytest.mark.parametrize("engine", ["net", "rados", "cpuio", "filecreate"])
def test_engines_without_a_device_are_left_out_with_a_remark(engine: str) -> None:
    scenario, remarks = import_fio(
        f"[a]\nioengine={engine}\nrw=read\n", Path("test.fio"), Setting()
    )
    assert scenario is None
    assert {one.verdict for one in remarks.found} == {"not-modelled"}


def test_what_has_no_counterpart_is_named() -> None:
    told = fates(
        GLOBAL.replace("direct=1", "direct=0")
        + JOB
        + "zonemode=zbd\nverify=crc32c\nfrobnicate=7\nhipri\n"
    )
    assert told["direct=0"][0] == "not-modelled"
    assert told["zonemode=zbd"][0] == "not-modelled"
    assert told["verify=crc32c"][0] == "no-effect"
    assert told["hipri"][0] == "no-effect"
    assert told["frobnicate=7"][0] == "not-understood"


def test_every_line_has_a_fate() -> None:
    text = GLOBAL + JOB
    _, remarks = import_fio(text, Path("test.fio"), Setting())
    told = {(one.line, one.text) for one in remarks.found}
    lines = {
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line != "[global]"
    }
    assert lines <= told


@pytest.mark.parametrize(
    ("text", "base", "size_bytes"),
    [
        ("4k", 1024, 4096),
        ("4ki", 1024, 4000),
        ("4k", 1000, 4000),
        ("4KiB", 1000, 4096),
        ("0x1000", 1024, 4096),
        ("(2*8k)", 1024, 16384),
        ("(8k+3*512%1000)", 1024, 8192 + 536),
    ],
)
def test_sizes(text: str, base: int, size_bytes: int) -> None:
    assert size_of(text, base) == size_bytes


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("2m", 120), ("1h", 3600), ("500ms", 0.5), ("(3*1000000)", 3)]
)
def test_times(text: str, seconds: float) -> None:
    assert time_of(text) == seconds
