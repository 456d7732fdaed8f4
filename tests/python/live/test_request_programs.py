"""Programs of requests: what they are asked, what they refuse, and how their reports are read."""

from pathlib import Path
from typing import Any

import pytest

from requests_of import refusals, scenario, work
from tailrace.live import registry
from tailrace.programs import dnsperf, knot, lua_log, nginx, redis, redis_benchmark, wrk
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import MeasuredInterval
from tailrace.programs.redis_benchmark import Benchmark
from tailrace.programs.requests import measured
from tailrace.programs.work import Transaction
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.tails import mean_of

S_PS = 10**12
SIZES = (nginx.least_bytes(), 4000, 20_000, 10**6)


# --- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_a_file_with_the_headers_of_nginx_has_the_size_of_the_response(size: int) -> None:
    length = nginx.body_bytes(size)
    assert length is not None
    assert len(nginx.HEADERS.format(length=length, connection="keep-alive")) + length == size


def test_one_more_digit_of_the_length_leaves_a_size_out() -> None:
    whole = nginx.header_bytes() + 2 + 99
    assert (nginx.body_bytes(whole), nginx.body_bytes(whole + 1), nginx.body_bytes(whole + 2)) == (
        99,
        None,
        100,
    )
    assert nginx.body_bytes(nginx.least_bytes()) == 0
    assert nginx.body_bytes(nginx.least_bytes() - 1) is None


@pytest.mark.parametrize("size", [60, 200, 1000, 32_000])
def test_a_request_of_wrk_has_its_size(size: int) -> None:
    text = wrk.request_text(4000, size)
    assert len(text) == size
    assert text.startswith("GET /r4000 HTTP/1.1\r\nHost: s")
    assert text.endswith("\r\n\r\n")


@pytest.mark.parametrize(
    ("request_bytes", "response_bytes"), [(40, 4000), (200, 9), (1000, 70_000)]
)
def test_a_get_and_its_value_have_their_sizes_on_the_wire(
    request_bytes: int, response_bytes: int
) -> None:
    key, size = redis.value_of(request_bytes, response_bytes)
    assert len(redis_benchmark.request_text(request_bytes, response_bytes)) == request_bytes
    assert len(f"${size}\r\n") + size + 2 == response_bytes
    assert key.startswith(f"r{response_bytes}")


def test_a_dump_has_every_length_in_its_own_code() -> None:
    data = redis.dump({"k": 5, "l": 100, "m": 20_000})
    assert data.startswith(b"REDIS0009\xfe\x00\x00\x01k\x05xxxxx\x00\x01l\x40\x64x")
    assert b"\x00\x01m\x80\x00\x00\x4e\x20x" in data
    assert data.endswith(b"x\xff" + bytes(8))


@pytest.mark.parametrize("query_bytes", [45, 60, 100, 107, 108, 109, 170, 171, 172, 235, 282])
def test_a_query_has_its_size_and_no_label_is_too_long(query_bytes: int) -> None:
    name = knot.name(query_bytes, 900)
    assert name is not None
    labels = name.split(".")
    assert all(1 <= len(label) <= 63 for label in labels)
    assert labels[0].startswith("r900")
    assert len(knot.query(name)) == query_bytes


def test_a_name_that_dns_does_not_have_is_none() -> None:
    assert knot.name(283, 900) is None
    assert knot.name(knot.FIXED_BYTES + 3 + 4, 900) is None


