//! Units of real programs, as captured, are those of sessions.

use super::super::{nbd::Nbd, nvme_tcp::NvmeTcp};
use super::{Rules, Session, agreed};
use tailrace_blockdev::Op;

const KIB: u32 = 1024;

fn units(capture: &str) -> String {
    capture.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// Requests and answers before the first command, in pairs.
fn set_up(capture: &str) -> Vec<[u32; 2]> {
    let steps = capture.lines().filter(|line| line.contains("set-up"));
    let sizes: Vec<u32> = steps
        .map(|line| line.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a size"))
        .collect();
    sizes.chunks(2).map(|pair| [pair[0], pair[1]]).collect()
}

#[test]
fn reads_and_writes_of_libiscsi_and_tgt_are_those_of_a_capture() {
    let capture = include_str!("../captures/libiscsi-tgt.txt");
    let mut session = Session::new(
        super::super::iscsi::Iscsi { set_up: set_up(capture), ..agreed::libiscsi_and_tgt() }
            .rules(),
    );
    session.run();
    for length in [1024 * KIB, 4 * KIB] {
        session.ask(Op::Read, length);
        session.ask(Op::Write, length);
    }
    session.ask(Op::Flush, 0);
    session.ask(Op::Write, 128 * KIB);
    session.ask(Op::Write, 300 * KIB);
    session.ask(Op::Flush, 0);
    assert_eq!(session.listing(), units(capture));
}

#[test]
fn a_handshake_reads_and_writes_of_qemu_and_nbdkit_are_those_of_a_capture() {
    let capture = include_str!("../captures/qemu-nbdkit.txt");
    let mut session = Session::new(Nbd { structured_replies: true, requests: 16 }.rules());
    session.run();
    for length in [1024 * KIB, 4 * KIB] {
        session.ask(Op::Read, length);
        session.ask(Op::Write, length);
    }
    session.ask(Op::Flush, 0);
    session.ask(Op::Flush, 0);
    assert_eq!(session.listing(), units(capture));
}

/// Requests of `tests/exact/storage-requests.sh`, after the 4 KiB in which Linux searches for
/// partitions.
fn asked_of_linux(rules: Rules) -> String {
    let mut session = Session::new(rules);
    session.run();
    for length in [4, 4, 1024] {
        session.ask(Op::Read, length * KIB);
    }
    for length in [4, 16, 20, 128, 300, 1024] {
        session.ask(Op::Write, length * KIB);
    }
    session.listing()
}

#[test]
fn reads_and_writes_of_open_iscsi_and_lio_are_those_of_a_capture() {
    let capture = include_str!("../captures/open-iscsi-lio.txt");
    let session =
        super::super::iscsi::Iscsi { set_up: set_up(capture), ..agreed::open_iscsi_and_lio() };
    assert_eq!(asked_of_linux(session.rules()), units(capture));
}

#[test]
fn a_connect_reads_and_writes_of_nvme_tcp_of_linux_are_those_of_a_capture() {
    assert_eq!(
        asked_of_linux(agreed::linux_nvme().rules()),
        units(include_str!("../captures/linux-nvme-tcp.txt"))
    );
}

#[test]
fn nvme_tcp_of_linux_with_digests_has_the_units_of_a_capture() {
    let queue = NvmeTcp { header_digest: true, data_digest: true, ..agreed::linux_nvme() };
    assert_eq!(
        asked_of_linux(queue.rules()),
        units(include_str!("../captures/linux-nvme-tcp-digests.txt"))
    );
}

#[test]
fn nvme_tcp_of_linux_without_flow_control_of_the_submission_queue_has_the_units_of_a_capture() {
    let queue = NvmeTcp { success_flag: true, ..agreed::linux_nvme() };
    assert_eq!(
        asked_of_linux(queue.rules()),
        units(include_str!("../captures/linux-nvme-tcp-success.txt"))
    );
}
