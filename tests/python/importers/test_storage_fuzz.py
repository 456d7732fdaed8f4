"""Arbitrary text imports, has nothing to import, or is refused with problems; nothing else is raised."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import cases
from tailrace.errors import ScenarioError
from tailrace.importers.fio.importer import import_fio
from tailrace.importers.storage.scenario import Setting
from tailrace.importers.vdbench.importer import import_vdbench

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
        *("sd", "wd", "rd", "hd", "fsd", "fwd", "rg", "lun", "size", "threads", "xfersize", "rdpct", "seekpct"),
        *("skew", "range", "iorate", "elapsed", "interval", "warmup", "forxfersize", "forthreads", "forrdpct"),
        *("host", "system", "count", "streams", "distribution", "include", "curve", "th", "xf", "el", "in"),
        *("io", "fo", "default", "hitarea", "rhpct"),
    ]
)
FIO_KEYS = st.sampled_from(
    [
        *("rw", "bs", "bsrange", "bssplit", "iodepth", "numjobs", "rate", "rate_iops", "runtime", "time_based"),
        *("ramp_time", "startdelay", "thinktime", "size", "io_size", "filesize", "rwmixread"),
        *("random_distribution", "percentage_random", "direct", "sync", "fsync", "ioengine", "filename"),
        *("kb_base", "stonewall", "name", "number_ios", "loops", "include", "thinktime_blocks", "zonemode"),
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