@pytest.mark.parametrize("size", [1, 2, 4, 255, 256, 257, 8000])
def test_the_strings_of_a_record_have_its_size(size: int) -> None:
    strings = knot.strings(size).split()
    assert sum(1 + len(each) - 2 for each in strings) == size


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "refusal"),
    [
        (
            {"users": None, "arrivals": "1ms"},
            ".arrivals: the users of wrk wait for each response (hint: write users, or",
        ),
        ({"client": None, "clients": ["a", "c"]}, ".clients: wrk has one client"),
        (
            {"load_generator": "dnsperf", "connection": "new"},
            ".connection: dnsperf keeps its connections",
        ),
        (
            {"load_generator": "redis-benchmark", "pipeline": 8},
            ".requests: redis-benchmark sends 8 requests at once, and 12 "
            "in all (hint: write a multiple",
        ),
        ({"pipeline": 4}, ".pipeline: the users of wrk send one request at a time"),
        ({"response": "exponential(4kB)"}, ".response: wrk has responses of one size"),
        (
            {"calls": [{"server": "c", "request": "1kB", "response": "1kB"}]},
            ".calls: the server of wrk asks no",
        ),
        (
            {"replicas": {"servers": ["c"], "bytes": "1kB"}},
            ".replicas: the server of wrk has no replicas",
        ),
        ({"gap": "erlang(7ms, 40)"}, ".gap: wrk cannot draw it: a shape of 40"),
        ({"protocol": "udp", "response": "1kB"}, ".protocol: HTTP 1.1 uses tcp"),
        (
            {"users": 300},
            ".users: wrk needs a thread for each user (hint: write at most 256 users)",
        ),
        ({"request": "30B"}, ".request: a request of wrk has 32 to 32000 bytes"),
        (
            {"response": "100B"},
            ".response: no response of nginx has 100 bytes with its headers (hint: write at least",
        ),
        (
            {"load_generator": "redis-benchmark", "gap": "1ms"},
            ".gap: the users of redis-benchmark do not pause",
        ),
        (
            {"load_generator": "redis-benchmark", "start": "1ms"},
            ".start: redis-benchmark begins with the trial",
        ),
        (
            {"load_generator": "redis-benchmark", "requests": None},
            ": redis-benchmark needs a number of requests",
        ),
        (
            {"load_generator": "redis-benchmark", "request": "10B"},
            ".request: no GET in the protocol of Redis has 10",
        ),
        (
            {"load_generator": "redis-benchmark", "response": "16B"},
            ".response: no response of Redis has 16 bytes",
        ),
        (
            {"preset": "dns", "request": "60B", "response": "900B"},
            ".retries: dnsperf does not ask again",
        ),
        (
            {"load_generator": "dnsperf", "users": 3},
            ".users: dnsperf pauses between queries when fewer than 4 are",
        ),
        (
            {"load_generator": "dnsperf", "request": "300B"},
            ".request: no query of DNS has 300 bytes",
        ),
        (
            {"load_generator": "dnsperf", "request": "60B", "response": "20kB"},
            ".response: dnsperf takes no answer of",
        ),
    ],
)
def test_what_a_program_cannot_do_is_refused_with_its_key(
    keys: dict[str, Any], refusal: str
) -> None:
    found = refusals(**keys)
    assert any(one.startswith(refusal) for one in found), found


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({}, "wrk"),
        ({"load_generator": "redis-benchmark"}, "redis-benchmark"),
        ({"preset": "redis"}, "redis-benchmark"),
        (
            {"preset": "dns", "users": 4, "retries": 0, "request": "60B", "response": "900B"},
            "dnsperf",
        ),
        ({"preset": "redis", "load_generator": "wrk"}, "wrk"),
        ({"gap": "exponential(1ms)", "start": "10ms"}, "wrk"),
    ],
)
def test_a_preset_has_its_program_unless_another_is_named(keys: dict[str, Any], name: str) -> None:
    assert refusals(**keys) == []
    workload = load_scenario(
        scenario(**{"request": "200B", "response": "4kB"} | keys)
    ).scenario.workloads["web"]
    assert registry.load_class("requests", workload).load_name == name


# --- wrk ------------------------------------------------------------------------------------------

TOTAL = (
    "total requests 3 bytes {bytes} connect {connect} read 0 write 0 status {status} timeout 2\n"
)


def test_wrk_has_a_thread_with_a_connection_for_each_user() -> None:
    script = wrk.Script(work(gap="exponential(1ms)"))
    words = " ".join(script.command(Path("/s"), "10.77.0.2", 9).argv)
    assert "--threads 3 --connections 3 --duration 69s" in words
    assert words.endswith("http://10.77.0.2:80/")
    command = wrk.Script(work(gap="exponential(1ms)", port=8080)).command(
        Path("/s"), "10.77.0.2", 9
    )
    assert command.argv[-1] == "http://10.77.0.2:8080/"
    text = script.text(Path("/l/requests-web"))
    assert (
        'local log_prefix = "/l/requests-web"\nlocal request_text = "GET /r4000 HTTP/1.1\\013\\010'
        in text
    )
    assert "local requests_max = 4\n" in text
    assert f"local u0 = uniform(user, number, {script.work.gap.seed}ULL)" in text


def test_a_connection_that_is_closed_has_other_headers_and_sizes_stay() -> None:
    own = work(connection="new")
    text = wrk.request_text(own.response_bytes, own.request_bytes, is_kept=own.is_kept)
    assert len(text) == 200
    assert text.startswith("GET /n4000 HTTP/1.1\r\n")
    assert text.endswith("\r\nConnection: close\r\n\r\n")
    kept, new = nginx.body_bytes(4000), nginx.body_bytes(4000, is_kept=False)
    assert (kept, new) == (3843, 3848)
    assert "Connection: close" in nginx.HEADERS.format(length=new, connection=nginx.CLOSED)
    whole = [Transaction(0, n, 10**6 * n, 10**6 * n, 10**6 * n + 900) for n in (1, 2, 3)]
    counts = measured(own, whole, None, MeasuredInterval(0, 9.0)).outcome.request_counts
    assert counts is not None
    assert counts.connections == 3


