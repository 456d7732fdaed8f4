//! Units of single requests, case by case.

use super::super::iscsi::Iscsi;
use super::super::nbd::Nbd;
use super::super::nvme_tcp::NvmeTcp;
use super::super::{PduKind, Served};
use super::{Session, agreed, lasted};
use tailrace_blockdev::{Op, Request};
use tailrace_units::Time;

const KIB: u32 = 1024;

/// The units of one request of this length.
fn seen(rules: super::Rules, operation: Op, length: u32) -> String {
    let mut session = Session::new(rules);
    session.ask(operation, length);
    session.listing()
}

fn iscsi(change: impl FnOnce(&mut Iscsi)) -> super::Rules {
    let mut agreed = Iscsi { target_max_recv: 32 * KIB, ..agreed::libiscsi_and_tgt() };
    change(&mut agreed);
    agreed.rules()
}

fn nvme(change: impl FnOnce(&mut NvmeTcp)) -> super::Rules {
    let mut agreed = agreed::linux_nvme();
    change(&mut agreed);
    super::Rules { set_up: Vec::new(), ..agreed.rules() }
}

#[test]
fn data_that_no_one_asked_for_is_what_initial_r2t_and_immediate_data_allow() {
    let write = |initial_r2t, immediate_data| {
        let rules = iscsi(|agreed| {
            (agreed.initial_r2t, agreed.immediate_data) = (initial_r2t, immediate_data)
        });
        seen(rules, Op::Write, 128 * KIB)
    };
    // Data: 32 KiB in a unit, 64 KiB in the first burst (RFC 7143, 13.10, 13.11, 13.14).
    assert_eq!(
        write(true, false),
        "1 > command 48\n1 < r2t 48 0+131072\n4 > data-out 32816\n1 < response 48\n"
    );
    assert_eq!(
        write(true, true),
        "1 > command 32816\n1 < r2t 48 32768+98304\n3 > data-out 32816\n1 < response 48\n"
    );
    let unsolicited = "1 > command 48\n2 > data-out 32816\n1 < r2t 48 65536+65536\n2 > data-out 32816\n1 < response 48\n";
    assert_eq!(write(false, false), unsolicited);
    let both = "1 > command 32816\n1 > data-out 32816\n1 < r2t 48 65536+65536\n2 > data-out 32816\n1 < response 48\n";
    assert_eq!(write(false, true), both);
}

#[test]
fn a_write_within_the_first_burst_is_not_asked_for() {
    let rules = iscsi(|agreed| agreed.initial_r2t = false);
    assert_eq!(
        seen(rules, Op::Write, 40 * KIB),
        "1 > command 32816\n1 > data-out 8240\n1 < response 48\n"
    );
}

#[test]
fn digests_and_padding_are_counted_with_header_and_data() {
    let rules = iscsi(|agreed| (agreed.header_digest, agreed.data_digest) = (true, true));
    // 48 + 4 of a header; 513 bytes are padded to 516, and 4.
    assert_eq!(seen(rules.clone(), Op::Write, 513), "1 > command 572\n1 < response 52\n");
    assert_eq!(seen(rules, Op::Read, 513), "1 > command 52\n1 < data-in 572\n");
}

#[test]
fn several_r2ts_are_outstanding_at_a_time_if_both_ends_agree() {
    let rules = iscsi(|agreed| {
        (agreed.immediate_data, agreed.max_burst, agreed.max_outstanding_r2t) =
            (false, 32 * KIB, 2);
    });
    let text = "1 > command 48\n1 < r2t 48 0+32768\n1 < r2t 48 32768+32768\n2 > data-out 32816\n1 < r2t 48 65536+32768\n\
                1 < r2t 48 98304+32768\n2 > data-out 32816\n1 < response 48\n";
    assert_eq!(seen(rules, Op::Write, 128 * KIB), text);
}

#[test]
fn sequences_of_a_read_end_at_max_burst_and_the_status_may_come_alone() {
    let rules = iscsi(|agreed| {
        (agreed.initiator_max_recv, agreed.max_burst) = (48 * KIB, 64 * KIB);
        (agreed.cuts_sequences, agreed.status_with_data) = (true, false);
    });
    let text = "1 > command 48\n1 < data-in 49200\n1 < data-in 16432\n1 < data-in 49200\n1 < data-in 16432\n1 < response 48\n";
    assert_eq!(seen(rules, Op::Read, 128 * KIB), text);
}

#[test]
fn a_write_goes_in_its_capsule_whole_or_not_at_all() {
    assert_eq!(seen(nvme(|_| ()), Op::Write, 16 * KIB), "1 > command 16456\n1 < response 24\n");
    let asked = "1 > command 72\n1 < r2t 24 0+20480\n1 > data-out 20504\n1 < response 24\n";
    assert_eq!(seen(nvme(|_| ()), Op::Write, 20 * KIB), asked);
    let pieces = "1 > command 72\n1 < r2t 24 0+20480\n5 > data-out 4120\n1 < response 24\n";
    assert_eq!(seen(nvme(|agreed| agreed.max_h2c_data = 4 * KIB), Op::Write, 20 * KIB), pieces);
}

