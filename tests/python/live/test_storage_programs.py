"""Programs of storage: what fio is asked, how its logs and reports are read, and servers of
devices."""

from pathlib import Path
from typing import Any

import pytest

from storage_of import planned, refusals, work, write_logs, write_report
from tailrace.live.trial.validity import reasons
from tailrace.outcome.types import Outcome
from tailrace.programs import fio, nbdkit, pattern, qemu_nbd, tgt
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import MeasuredInterval
from tailrace.programs.storage import Done, measured
from tailrace.scenario.live import Live
from whole import part

BEGUN_US = 1_000_000_000
MS_PS = 10**9


# --- what fio is asked ----------------------------------------------------------------------------


def settings(place: str = "nbd://10.77.0.3:10809/vdb", **keys: Any) -> dict[str, str]:
    lines = fio.job_file(work(**keys), place, 5).splitlines()
    assert lines[0] == "[global]"
    assert lines[-1] == "[vdb]"
    return dict(line.split("=", 1) for line in lines[1:-1])


def test_a_mixed_workload_has_its_shares_depth_and_parts() -> None:
    found = settings()
    told = {
        key: found[key]
        for key in ("ioengine", "uri", "rw", "rwmixread", "bs", "iodepth", "numjobs")
    }
    assert told == {
        "ioengine": "nbd",
        "uri": "nbd://10.77.0.3:10809/vdb",
        "rw": "randrw",
        "rwmixread": "70",
        "bs": "4096",
        "iodepth": "8",
        "numjobs": "2",
    }
    assert (found["size"], found["offset_increment"]) == (str(32 << 20), str(32 << 20)), (
        "a job has its own part"
    )
    assert (found["time_based"], found["runtime"]) == ("1", "65s"), "the trial ends it first"
    assert {"direct", "filename", "rate_iops", "fsync", "thinktime", "number_ios"}.isdisjoint(found)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"read_ppb": 10**9, "access": "sequential"}, {"rw": "read"}),
        ({"read_ppb": 0, "access": {"random": 10**9}}, {"rw": "randwrite"}),
        ({"access": {"random": 600_000_000}}, {"rw": "randrw", "percentage_random": "60"}),
        ({"access": {"zipf": 1100}}, {"rw": "randrw", "random_distribution": "zipf:1.1"}),
        ({"flush_every": 16}, {"fsync": "16"}),
        ({"think": {"constant": 5 * MS_PS}, "depth": 1}, {"thinktime": "5000us"}),
        ({"arrivals": {"constant": MS_PS}}, {"rate_iops": "350,150", "rate_process": "linear"}),
        (
            {"arrivals": {"exponential": {"mean": MS_PS}}},
            {"rate_iops": "350,150", "rate_process": "poisson"},
        ),
        ({"requests": 50}, {"number_ios": "50", "io_size": str(50 * 4096)}),
        ({"bytes": 10_000}, {"number_ios": "3"}),
        ({"protocol": "local", "target": None}, {"ioengine": "libaio", "direct": "1"}),
    ],
)
def test_every_key_of_the_workload_has_its_option(
    keys: dict[str, Any], expected: dict[str, str]
) -> None:
    found = settings(**keys)
    assert {key: found.get(key) for key in expected} == expected


def test_one_client_starts_the_servers_of_all_initiators() -> None:
    own = work()
    assert list(fio.client(own, Path("/x")).argv[3:]) == [
        "--client=sock:h1",
        "h1.fio",
        "--client=sock:h2",
        "h2.fio",
    ]
    server = fio.server(own, "h2", Path("/x"))
    assert (server.argv[1], server.host, server.cwd) == ("--server=sock:h2", "h2", "/x")


# --- logs and reports -----------------------------------------------------------------------------