def test_a_pipeline_is_sent_at_once_and_timed_where_it_is_one_segment() -> None:
    own = work(load_generator="redis-benchmark", requests=8, pipeline=4, response="100B")
    assert (
        " ".join(Benchmark(own).command("10.77.0.2").argv)
        .split(" -n ")[1]
        .startswith("24 -P 4 GET r100:")
    )


def test_users_start_within_one_mean_gap_after_the_start() -> None:
    own = work(gap="exponential(2ms)", start="5ms")
    pauses = [own.pause_us(user, 1) for user in range(1000)]
    assert (min(pauses) >= 5000, max(pauses) < 7000, max(pauses) - min(pauses) > 1800) == (
        True,
        True,
        True,
    )
    assert {work().pause_us(user, 1) for user in range(10)} == {0}


def test_the_log_of_wrk_is_read_and_a_foreign_pause_is_an_error(tmp_path: Path) -> None:
    script = wrk.Script(work(gap="exponential(2ms)"))
    pauses = [script.work.pause_us(0, number) for number in (1, 2)]
    lines = [f"0 {number} {number * 10**6} {pause} {number * 10**6 + pause + 7} "
    f"{number * 10**6 + pause + 900}\n"
             for number, pause in enumerate(pauses, 1)]  # fmt: skip
    (tmp_path / "log.0").write_text("".join(lines), encoding="ascii")
    assert [
        one.latency_us for one in lua_log.transactions(script.work, "wrk", tmp_path / "log")
    ] == [900, 900]
    assert lua_log.lateness_us(tmp_path / "log") == 7
    (tmp_path / "log.0").write_text(f"0 1 0 {pauses[0] + 1} 0 0\n", encoding="ascii")
    with pytest.raises(
        ProgramError, match="wrk-web: transaction 1 of user 0 had a different pause"
    ):
        lua_log.transactions(script.work, "wrk", tmp_path / "log")


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (TOTAL.format(bytes=12_000, connect=0, status=1), "errors of sockets or status: status 1"),
        (TOTAL.format(bytes=12_000, connect=2, status=0), "errors of sockets or status: connect 2"),
        (
            TOTAL.format(bytes=11_999, connect=0, status=0),
            r"a response has 3999\.7 bytes on average, not 4000",
        ),
        (TOTAL.format(bytes=24_001, connect=0, status=0), "bytes on average, not 4000"),
        (
            "lost 2 5\n" + TOTAL.format(bytes=12_000, connect=0, status=0),
            "under 1 requests, first request 5 of user 2",
        ),
        ("done 1\n", "ended without its totals"),
    ],
)
def test_errors_that_wrk_counts_fail_the_trial(said: str, fault: str) -> None:
    script = wrk.Script(work())
    # One response of each user may have come in part, and a slow one is no error.
    script.require_sound("done 0\n" + TOTAL.format(bytes=12_000 + 3 * 3999, connect=0, status=0))
    with pytest.raises(ProgramError, match=fault):
        script.require_sound(said)


# --- redis-benchmark ------------------------------------------------------------------------------

# Of redis-benchmark 7.0.15, `-c 4 -n 2000 get k`.
REDIS_REPORT = """
get k: rps=0.0 (overall: -nan) avg_msec=-nan (overall: -nan)
get k: rps=7000.0 (overall: 7000.0) avg_msec=0.371 (overall: 0.371)
====== get k ======
  2000 requests completed in 0.25 seconds
Latency by percentile distribution:
0.000% <= 0.015 milliseconds (cumulative count 35)
50.000% <= 0.031 milliseconds (cumulative count 1197)
75.000% <= 0.039 milliseconds (cumulative count 1621)
99.902% <= 45.535 milliseconds (cumulative count 1999)
100.000% <= 46.655 milliseconds (cumulative count 2000)

Cumulative distribution of latencies:
96.800% <= 0.103 milliseconds (cumulative count 1936)
99.950% <= 46.111 milliseconds (cumulative count 1999)
100.000% <= 47.103 milliseconds (cumulative count 2000)

Summary:
  throughput summary: 8032.13 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.371     0.008     0.031     0.055    14.359    46.655
"""


