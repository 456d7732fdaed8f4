//! A user and a database, with a log of their calls.

use super::*;
use crate::{SocketCalls, WorkCalls};
use std::sync::Arc;
use tailrace_units::{RandomStream, Time};

/// Notes the calls of a program.
#[derive(Default)]
struct Notes {
    said: Vec<String>,
    /// All cores work for others.
    is_host_busy: bool,
    /// The time slice; programs that wait are there whenever it is over.
    slice: Span,
}

impl SocketCalls for Notes {
    fn connect(&mut self) {
        self.said.push("connect".into());
    }
    fn write(&mut self, bytes: u64) {
        self.said.push(format!("write {bytes}"));
    }
    fn leave_unread(&mut self) {
        self.said.push("leave unread".into());
    }
    fn read(&mut self, bytes: u64) {
        self.said.push(format!("read {bytes}"));
    }
    fn ask_core(&mut self) -> bool {
        self.said.push("ask".into());
        !self.is_host_busy
    }
}

impl WorkCalls for Notes {
    fn keeps_core(&mut self, used: Span) -> bool {
        used < self.slice
    }
    fn leave_core(&mut self) {
        self.said.push("leave".into());
    }
    fn compute(&mut self, work: Span) -> Time {
        self.said.push(format!("compute {}", work.ps()));
        Time::from_ps(1_000_000) + work
    }
    fn completed(&mut self, user: u32, intended: Time) {
        self.said.push(format!("user {user} completed what was due at {intended:?}"));
    }
    fn finished(&mut self, user: u32) {
        self.said.push(format!("user {user} finished"));
    }
}

fn profile(gap_from: GapFrom) -> Arc<OltpProfile> {
    let statement = Statement {
        request_bytes: 100,
        response_bytes: 20_000,
        server_work: Span::ZERO,
        server_time: Distribution::Constant(50),
        write_bytes: 8_192,
        build_fs_per_byte: 0,
        produce_fs_per_byte: 1_000,
        consume_fs_per_byte: 0,
        consume_chunk_bytes: 8_192,
        unpack_fs_per_byte: 0,
    };
    let gap = Distribution::Constant(1_000);
    Arc::new(OltpProfile {
        statements: vec![statement],
        gap,
        gap_from,
        transactions: 2,
        warmup_transactions: 0,
    })
}

/// A profile in which the statement was changed.
fn changed(change: impl FnOnce(&mut Statement)) -> Arc<OltpProfile> {
    let mut shared = profile(GapFrom::End);
    change(&mut Arc::get_mut(&mut shared).expect("not shared yet").statements[0]);
    shared
}

/// When the server writes, after a request at 10 ps.
fn writes(profile: Arc<OltpProfile>) -> (Vec<u64>, String) {
    let mut server = OltpServer::new(profile, RandomStream::new(1, "server"));
    let mut notes = Notes::default();
    server.handle_readable(Time::from_ps(10), 100, &mut notes);
    let mut due = Vec::new();
    while !server.poll_timeout().is_never() {
        due.push(server.poll_timeout().ps());
        server.handle_timeout(server.poll_timeout(), &mut notes);
    }
    (due, notes.said.join(", "))
}

#[test]
fn the_server_writes_pieces_when_they_are_produced() {
    let (due, said) = writes(profile(GapFrom::End));
    assert_eq!(due, [10 + 50 + 8_192, 10 + 50 + 16_384, 10 + 50 + 20_000]);
    assert_eq!(said, "write 8192, write 8192, write 3616");
}

#[test]
fn a_server_with_work_waits_for_a_core_and_leaves_it_before_it_writes() {
    let profile = changed(|statement| {
        (statement.server_work, statement.write_bytes) = (Span::from_ps(700), 0)
    });
    let mut server = OltpServer::new(profile, RandomStream::new(1, "server"));
    let mut notes = Notes { is_host_busy: true, ..Notes::default() };
    server.handle_readable(Time::from_ps(10), 100, &mut notes);
    assert_eq!((server.poll_timeout(), notes.said.join(", ").as_str()), (Time::NEVER, "ask"));
    server.handle_core(&mut notes); // at 1 us
    assert_eq!(server.poll_timeout(), Time::from_ps(1_000_700));
    server.handle_timeout(Time::from_ps(1_000_700), &mut notes);
    assert_eq!(server.poll_timeout(), Time::from_ps(1_000_700 + 50 + 20_000));
    server.handle_timeout(server.poll_timeout(), &mut notes);
    assert_eq!(notes.said.join(", "), "ask, compute 700, leave, write 20000");
}

#[test]
fn a_response_is_built_whole_before_its_first_piece_is_written() {
    const BUILD: u64 = 20_000 * 3; // 3 ps for each of its bytes
    let (due, said) = writes(changed(|statement| statement.build_fs_per_byte = 3_000));
    assert_eq!(due, [10 + 50 + BUILD + 8_192, 10 + 50 + BUILD + 16_384, 10 + 50 + BUILD + 20_000]);
    assert_eq!(said, "write 8192, write 8192, write 3616");
}