LOGS = {
    ("h1", 1): [(1_001_100, 400_000, 0, 4096), (1_001_200, 500_000, 1, 4096)],
    ("h1", 2): [(1_001_300, 600_000, 0, 4096)],
    ("h2", 1): [(1_001_120, 700_000, 0, 4096)],
    ("h2", 2): [(1_003_500, 2_400_000_000, 1, 4096)],
}
JOBS = [("h1", 0, 1, 1), ("h1", 0, 1, 0), ("/run/x/h2", 0, 1, 0), ("h2", 0, 0, 1)]


def read_back(folder: Path) -> list[Done]:
    write_logs(folder, LOGS)
    return fio.requests(work(), folder)


def test_every_line_of_a_log_is_a_request(tmp_path: Path) -> None:
    whole = read_back(tmp_path)
    assert len(whole) == 5
    assert whole[0] == Done(0, 0, 1_001_100_000, 400_000, 0, 4096)
    assert whole[-1] == Done(1, 1, 1_003_500_000, 2_400_000_000, 1, 4096)
    (tmp_path / "requests_lat.1.log.h2").write_text("1001120, 70", encoding="ascii")
    with pytest.raises(
        ProgramError, match=r"requests_lat.1.log.h2: a line of the log is not whole"
    ):
        fio.requests(work(), tmp_path)


def test_a_report_is_json_after_lines_of_text(tmp_path: Path) -> None:
    whole = read_back(tmp_path)
    write_report(tmp_path, JOBS, before="<h1> vdb: (g=0): rw=randrw\n<h1> Starting 2 threads\n")
    told = fio.report(work(), tmp_path)
    fio.require_sound(work(), told, whole)
    assert fio.by_initiator(work(), told).splitlines() == [
        "h2: 1 requests/s; read 0.0 MB/s, mean 0.250 ms; write 0.0 MB/s, mean 0.250 ms",
        "h1: 2 requests/s; read 0.0 MB/s, mean 0.250 ms; write 0.0 MB/s, mean 0.250 ms",
    ]


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([("h1", 5, 1, 1), *JOBS[1:]], "the jobs on h1 ended with error 5"),
        (JOBS[:3], "1 of 2 jobs on h2 have results"),
        ([("h1", 0, 2, 1), *JOBS[1:]], "h1 did 4 requests, and its logs have 3"),
    ],
)
def test_a_report_that_differs_from_the_logs_fails_the_trial(
    tmp_path: Path, jobs: list[tuple[str, int, int, int]], message: str
) -> None:
    whole = read_back(tmp_path)
    write_report(tmp_path, jobs)
    with pytest.raises(ProgramError, match=message):
        fio.require_sound(work(), fio.report(work(), tmp_path), whole)


def test_a_missing_or_cut_report_fails_the_trial(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="it ended without its report"):
        fio.report(work(), tmp_path)
    (tmp_path / "report.json").write_text('fio: connect: refused\n{"client_st', encoding="utf-8")
    with pytest.raises(
        ProgramError, match=r"its report is not whole: fio: connect: refused \| \{\"client_st"
    ):
        fio.report(work(), tmp_path)


def test_an_error_of_fio_is_told_in_its_words(tmp_path: Path) -> None:
    before = (
        "<h1> vdb: (g=0): rw=randrw, ioengine=nbd\n"
        "<h1> fio: nbd_connect_uri: handshake: server has no export named 'x'\n"
        "client <h1>: exited with error 2\n\n"
    )
    write_report(tmp_path, [], before=before)
    told = (
        "fio-vdb: fio failed: <h1> fio: nbd_connect_uri: handshake: server has no export named 'x'"
    )
    assert fio.complaint(work(), tmp_path) == told
    assert fio.complaint(work(), tmp_path / "none") == "fio-vdb: fio failed: it wrote no reason"


# --- what counts ----------------------------------------------------------------------------------