def test_the_report_of_redis_benchmark_is_read() -> None:
    own = {"preset": "redis", "response": "1009B"}
    benchmark = redis_benchmark.Benchmark(work(users=4, requests=500, **own))
    words = " ".join(benchmark.command("10.77.0.2").argv)
    assert "-c 4 -n 2000 GET r1009:" in words
    interval = MeasuredInterval(10**9, 1.0)
    told = benchmark.summary(REDIS_REPORT, "", 10**9 + 500, interval)
    assert told.ended_wall_us == 10**9 + 500 + round(2000 / 8032.13 * 10**6)
    assert told.latencies is not None
    outcome = told.latencies.outcome()
    assert outcome is not None
    assert (outcome.count, outcome.p50_ps) == (2000, 31_000_000)
    assert outcome.max_ps == 46_655_000_000
    assert sum(part.size_bytes for part in told.moved) == 2000 * 1009
    # It times the first read: the rest of a longer response would be missing.
    longer = redis_benchmark.Benchmark(work(users=4, requests=500))
    assert longer.summary(REDIS_REPORT, "", 10**9 + 500, interval).latencies is None


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (
            "Could not connect to Redis at 10.77.0.2:6379: Connection refused\n",
            "Could not connect to Redis",
        ),
        (
            REDIS_REPORT + "Error from server: ERR max number of clients reached\n",
            "Error from server",
        ),
        (REDIS_REPORT.replace("count 2000", "count 1990"), "1990 requests were done, not 2000"),
    ],
)
def test_errors_of_redis_benchmark_fail_the_trial(said: str, fault: str) -> None:
    benchmark = redis_benchmark.Benchmark(work(users=4, requests=500))
    with pytest.raises(ProgramError, match=fault):
        benchmark.summary(said, "", 0, MeasuredInterval(0, 1.0))


def test_requests_of_a_run_that_was_cut_off_are_counted_by_its_rates() -> None:
    benchmark = redis_benchmark.Benchmark(work(users=4, requests=500))
    cut = REDIS_REPORT[: REDIS_REPORT.index("======")]
    told = benchmark.summary(cut, "", 0, MeasuredInterval(0, 1.0))
    assert (told.completed, told.ended_wall_us, told.latencies) == (1750, None, None)


# --- dnsperf --------------------------------------------------------------------------------------

# Of dnsperf 2.10.0, `-v -S 0.1 -W`; the last query was interrupted.
DNS_REPORT = """DNS Performance Testing Tool
Version 2.10.0

[Status] Sending queries (to 10.77.0.2:5353)
> NOERROR r900.t TXT 0.000164
> NOERROR r900.t TXT 0.000124
1000.100000: 20.000000
> T r900.t TXT
> NOERROR r900.t TXT 0.000059
1000.200000: 10.000000
> NOERROR r900.t TXT 0.000100
> I r900.t TXT
[Status] Testing complete (interruption)

Statistics:

  Queries sent:         6
  Queries completed:    4 (66.67%)
  Queries lost:         1 (16.67%)

  Average packet size:  request 60, response 900
  Run time (s):         0.250000
"""


def dns(**keys: Any) -> dnsperf.Dnsperf:
    """Its users, over udp."""
    return dnsperf.Dnsperf(
        work(**{"preset": "dns", "retries": 0, "request": "60B", "response": "900B"} | keys)
    )


def test_dnsperf_has_as_many_queries_outstanding_as_users() -> None:
    words = " ".join(dns(timeout="2s").command(Path("/q"), "10.77.0.2", 9).argv)
    assert "-m udp -s 10.77.0.2 -p 53 -d /q -c 3 -q 3" in words
    assert "-t 2 -v" in words
    assert words.endswith("-n 12")
    assert " ".join(dns(requests=None).command(Path("/q"), "a", 9).argv).endswith("-l 69")
    tcp = dnsperf.Dnsperf(work(request="60B", response="902B"))
    assert (tcp.query_bytes, tcp.answer_bytes) == (58, 900)
    assert tcp.request[:2] == (58).to_bytes(2, "big")


OPEN = {"users": None, "arrivals": "10ms"}


