"""What the programs are asked, and how their words are read."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from tailrace.live.lab.fabric import FabricError
from tailrace.live.measure import closings, probe
from tailrace.live.programs import iperf3, iperf3_report
from tailrace.outcome.types import RoundTrip
from tailrace.programs import postgres
from tailrace.programs.errors import ProgramError
from tailrace.programs.pgbench import Script, statement_ms
from tailrace.programs.postgres import Installation, Server, row_bytes
from tailrace.programs.postgres_template import load_script
from tailrace.programs.templates import rows_of

OLTP: dict[str, Any] = {
    "name": "orders",
    "port": 5433,
    "client": "web",
    "server": "db",
    "users": 3,
    "transactions": 4,
    "warmup_transactions": 0,
    "round_trips": [{"response_bytes": 18_000}, {"response_bytes": 64_000}],
    "start": {"constant": 0},
    "gap": {"constant": 5 * 10**9},
    "priority": 3,
}
SCRIPT = Script(OLTP, 7, {18_000: 1000, 64_000: 900})
STREAM: dict[str, Any] = {
    "name": "backup",
    "source": "bulk",
    "destination": "web",
    "connections": 3,
    "bytes": 0,
    "start_ps": 2 * 10**12,
    "stagger_ps": 0,
    "priority": 0,
}


def test_a_script_waits_and_then_does_every_statement() -> None:
    lines = SCRIPT.script().splitlines()
    assert lines.index(r"\sleep :nap us") < lines.index("SELECT d FROM pay_18000 WHERE id = :id;")
    assert lines[-3:] == [
        r"\set id random(1, 900)",
        "SELECT d FROM pay_64000 WHERE id = :id;",
        r"\endif",
    ]
    assert r"\if :n = 1" in lines
    assert r"\if :n > 4" in lines
    assert "said" not in Script(OLTP | {"transactions": 0}, 7, SCRIPT.rows).script()


def test_pgbench_is_asked_for_users_threads_and_time() -> None:
    command = SCRIPT.command(Path("/x/pgbench"), Path("/s"), Path("/l"), "10.77.0.2", 9)
    words = " ".join(command.argv)
    assert "--client 3 --jobs 3" in words
    assert "--time 69" in words
    assert command.host == "web"
    assert command.priority == 3


def test_a_log_is_read_from_every_thread_without_the_pauses(tmp_path: Path) -> None:
    (tmp_path / "log.7").write_text("0 1 1500 0 100 2000\n0 2 6200 0 100 8200\n", encoding="ascii")
    (tmp_path / "log.7.1").write_text(
        "1 1 1700 0 100 2300\n1 2 58", encoding="ascii"
    )  # the second was being written
    found = SCRIPT.transactions(tmp_path / "log")
    assert [(one.user, one.number, one.latency_us) for one in found] == [
        (0, 1, 1500),
        (0, 2, 1200),
        (1, 1, 1700),
    ]
    assert found[1].intended_us == 100_000_000 + 8200 - 1200


@pytest.mark.parametrize("cut", range(1, len("1 1 1700 0 100 2300\n")))
def test_a_last_line_that_was_being_written_is_no_transaction(tmp_path: Path, cut: int) -> None:
    # Without its last digits the line would still be one, of another time.
    (tmp_path / "log.7").write_text(
        "0 1 1500 0 100 2000\n" + "1 1 1700 0 100 2300\n"[:cut], encoding="ascii"
    )
    [only] = SCRIPT.transactions(tmp_path / "log")
    assert (only.user, only.latency_us) == (0, 1500)


def test_a_line_of_a_log_that_has_other_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.7").write_text("0 1 1500 0 100\n", encoding="ascii")
    with pytest.raises(
        ProgramError, match=r"log\.7: a line of the log has 5 words, not 6: 0 1 1500 0 100"
    ):
        SCRIPT.transactions(tmp_path / "log")


def test_a_long_pause_is_several_runs_of_the_script(tmp_path: Path) -> None:
    slow = Script(OLTP | {"gap": {"constant": 2_500 * 10**9}, "transactions": 2}, 7, SCRIPT.rows)
    # The pause of transaction 2 takes naps of 1, 1 and 0.5 s; then the user naps for ever.
    runs = (
        "0 1 1500 0 100 0\n0 2 1000100 0 101 0\n0 3 1000100 0 102 0\n0 4 502000 0 102 "
        "502000\n0 5 1000100 0 103 0\n"
    )
    (tmp_path / "log.7").write_text(runs, encoding="ascii")
    first, second = slow.transactions(tmp_path / "log")
    assert (first.latency_us, second.number, second.ended_us) == (1500, 2, 102_502_000)
    assert second.begun_us == 101_000_000 - 1_000_100
    assert second.latency_us == 102_502_000 - second.begun_us - 2_500_000
    (tmp_path / "log.7").write_text(runs[: runs.index("0 4")], encoding="ascii")
    assert [one.number for one in slow.transactions(tmp_path / "log")] == [1]


def test_a_user_that_has_done_its_number_says_so() -> None:
    said = (
        "debug(script=0,command=19): debug(script=0,command=19): int 5\nint "
        "5\ndebug(script=0,command=19): int 15\n"
    )
    assert SCRIPT.users_done(said) == 2


def test_a_failed_transaction_is_no_fast_one(tmp_path: Path) -> None:
    (tmp_path / "log.7").write_text("0 1 failed 0 100 2000\n", encoding="ascii")
    with pytest.raises(ProgramError, match="pgbench-orders: run 1 of user 0: failed"):
        SCRIPT.transactions(tmp_path / "log")


def test_statements_are_told_from_pauses() -> None:
    report = (
        "statement latencies in milliseconds and failures:\n"
        "         0.005           0  \\set n :n + 1\n"
        "        23.745           0  \\sleep :pause us\n"
        "         1.894           0  SELECT d FROM pay_18000 WHERE id = :id;\n"
        "         2.000           0  SELECT d FROM pay_64000 WHERE id = :id;\n"
    )
    assert statement_ms(report) == pytest.approx(3.894)
    assert statement_ms("nothing") is None


def test_a_row_makes_an_answer_of_the_size_that_was_asked_for() -> None:
    assert row_bytes(18_000) == 18_000 - 63
    assert row_bytes(10) == 1
    assert (rows_of(18_000), rows_of(64_000_000)) == (1000, 2)
    assert "ALTER COLUMN d SET STORAGE EXTERNAL" in load_script({18_000: 1000})


def test_postgresql_listens_on_its_host_and_never_runs_as_root() -> None:
    command = Server("db", "/run/x", "10.77.0.2", 20).command(
        Installation(Path("/pg"), "15"), cpus=1.5
    )
    assert command.user == postgres.USER != "root"
    assert "listen_addresses=10.77.0.2" in command.argv
    assert "max_connections=30" in command.argv
    assert command.cpus == 1.5
    assert all(setting.why for setting in postgres.SETTINGS)


def test_a_stream_with_an_end_has_a_process_for_each_connection() -> None:
    [together] = iperf3.stream_pairs(STREAM, 5201, 12.2)
    assert together.arguments == ("--parallel", "3", "--time", "13")
    assert (together.delay_s, together.is_finite) == (2.0, False)
    single = iperf3.stream_pairs(STREAM | {"bytes": 10_000, "stagger_ps": 10**12}, 5201, 12)
    assert [pair.port for pair in single] == [5201, 5202, 5203]
    assert [pair.delay_s for pair in single] == [2.0, 3.0, 4.0]
    assert single[0].arguments == ("--bytes", "10000", "--length", "10000")


def test_a_stream_with_a_rate_gives_each_connection_its_part() -> None:
    paced = STREAM | {"rate_bps": 30_000_000, "write_bytes": 1250}
    [together] = iperf3.stream_pairs(paced, 5201, 12.2)
    rate = ("--bitrate", "10000000")
    assert together.arguments == ("--parallel", "3", "--time", "13", *rate, "--length", "1250")
    single = iperf3.stream_pairs(paced | {"bytes": 10_000}, 5201, 12)
    assert {pair.arguments for pair in single} == {("--bytes", "10000", "--length", "1250", *rate)}


def test_iperf3_marks_datagrams_and_the_lab_marks_connections() -> None:
    datagrams = STREAM | {
        "sizes": {"constant": 1_000},
        "interarrival": {"constant": 10**9},
        "count": 0,
    }
    [marked] = iperf3.datagram_pairs(datagrams | {"dscp": 46}, 5201, 12)
    command = marked.client("10.77.0.1", "10.77.0.2")
    assert (command.argv[command.argv.index("--dscp") + 1], command.dscp) == ("46", None)
    [plain] = iperf3.datagram_pairs(datagrams, 5201, 12)
    assert "--dscp" not in plain.arguments
    for size in (0, 10_000):
        commands = [
            pair.client("10.77.0.1", "10.77.0.2")
            for pair in iperf3.stream_pairs(STREAM | {"bytes": size, "dscp": 46}, 5201, 12)
        ]
        assert {each.dscp for each in commands} == {46}
        assert not any("--dscp" in each.argv for each in commands)
    assert (
        Script(OLTP | {"dscp": 46}, 7, SCRIPT.rows)
        .command(Path("p"), Path("s"), Path("l"), "a", 9)
        .dscp
        == 46
    )
    assert SCRIPT.command(Path("p"), Path("s"), Path("l"), "a", 9).dscp is None


def test_datagrams_go_at_their_rate() -> None:
    raw = STREAM | {"sizes": {"constant": 1000}, "interarrival": {"constant": 10**9}, "count": 50}
    [pair] = iperf3.datagram_pairs(raw, 5201, 12)
    assert pair.arguments == (
        "--udp",
        "--bitrate",
        "8000000",
        "--length",
        "1000",
        "--blockcount",
        "50",
    )


def test_a_receiver_tells_what_came_also_when_it_was_interrupted(tmp_path: Path) -> None:
    report: dict[str, Any] = {
        "intervals": [
            {"sum": {"start": 0, "end": 0.5, "bytes": 100, "lost_packets": 2}},
            {"sum": {"start": 0.5, "end": 0.8, "bytes": 50, "lost_packets": 0}},
        ],
        "error": "interrupt - the server has terminated",
    }
    path = tmp_path / "x.out"
    path.write_text(json.dumps(report), encoding="utf-8")
    received = iperf3_report.read_server(path)
    assert (received.size_bytes, received.seconds, received.lost) == (150, 0.8, 2)
    # As iperf3 3.12 does: the last interval twice, and the rest in the sum alone.
    report["intervals"].append(report["intervals"][-1])
    report["end"] = {"sum_received": {"bytes": 190}}
    path.write_text(json.dumps(report), encoding="utf-8")
    again = iperf3_report.read_server(path)
    assert (again.size_bytes, again.unreported_bytes) == (150, 40)
    start_s, end_s, size = again.tail(0.9)
    assert (start_s, end_s, size) == (0.8, 0.9, round(50 / 0.3 * 0.1))
    assert again.tail(2.0) == (0.8, 2.0, 40)
    assert again.tail(0.7)[2] == 0
    warning = "WARNING:  Size of data read does not correspond to offered length\n"
    path.write_text(warning + json.dumps(report, indent=1), encoding="utf-8")
    assert iperf3_report.read_server(path) == again
    path.write_text(warning, encoding="utf-8")
    with pytest.raises(FabricError, match="wrote no report"):
        iperf3_report.read_server(path)
    path.write_text(json.dumps({"error": "unable to receive"}), encoding="utf-8")
    with pytest.raises(FabricError, match="transferred nothing: unable to receive"):
        iperf3_report.read_server(path)


def test_counters_have_the_names_of_the_simulator() -> None:
    text = (
        "Tcp: OutSegs RetransSegs\nTcp: 100 4\n"
        "TcpExt: TCPTimeouts TCPLossProbes TCPSackRecovery TCPRenoRecovery TCPDSACKRecv "
        "TCPOFOQueue\n"
        "TcpExt: 1 2 3 1 5 6\n"
        "    lo:       0       0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        "  eth0:   12345     678 0 0 0 0 0 0 999 55 0 0 0 0 0 0\n"
    )
    counters = probe.parse_counters(text)
    assert (counters["rx_frames"], counters["tx_frames"]) == (678, 55)
    assert probe.tcp_outcome(counters, counters) == {
        "segments_sent": 100,
        "retransmits": 4,
        "timeouts": 1,
        "tail_loss_probes": 2,
        "fast_recoveries": 4,
        "spurious_retransmits": 5,
        "out_of_order": 6,
    }
    assert probe.difference({"OutSegs": 90}, counters)["OutSegs"] == 10


def test_connections_tell_congestion_control_window_and_round_trip() -> None:
    text = (
        "0      0          10.77.0.1:5432      10.77.0.2:50000\n"
        "\t ts sack cubic wscale:7,7 rto:204 rtt:1.5/0.7 ato:40 mss:8948 cwnd:12 ssthresh:9 "
        "bytes_acked:5\n"
        "0      0          10.77.0.1:5432      10.77.0.2:50001\n"
        "\t ts sack ecn bbr wscale:7,7 rto:204 rtt:0.5/0.7 ato:40 mss:8948 cwnd:30 bytes_acked:5\n"
    )
    found = probe.parse_connections(text)
    assert found.congestion_controls == {"cubic", "bbr"}
    assert (found.windows, found.round_trips_ms) == ((12, 30), (1.5, 0.5))


def test_a_ping_is_read() -> None:
    text = (
        "20 packets transmitted, 20 received\nrtt min/avg/max/mdev = 0.042/0.686/10.436/2.239 ms\n"
    )
    assert probe.parse_ping(text) == RoundTrip(min=42.0, mean=686.0, max=10436.0)
    assert probe.parse_ping("no answer") == RoundTrip()


def test_shares_of_a_moment_are_not_told() -> None:
    before = probe.CpuTicks(1000, 500, 10)
    assert probe.CpuTicks(1010, 505, 10).shares_since(before) == {
        "idle_share": None,
        "steal_share": None,
    }
    assert probe.CpuTicks(2000, 750, 60).shares_since(before) == {
        "idle_share": 0.25,
        "steal_share": 0.05,
    }


def test_each_core_keeps_its_place_where_only_some_of_them_had_time_enough_to_tell() -> None:
    before = probe.CpuTicks(2000, 0, 0, (probe.CpuTicks(1000, 0, 0), probe.CpuTicks(1000, 0, 0)))
    after = probe.CpuTicks(2110, 0, 20, (probe.CpuTicks(1010, 0, 0), probe.CpuTicks(1100, 0, 20)))
    assert after.used_since(before).steal_by_core == (None, 0.2)


CLOSED = """UNCONN 1      0          10.77.0.2:5432 10.77.0.1:40000
\t cubic rtt:3.5/0.05 bytes_retrans:9000 segs_out:14 data_segs_out:12 retrans:0/2 dsack_dups:1 minrtt:0.5
UNCONN 1      0      [::ffff:10.77.0.2]:5432 [::ffff:10.77.0.1]:40001
\t cubic rtt:1.5/0.05 data_segs_out:8 segs_in:9 minrtt:0.25
UNCONN 0      0                *:5432                   *:*
\t rto:1000 mss:536
UNCONN 1      0          10.77.0.2:5432 10.77.0.9:40000
\t cubic rtt:9/0.05 segs_out:99 rcv_ooopack:4
UNCONN 1      0          10.77.0.2:5432 10.77.0.1:40002
\t cubic rtt:9/0.05 segs_out:7"""  # noqa: E501


def test_connections_are_told_apart_by_their_ends() -> None:
    found = closings.parse_closed(CLOSED)
    # The listener is no connection, and the last line was still being written.
    assert [one.peer for one in found] == [
        ("10.77.0.1", 40000),
        ("10.77.0.1", 40001),
        ("10.77.0.9", 40000),
    ]
    meant = closings.Meant(
        client="web",
        client_address="10.77.0.1",
        client_ports=frozenset({40000, 40001}),
        server="db",
        server_address="10.77.0.2",
        server_ports=frozenset({5432}),
        server_sends=True,
        count=2,
    )
    assert meant.ends == ("db", "web")
    mine = [one for one in found if meant.has(one, at_server=True)]
    assert len(mine) == 2
    assert not any(meant.has(one, at_server=False) for one in found)
    ends = closings.Seen(mine, [found[2]] * 2, meant.count)
    assert closings.tcp_outcome(ends) == {
        "segments_sent": 20,
        "retransmits": 2,
        "spurious_retransmits": 1,
        "out_of_order": 8,
    }
    assert to_builtins(closings.summary(ends)) == {
        "count": 2,
        "expected": 2,
        "retransmitted_bytes": 9000,
        "round_trip_mean_ms": 2.5,
        "round_trip_least_ms": 0.25,
    }


@pytest.mark.parametrize(
    ("sent", "received", "is_whole"), [(2, 2, True), (1, 2, False), (2, 1, False), (0, 0, False)]
)
def test_connections_are_whole_when_both_hosts_saw_all_of_them_end(
    sent: int, received: int, is_whole: bool
) -> None:
    one = closings.parse_closed(CLOSED)[0]
    assert closings.Seen([one] * sent, [one] * received, 2).is_whole is is_whole