#[test]
fn a_late_transaction_of_a_paced_user_counts_from_when_it_was_due() {
    let mut notes = Notes::default();
    let mut client = OltpClient::new(
        profile(GapFrom::Start),
        3,
        Time::ZERO,
        Time::ZERO,
        RandomStream::new(1, "client"),
    );
    client.handle_timeout(Time::ZERO, &mut notes);
    client.handle_connected(Time::from_ps(500), &mut notes);
    client.handle_readable(Time::from_ps(9_000), 20_000, &mut notes); // 7 500 late for the next
    client.handle_readable(Time::from_ps(9_900), 20_000, &mut notes);
    let expected = [
        "connect",
        "write 100",
        "user 3 completed what was due at 500 ps",
        "write 100",
        "user 3 completed what was due at 1500 ps",
        "user 3 finished",
    ];
    assert_eq!(notes.said, expected);
}

/// A user that works 1 ps on each byte, connected, with its first request sent.
fn working_user(notes: &mut Notes) -> OltpClient {
    let shared = changed(|statement| statement.consume_fs_per_byte = 1_000);
    let mut client =
        OltpClient::new(shared, 0, Time::ZERO, Time::ZERO, RandomStream::new(1, "client"));
    client.handle_timeout(Time::ZERO, notes);
    client.handle_connected(Time::ZERO, notes);
    assert_eq!(notes.said, ["connect", "leave unread", "write 100"]);
    notes.said.clear();
    client
}

/// Two arrivals, then everything that the user does until its transaction is complete.
fn worked(slice: Span) -> String {
    let mut notes = Notes { slice, ..Notes::default() };
    let mut client = working_user(&mut notes);
    client.handle_readable(Time::from_ps(10), 3_000, &mut notes);
    client.handle_readable(Time::from_ps(20), 17_000, &mut notes);
    for _ in 0..4 {
        client.handle_timeout(client.poll_timeout(), &mut notes);
    }
    notes.said.join(", ")
}

#[test]
fn without_a_time_slice_the_core_is_left_after_every_piece() {
    let pieces = [3_000, 8_192, 8_192, 616]
        .map(|bytes| format!("ask, read {bytes}, compute {bytes}, leave"));
    assert_eq!(worked(Span::ZERO), pieces.join(", ") + ", user 0 completed what was due at 0 ps");
}

#[test]
fn the_core_is_left_when_the_slice_is_over_or_nothing_is_left_to_read() {
    let expected = "ask, read 3000, compute 3000, read 8192, compute 8192, leave, \
                    ask, read 8192, compute 8192, read 616, compute 616, leave, user 0 completed what was due at 0 ps";
    assert_eq!(worked(Span::from_ps(11_000)), expected);
}

#[test]
fn a_user_without_a_core_reads_nothing_and_then_all_that_has_come() {
    let mut notes = Notes { is_host_busy: true, ..Notes::default() };
    let mut client = working_user(&mut notes);
    client.handle_readable(Time::from_ps(10), 1_000, &mut notes);
    client.handle_readable(Time::from_ps(20), 3_000, &mut notes);
    assert_eq!((notes.said.join(", "), client.poll_timeout()), ("ask".into(), Time::NEVER));
    client.handle_core(&mut notes);
    assert_eq!(notes.said[1..], ["read 4000", "compute 4000"]);
}

/// A user that unpacks 2 ps for each byte, up to the last byte of its response and the end of the
/// work on it.
fn unpacked(notes: &mut Notes, consume_fs_per_byte: u64) -> OltpClient {
    let shared = changed(|statement| {
        (statement.consume_fs_per_byte, statement.unpack_fs_per_byte) =
            (consume_fs_per_byte, 2_000);
    });
    let mut client =
        OltpClient::new(shared, 0, Time::ZERO, Time::ZERO, RandomStream::new(1, "client"));
    client.handle_timeout(Time::ZERO, notes);
    client.handle_connected(Time::ZERO, notes);
    notes.said.clear();
    client.handle_readable(Time::from_ps(10), 19_000, notes);
    client.handle_readable(Time::from_ps(20), 1_000, notes);
    client
}

#[test]
fn a_response_is_unpacked_when_its_last_byte_has_come_and_then_the_statement_ends() {
    let mut notes = Notes::default();
    let mut client = unpacked(&mut notes, 0);
    assert_eq!(notes.said.join(", "), "ask, compute 40000");
    assert_eq!(client.poll_timeout(), Time::from_ps(1_040_000));
    client.handle_timeout(Time::from_ps(1_040_000), &mut notes);
    assert_eq!(notes.said[2..], ["leave", "user 0 completed what was due at 0 ps"]);
    assert_eq!(client.poll_timeout(), Time::from_ps(1_041_000), "the pause counts from there");
}