def test_arrivals_are_a_rate_of_dnsperf_whatever_is_outstanding() -> None:
    words = " ".join(dns(**OPEN, connections=2, requests=30).command(Path("/q"), "a", 9).argv)
    assert "-c 2 -q 60000 -Q 100 -T 1" in words
    assert words.endswith("-n 30"), "of all arrivals, not of each socket"
    own = dns(**OPEN, requests=None)
    assert "-c 1 " in " ".join(own.command(Path("/q"), "a", 9).argv)
    # 5 of 250 ms at 20 a second; the lost one is waited for.
    fast = dns(users=None, arrivals="50ms", requests=5, timeout="100ms")
    found = fast.measured(DNS_REPORT, 1_000_000_000, MeasuredInterval(1_000_000_000, 1.0))
    assert (found.outcome.transactions, found.outcome.user_completion_ps) == (4, [S_PS // 4])


def test_a_rate_that_dnsperf_does_not_keep_fails_the_trial() -> None:
    slow = dns(users=None, arrivals="10ms", requests=None, timeout="100ms")
    with pytest.raises(ProgramError, match="it sent 6 queries where 15 were due"):
        slow.measured(DNS_REPORT, 0, MeasuredInterval(0, 1.0))


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        (
            {"arrivals": "exponential(1ms)"},
            ".arrivals: dnsperf has the same time between all queries",
        ),
        (
            {"arrivals": "3ms"},
            ".arrivals: dnsperf sends a whole number of queries per second, at most 50000",
        ),
        (
            {"arrivals": "10us"},
            ".arrivals: dnsperf sends a whole number of queries per second, at most 50000",
        ),
        ({"arrivals": "2s"}, ".arrivals: dnsperf sends a whole number of queries per second"),
        ({"spikes": [{"factor": 2, "at": "1s", "for": "100ms"}]}, ".spikes: dnsperf has one rate"),
        ({"connections": 1001}, ".connections: dnsperf has at most 1000 sockets"),
        (
            {"preset": None, "response": "902B"},
            ".connections: dnsperf opens its connections before the first query",
        ),
        ({}, ""),
        ({"preset": None, "response": "902B", "connections": 4}, ""),
    ],
)
def test_arrivals_that_dnsperf_does_not_have_are_refused(keys: dict[str, Any], what: str) -> None:
    base = {
        "preset": "dns",
        "retries": 0,
        "request": "60B",
        "response": "900B",
        "load_generator": "dnsperf",
    }
    if keys.get("preset", "dns") is None:
        base = {key: value for key, value in base.items() if key != "retries"}
    found = refusals(**{**base, "users": None, "arrivals": "1ms", **keys})
    assert [one for one in found if one.startswith(what)] if what else not found, found


def test_queries_end_between_the_lines_of_the_clock_and_lost_ones_are_counted() -> None:
    interval = MeasuredInterval(1_000_000_000, 1.0, warm_up_s=0.11)
    found = dns(requests=None).measured(DNS_REPORT, 1_000_000_000, interval)
    # Ends at 50, 100, 150 (lost), 200 and 250 ms, of which those after the warm-up count.
    latency, counts = found.outcome.latency, found.outcome.request_counts
    assert latency is not None
    assert (latency.count, latency.min_ps) == (2, 59 * 10**6)
    assert counts is not None
    assert (counts.failed, counts.lost_queries) == (1, 1)
    assert found.outcome.completion_ps is None
    whole = dns(users=5, requests=1).measured(DNS_REPORT, 1_000_000_000, interval)
    assert whole.outcome.completion_ps == S_PS // 4
    assert whole.outcome.transactions == 4


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (
            DNS_REPORT.replace("> NOERROR r900.t TXT 0.000059", "> SERVFAIL r900.t TXT 0.000059"),
            "answers with SERVFAIL",
        ),
        (DNS_REPORT.replace("response 900", "response 60"), "have 60 and 60 bytes, not 60 and 900"),
        ("", "ended without its statistics"),
    ],
)
def test_answers_with_errors_or_of_another_size_fail_the_trial(said: str, fault: str) -> None:
    with pytest.raises(ProgramError, match=fault):
        dns().measured(said, 0, MeasuredInterval(0, 1.0))


@pytest.mark.parametrize(
    ("raw", "mean"),
    [
        ({"constant": 5}, 5),
        ({"uniform": {"low": 2, "high": 8}}, 5),
        ({"exponential": {"mean": 7}}, 7),
        ({"normal": {"mean": 7, "deviation": 1}}, 7),
        ({"erlang": {"mean": 7, "shape": 2}}, 7),
        ({"log-normal": {"median": 10, "sigma_milli": 1000}}, 16.487),
        ({"cumulative": [[10, 500_000_000], [20, 10**9]]}, 12.5),
    ],
)
def test_a_mean_is_that_of_its_distribution(raw: dict[str, Any], mean: float) -> None:
    assert mean_of(raw) == pytest.approx(mean, rel=1e-4)
