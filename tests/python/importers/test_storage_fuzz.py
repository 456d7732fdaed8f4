"""Arbitrary text imports, has nothing to import, or is refused with problems; nothing else is
raised."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from counts import cases
from tailrace.errors import Problem, ScenarioError
from tailrace.importers.fio.importer import import_fio
from tailrace.importers.storage.scenario import Setting
from tailrace.importers.vdbench.importer import import_vdbench
from tailrace.scenario.loading import load_scenario

EXAMPLES = cases(150, 50)
VALUES = st.sampled_from(
    [
        "",
        "0",
        "1",
        "-1",
        "4k",
        "512",
        "1000",
        "101",
        "99999999999999999999",
        "1e9",
        "max",
        "curve",
        "(1-64,d)",
        "(4k,50,8k,50)",
        "(",
        ")",
        "((",
        "*",
        "sd1",
        "wd1",
        "h1",
        "/dev/sdb",
        '"a b',
        "50%",
        "1m",
        "é",
        "\x00",
        "(1-9)",
        "d",
        "random",
        "eof",
        "$x",
        "${x}",
    ]
)
VDBENCH_KEYS = st.sampled_from(
    [
        *(
            "sd",
            "wd",
            "rd",
            "hd",
            "fsd",
            "fwd",
            "rg",
            "lun",
            "size",
            "threads",
            "xfersize",
            "rdpct",
            "seekpct",
        ),
        *(
            "skew",
            "range",
            "iorate",
            "elapsed",
            "interval",
            "warmup",
            "forxfersize",
            "forthreads",
            "forrdpct",
        ),
        *(
            "host",
            "system",
            "count",
            "streams",
            "distribution",
            "include",
            "curve",
            "th",
            "xf",
            "el",
            "in",
        ),
        *("io", "fo", "default", "hitarea", "rhpct"),
    ]
)
FIO_KEYS = st.sampled_from(
    [
        *(
            "rw",
            "bs",
            "bsrange",
            "bssplit",
            "iodepth",
            "numjobs",
            "rate",
            "rate_iops",
            "runtime",
            "time_based",
        ),
        *("ramp_time", "startdelay", "thinktime", "size", "io_size", "filesize", "rwmixread"),
        *(
            "random_distribution",
            "percentage_random",
            "direct",
            "sync",
            "fsync",
            "ioengine",
            "filename",
        ),
        *(
            "kb_base",
            "stonewall",
            "name",
            "number_ios",
            "loops",
            "include",
            "thinktime_blocks",
            "zonemode",
        ),
        *("verify", "nonsense"),
    ]
)
FIO_VALUES = VALUES | st.sampled_from(
    [
        "libaio",
        "net",
        "randrw",
        "trim",
        "randread:8",
        "zipf:1.2",
        "4k/60:64k/40",
        "4k-8k",
        "(2^99)",
        "((1",
        "4k,8k,",
        "10%",
        "5z",
        "1h",
    ]
)


@st.composite
def vdbench_files(draw: st.DrawFn) -> str:
    lines = ["sd=sd1,lun=/dev/sdb", "wd=wd1,sd=sd1", "rd=rd1,wd=wd1,iorate=max"]
    for _ in range(draw(st.integers(1, 6))):
        piece = f"{draw(VDBENCH_KEYS)}={draw(VALUES)}"
        at = draw(st.integers(0, len(lines)))
        if at < len(lines) and draw(st.booleans()):
            lines[at] += f",{piece}"
        else:
            lines.insert(at, piece)
    return "\n".join(lines)


@st.composite
def fio_files(draw: st.DrawFn) -> str:
    lines = ["[global]", "ioengine=libaio", "[a]", "rw=randread", "[b]", "rw=write"]
    for _ in range(draw(st.integers(1, 8))):
        lines.insert(draw(st.integers(0, len(lines))), f"{draw(FIO_KEYS)}={draw(FIO_VALUES)}")
    return "\n".join(lines)


FIO_SHAPES: dict[str, list[str]] = {
    "rw": ["read", "write", "randread", "randwrite", "randrw", "rw", "randread:8", "trim"],
    "ioengine": [
        "libaio",
        "aio",
        "psync",
        "io_uring",
        "null",
        "spdk",
        "spdk_bdev",
        "external:/opt/engine.so",
        "nbd",
    ],
    "filename": [
        "/dev/sdb",
        "/dev/nvme0n1:/dev/nvme1n1",
        "Nvme0n1",
        "trtype=PCIe traddr=0000.04.00.0 ns=1",
        "trtype=TCP adrfam=IPv4 traddr=192.168.1.50 trsvcid=4420 ns=1",
        "trtype=RDMA traddr=192.168.1.50 ns=1",
        "/tmp/file",
    ],
    "bs": ["4k", "4k-512k", "8k,16k", "512", "1m", "4k:64k"],
    "bsrange": ["4k-64k", "512-4k"],
    "bssplit": ["4k/60:64k/40", "4k/10:8k/:1m/", "512/1:1m/99"],
    "iodepth": ["1", "16", "128", "4096"],
    "numjobs": ["1", "4", "64", "2000"],
    "size": ["1g", "100%", "512", "10t", "0"],
    "io_size": ["4m", "2g"],
    "runtime": ["60", "5s", "10m"],
    "time_based": ["1", "0"],
    "ramp_time": ["5", "0"],
    "startdelay": ["2", "10-20", "300"],
    "rate": ["1m", "10m,5m", "100g", "1"],
    "rate_iops": ["1000", "500,100", "150000000", "1"],
    "rate_process": ["poisson", "linear"],
    "thinktime": ["1", "200", "1ms", "5s"],
    "thinktime_blocks": ["1", "16", "1000"],
    "fsync": ["1", "32"],
    "sync": ["1"],
    "number_ios": ["10", "100000"],
    "loops": ["3"],
    "direct": ["1", "0"],
    "rwmixread": ["0", "70", "100"],
    "random_distribution": ["zipf:1.2", "pareto:0.9", "random"],
    "percentage_random": ["40", "0"],
    "stonewall": ["1"],
    "kb_base": ["1000"],
}
"""Options and values as they stand in public job files."""
VDBENCH_SHAPES: dict[str, dict[str, list[str]]] = {
    "sd": {
        "lun": ["/dev/sdb", "/dev/nvme0n1"],
        "size": ["10g", "512"],
        "threads": ["1", "32"],
        "range": ["(10,20)"],
    },
    "wd": {
        "xfersize": ["4k", "(4k,60,8k,40)", "(512,64k,512)"],
        "rdpct": ["0", "70", "100"],
        "seekpct": ["0", "eof", "random"],
        "skew": ["0", "40"],
        "iorate": ["100"],
        "streams": ["4"],
        "rhpct": ["20"],
    },
    "rd": {
        "iorate": ["max", "5500", "curve", "(100-1000,100)", "(200000000,10)", "1"],
        "elapsed": ["60", "2", "10m"],
        "interval": ["5", "1", "100"],
        "warmup": ["10", "0"],
        "threads": ["32", "(1-64,d)"],
        "forxfersize": ["(4k,64k)"],
        "rdpct": ["70"],
        "sd": ["sd*", "sd1"],
        "wd": ["wd*", "wd1"],
        "distribution": ["d", "uniform"],
    },
}


@st.composite
def fio_jobs(draw: st.DrawFn) -> str:
    """Job files of options that public ones have, with any values of theirs together."""
    text = ""
    for head in ("global", *(f"job{number}" for number in range(draw(st.integers(1, 3))))):
        names = draw(st.lists(st.sampled_from(sorted(FIO_SHAPES)), max_size=9, unique=True))
        text += f"[{head}]\n" + "".join(
            f"{name}={draw(st.sampled_from(FIO_SHAPES[name]))}\n" for name in names
        )
    return text


@st.composite
def vdbench_runs(draw: st.DrawFn) -> str:
    """The same of parameter files."""
    text = ""
    for kind, keys in VDBENCH_SHAPES.items():
        for number in range(1, draw(st.integers(1, 2)) + 1):
            names = draw(st.lists(st.sampled_from(sorted(keys)), max_size=6, unique=True))
            names = [*({"sd": ["lun"], "wd": [], "rd": ["iorate"]}[kind]), *names]
            pairs = [f"{name}={draw(st.sampled_from(keys[name]))}" for name in dict.fromkeys(names)]
            text += ",".join([f"{kind}={kind}{number}", *pairs]) + "\n"
    return text


@given(fio=fio_jobs(), vdbench=vdbench_runs())
@settings(max_examples=EXAMPLES)
def test_what_an_import_writes_is_what_check_accepts(fio: str, vdbench: str) -> None:
    for importer, text in ((import_fio, fio), (import_vdbench, vdbench)):
        scenario = None
        refusals: tuple[Problem, ...] = ()
        try:
            scenario, _ = importer(text, Path("a.fio"), Setting())
        except ScenarioError as error:
            refusals = error.problems
        # The program itself refuses a file for these, not `check` the scenario.
        assert not any("cannot contain" in problem.what for problem in refusals), (text, refusals)
        if scenario is not None:
            load_scenario(YAML(typ="safe").load(scenario.text("a.fio")))


@pytest.mark.parametrize("importer", [import_vdbench, import_fio])
@given(text=st.text(max_size=300) | vdbench_files() | fio_files())
@settings(max_examples=EXAMPLES)
def test_any_text_is_imported_or_refused(importer, text: str) -> None:  # type: ignore[no-untyped-def]
    try:
        scenario, remarks = importer(text, Path("fuzz"), Setting())
    except ScenarioError:
        return
    assert remarks.found or scenario is None
    if scenario is not None:
        assert scenario.workloads
        scenario.text("fuzz")