#[test]
fn a_user_who_works_on_what_arrives_unpacks_after_the_last_piece() {
    let mut notes = Notes::default();
    let mut client = unpacked(&mut notes, 1_000);
    for _ in 0..4 {
        client.handle_timeout(client.poll_timeout(), &mut notes);
    }
    let said = notes.said.join(", ");
    assert!(
        said.ends_with(
            "compute 3616, leave, ask, compute 40000, leave, user 0 completed what was due at 0 ps"
        ),
        "{said}"
    );
}

#[test]
fn without_a_core_a_whole_response_waits_for_one() {
    let mut notes = Notes { is_host_busy: true, ..Notes::default() };
    let mut client = unpacked(&mut notes, 0);
    assert_eq!((notes.said.join(", "), client.poll_timeout()), ("ask".into(), Time::NEVER));
    client.handle_core(&mut notes);
    assert_eq!(notes.said[1..], ["compute 40000"]);
}

#[test]
fn a_user_who_connects_early_waits_for_its_first_transaction() {
    let mut notes = Notes::default();
    let start = Time::from_ps(700);
    let mut client = OltpClient::new(
        profile(GapFrom::End),
        0,
        Time::ZERO,
        start,
        RandomStream::new(1, "client"),
    );
    client.handle_timeout(Time::ZERO, &mut notes);
    client.handle_connected(Time::from_ps(500), &mut notes);
    assert_eq!((notes.said.join(", "), client.poll_timeout()), ("connect".into(), start));
    client.handle_timeout(start, &mut notes);
    client.handle_readable(Time::from_ps(900), 20_000, &mut notes);
    assert_eq!(notes.said[1..], ["write 100", "user 0 completed what was due at 700 ps"]);
}

#[test]
fn a_thinking_user_pauses_after_the_end() {
    let mut notes = Notes::default();
    let mut client = OltpClient::new(
        profile(GapFrom::End),
        0,
        Time::ZERO,
        Time::ZERO,
        RandomStream::new(1, "client"),
    );
    client.handle_timeout(Time::ZERO, &mut notes);
    client.handle_connected(Time::from_ps(500), &mut notes);
    client.handle_readable(Time::from_ps(9_000), 20_000, &mut notes);
    assert_eq!(client.poll_timeout(), Time::from_ps(10_000));
}

/// The transactions that are reported as running at a time, of a user whose first transaction began
/// at 500 ps and has no answer.
fn running(profile: Arc<OltpProfile>, now_ps: u64) -> Vec<(u32, u64)> {
    let mut notes = Notes::default();
    let mut client =
        OltpClient::new(profile, 3, Time::ZERO, Time::ZERO, RandomStream::new(1, "client"));
    client.handle_timeout(Time::ZERO, &mut notes);
    client.running(Time::from_ps(400), |_, _| panic!("it is not connected"));
    client.handle_connected(Time::from_ps(500), &mut notes);
    let mut running = Vec::new();
    client.running(Time::from_ps(now_ps), |user, intended| running.push((user, intended.ps())));
    running
}

#[test]
fn a_transaction_without_an_answer_is_running_since_it_was_due() {
    assert_eq!(running(profile(GapFrom::End), 9_000), [(3, 500)]);
}

#[test]
fn the_transactions_of_a_paced_user_that_are_due_behind_it_are_running_too() {
    let endless = |transactions, warmup_transactions| {
        let mut shared = profile(GapFrom::Start);
        let own = Arc::get_mut(&mut shared).expect("not shared yet");
        (own.transactions, own.warmup_transactions) = (transactions, warmup_transactions);
        shared
    };
    assert_eq!(running(endless(0, 0), 2_499), [(3, 500), (3, 1_500)]);
    assert_eq!(running(endless(0, 0), 2_500), [(3, 500), (3, 1_500), (3, 2_500)]);
    assert_eq!(running(endless(2, 0), 9_000), [(3, 500), (3, 1_500)], "it has no third");
    assert_eq!(
        running(endless(3, 1), 9_000),
        [(3, 1_500), (3, 2_500)],
        "the first is not recorded"
    );
}

#[test]
fn a_user_who_pauses_or_has_done_its_number_has_nothing_running() {
    let mut notes = Notes::default();
    let mut client = OltpClient::new(
        profile(GapFrom::End),
        0,
        Time::ZERO,
        Time::ZERO,
        RandomStream::new(1, "client"),
    );
    client.handle_timeout(Time::ZERO, &mut notes);
    client.handle_connected(Time::ZERO, &mut notes);
    client.handle_readable(Time::from_ps(100), 20_000, &mut notes);
    client.running(Time::from_ps(900), |_, _| panic!("it pauses until 1100 ps"));
    client.handle_timeout(Time::from_ps(1_100), &mut notes);
    client.handle_readable(Time::from_ps(1_200), 20_000, &mut notes);
    client.running(Time::from_ps(9_000), |_, _| panic!("it has done both"));
}