#[test]
fn a_target_of_nvme_tcp_asks_for_no_more_and_sends_no_more_at_a_time_than_its_limits() {
    let rules = nvme(|agreed| (agreed.max_transfer, agreed.max_c2h_data) = (8 * KIB, 4 * KIB));
    let text = "1 > command 72\n1 < r2t 24 0+8192\n1 > data-out 8216\n1 < r2t 24 8192+8192\n1 > data-out 8216\n\
                1 < r2t 24 16384+4096\n1 > data-out 4120\n1 < response 24\n";
    assert_eq!(seen(rules.clone(), Op::Write, 20 * KIB), text);
    assert_eq!(
        seen(rules, Op::Read, 9 * KIB),
        "1 > command 72\n2 < data-in 4120\n1 < data-in 1048\n1 < response 24\n"
    );
}

#[test]
fn the_success_flag_saves_the_response() {
    let read =
        |success_flag| seen(nvme(|agreed| agreed.success_flag = success_flag), Op::Read, 4 * KIB);
    assert_eq!(read(true), "1 > command 72\n1 < data-in 4120\n");
    assert_eq!(read(false), "1 > command 72\n1 < data-in 4120\n1 < response 24\n");
    let digests = nvme(|agreed| (agreed.header_digest, agreed.data_digest) = (true, true));
    assert_eq!(
        seen(digests, Op::Read, 4 * KIB),
        "1 > command 76\n1 < data-in 4128\n1 < response 28\n"
    );
}

#[test]
fn a_queue_is_connected_before_its_first_command() {
    let text = "1 > set-up 128\n1 < set-up 128\n1 > set-up 1096\n1 < set-up 24\n1 > command 72\n1 < response 24\n";
    let rules = agreed::linux_nvme().rules();
    assert_eq!(seen(rules, Op::Flush, 0), text);
}

#[test]
fn simple_replies_carry_data_behind_sixteen_bytes() {
    let rules = super::Rules {
        set_up: Vec::new(),
        ..Nbd { structured_replies: false, requests: 16 }.rules()
    };
    assert_eq!(seen(rules.clone(), Op::Read, 512), "1 > command 28\n1 < data-in 528\n");
    assert_eq!(seen(rules, Op::Write, 512), "1 > command 540\n1 < response 16\n");
}

/// How many commands are sent while none is answered, and while the first one is at the device.
fn sent_before_answers(rules: super::Rules) -> [usize; 2] {
    let mut session = Session::new(rules);
    for job in 0..10 {
        session.initiator.begin(
            Time::ZERO,
            job,
            Request { op: Op::Read, offset: 0, bytes: 512, tag: 0 },
        );
    }
    session.write();
    let commands = |session: &Session| {
        session
            .written
            .iter()
            .filter(|(_, pdu)| matches!(pdu.kind, PduKind::Command { .. }))
            .count()
    };
    let first = commands(&session);
    session.arrive(true, session.on_way(true));
    session.target.handle_served(0, Served::default());
    session.write();
    session.arrive(false, session.on_way(false));
    [first, commands(&session)]
}

#[test]
fn the_command_window_opens_as_commands_arrive_or_as_they_are_answered() {
    let window = |counts_unanswered| {
        sent_before_answers(iscsi(|agreed| {
            (agreed.commands, agreed.counts_unanswered) = (2, counts_unanswered)
        }))
    };
    assert_eq!((window(false), window(true)), ([2, 4], [2, 3]));
}

#[test]
fn a_queue_of_nvme_tcp_holds_one_command_less_than_it_has_entries() {
    assert_eq!(sent_before_answers(nvme(|agreed| agreed.queue_size = 4)), [3, 4]);
}

#[test]
fn the_parts_of_a_latency_are_its_whole() {
    let mut session = Session::new(iscsi(|_| ()));
    let at = |nanoseconds| Time::ZERO + lasted(nanoseconds);
    session.initiator.begin(
        at(0),
        7,
        Request { op: Op::Write, offset: 0, bytes: (300 * KIB).into(), tag: 0 },
    );
    session.write();
    // R2Ts come at 10 and 30, and the status at 100, of which the device had it for 5 and 20.
    for now in [10, 30, 100] {
        session.arrive(true, session.on_way(true));
        if let Some(arrival) = session.at_device.pop() {
            session.target.handle_served(
                arrival.tag,
                Served { queue: lasted(5), device: lasted(20), ..Served::default() },
            );
            session.write();
        }
        session.now = at(now);
        session.arrive(false, session.on_way(false));
    }
    let done = session.done[0];
    assert_eq!(
        (done.job, done.total, done.set_up, done.entry),
        (7, lasted(100), lasted(0), lasted(0))
    );
    assert_eq!((done.ready_to_transfer, done.network()), (lasted(30), lasted(45)));
}

#[test]
fn unanswered_requests_are_reported_when_the_connection_is_gone() {
    let mut session = Session::new(iscsi(|agreed| agreed.commands = 1));
    for job in [4, 9] {
        session.initiator.begin(
            Time::ZERO,
            job,
            Request { op: Op::Read, offset: 0, bytes: 512, tag: 0 },
        );
    }
    assert_eq!(session.initiator.unanswered(), 2);
    let lost: Vec<u64> = session.initiator.take_unanswered().map(|(job, _)| job).collect();
    assert_eq!(lost, [4, 9]);
}