def test_an_endless_workload_counts_from_its_first_request_or_the_warm_up(tmp_path: Path) -> None:
    whole = read_back(tmp_path)
    found = measured(work(), whole, MeasuredInterval(BEGUN_US, 2.5))
    assert found.begun_ps == 1_099_600_000_000
    assert found.outcome.counted_from_ps == found.begun_ps
    assert (found.outcome.transactions, found.outcome.goodput_bytes) == (4, 4 * 4096)
    assert found.outcome.completion_ps is None
    requests = found.outcome.storage_requests
    assert requests is not None
    assert requests.read.latency is not None
    assert (requests.read.count, requests.write.count) == (3, 1)
    assert requests.read.latency.max_ps == 700_000_000
    assert [each.requests.read.count for each in found.outcome.initiators or []] == [2, 1]
    # The write of h2 began before the end, and ended after it.
    assert [(row.user, row.latency_ps) for row in found.cut_off] == [(3, 1_400 * MS_PS)]
    warm = measured(work(), whole, MeasuredInterval(BEGUN_US, 2.5, 1.25))
    assert (warm.outcome.transactions, warm.outcome.counted_from_ps) == (1, 1_250 * MS_PS)


def test_a_finite_workload_is_timed_from_its_first_request(tmp_path: Path) -> None:
    whole = read_back(tmp_path)
    own = work(requests=1)
    found = measured(own, whole, MeasuredInterval(BEGUN_US, 4.0))
    assert found.outcome.completion_ps == 3_500_000_000_000 - 1_099_600_000_000
    assert found.outcome.counted_from_ps == 0
    assert min(row.start_ps for row in found.rows) == 0
    missing = [one for one in whole if (one.initiator, one.job) != (1, 1)]
    assert measured(own, missing, MeasuredInterval(BEGUN_US, 4.0)).outcome.completion_ps is None


@pytest.mark.parametrize(("late_ms", "is_valid"), [(49, True), (51, False)])
def test_hosts_that_do_not_begin_together_make_a_trial_invalid(
    late_ms: int, is_valid: bool
) -> None:
    whole = [
        Done(0, 0, 1_001_000_000, 0, 0, 4096),
        Done(1, 0, 1_001_000_000 + late_ms * 1000, 0, 0, 4096),
    ]
    found = measured(work(), whole, MeasuredInterval(BEGUN_US, 2.0))
    assert found.start_skew_ms == late_ms
    told = reasons(
        part(Outcome, fabric={}, live={"start_skew_ms": {"vdb": found.start_skew_ms}}), Live()
    )
    expected = [f"the last host of vdb began {late_ms} ms after the first one, allowed are 50 ms"]
    assert told == ([] if is_valid else expected)


# --- devices --------------------------------------------------------------------------------------


def test_a_device_has_the_same_data_every_time_and_damage_is_seen(tmp_path: Path) -> None:
    path, size = tmp_path / "device", (1 << 20) + 512
    first, second = pattern.pieces(size)
    assert first[:512] != second, "data that moved is seen"
    digest = pattern.write(path, size)
    assert path.stat().st_size == size
    assert pattern.read(path, size) == digest == pattern.write(tmp_path / "other", size)
    data = bytearray(path.read_bytes())
    data[700_000] ^= 1
    path.write_bytes(data)
    assert pattern.read(path, size) != digest


def test_servers_have_a_unit_or_an_export_for_each_workload() -> None:
    steps = [list(step.argv[5:]) for step in tgt.set_up("San", 2, ["/d/a", "/d/b"], "aio")]
    assert [step[:4] for step in steps] == [
        ["--op", "new", "--mode", "target"],
        ["--op", "new", "--mode", "logicalunit"],
        ["--op", "new", "--mode", "logicalunit"],
        ["--op", "bind", "--mode", "target"],
    ]
    assert [step[step.index("--lun") + 1] for step in steps[1:3]] == ["1", "2"]
    assert (
        tgt.uri("10.77.0.3", 3260, "San", 2)
        == "iscsi://10.77.0.3:3260/iqn.2026-11.org.tailrace:san/2"
    )
    assert nbdkit.uri("10.77.0.3", 10_809, "vdb") == "nbd://10.77.0.3:10809/vdb"
    assert {"--ipaddr=10.77.0.3", "--port=10810"} <= {
        *nbdkit.server("san", "10.77.0.3", 10_810, "/d", None, 0).argv
    }
    assert not any(
        word.startswith("--ipaddr")
        for word in nbdkit.server("san", None, 10_809, "/d", None, 0).argv
    )
    target = tgt.server("san", ["10.77.0.3", "10.78.0.3"], 3261, 1, None, 0)
    assert target.argv[-1] == "portal=10.77.0.3:3261,portal=10.78.0.3:3261"
    session = qemu_nbd.command("s", "h1", "/run/s", "iscsi://x", 4, None)
    assert session.argv[-2:] == ["--socket=/run/s", "iscsi://x"]
    assert "--shared=12" in session.argv


# --- refusals -------------------------------------------------------------------------------------


def test_a_workload_of_a_plan_is_read() -> None:
    own = planned(read=65, access={"random": 40}, rate="500/s", jobs=2, flush_every=3, bytes="10kB")
    assert (own.protocol, own.target, own.initiators, own.read_share) == (
        "local",
        None,
        ["a", "b"],
        0.65,
    )
    assert (own.access, own.gap_ps, own.is_poisson) == (("random", 0.4), 2 * MS_PS, False)
    assert (own.flush_every, own.requests, own.part_bytes, own.is_finite) == (3, 3, 4 << 20, True)
    poisson = planned(arrivals="exponential(1ms)")
    assert (poisson.gap_ps, poisson.is_poisson, poisson.requests) == (MS_PS, True, 0)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, []),
        ({"read": 70, "rate": "400/s", "jobs": 2}, []),
        (
            {"device": "nvme"},
            [],
        ),
        (
            {"size": "2GiB"},
            [
                ".size: the area does not end within the 1 GiB that a device of a live run has "
                "(hint: write a smaller size, or a lower offset)"
            ],
        ),
        (
            {"jobs": 65},
            [".jobs: fio keeps the log of each job in memory (hint: write at most 64 jobs)"],
        ),
        ({"start": "1s"}, [".start: the jobs of fio begin with the trial (hint: omit it)"]),
        (
            {"block": "uniform(4KiB, 8KiB)"},
            [
                ".block: the requests of fio have one size here (hint: write one value, or "
                "omit --live to simulate it)"
            ],
        ),
        (
            {"think": "1ms", "depth": 2},
            [
                ".think: a job of fio pauses as a whole, not each of its requests (hint: write "
                "depth: 1 and more jobs)"
            ],
        ),
        (
            {"protocol": "iscsi", "target": "c", "iscsi": {"target": "lio"}},
            [
                ".iscsi: the session of a live run is what libiscsi and "
                "tgt negotiate (hint: omit it)"
            ],
        ),
        ({"protocol": "iscsi", "target": "c", "iscsi": {"target": "tgt"}}, []),
        (
            {"protocol": "nbd", "target": "c", "jobs": 4, "nbd": {"connections": 2}},
            [
                ".nbd.connections: fio opens a connection for each job (hint: write 4, the "
                "number of jobs)"
            ],
        ),
        (
            {"protocol": "nvme-tcp", "target": "c"},
            [
                ".protocol: live runs have no initiator for nvme-tcp, which is the kernel's, and "
                "not this machine's (hint: write one of: local, iscsi, nbd; use --exact, whose "
                "kernels are its own; or simulate it)"
            ],
        ),
        (
            {"arrivals": "uniform(1ms, 2ms)"},
            [
                ".arrivals: fio begins requests evenly or at random (exponential) (hint: write "
                "rate, or exponential(...))"
            ],
        ),
        (
            {"read": 70, "rate": "9/s"},
            [
                ".rate: fio paces reads and writes of each job in whole requests per second, and "
                "6.3 is not one (hint: choose another rate, or fewer jobs)"
            ],
        ),
    ],
)
def test_what_real_programs_cannot_do_is_refused(keys: dict[str, Any], expected: list[str]) -> None:
    assert refusals(**keys) == expected
