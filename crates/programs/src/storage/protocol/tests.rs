//! Both ends of a session, and a device between, without a network.

mod captured;
mod cases;
mod properties;

use super::{
    Arrival, Completion, Conduit, InitiatorSession, Pdu, PduKind, Reader, Rules, Served,
    TargetSession,
};
use std::fmt::Write;
use std::sync::Arc;
use tailrace_blockdev::{Op, Request};
use tailrace_units::{Span, Time};

/// Both ends, units on their way, and units written, in order.
struct Session {
    rules: Arc<Rules>,
    initiator: InitiatorSession,
    target: TargetSession,
    ways: [(Conduit, Reader); 2],
    /// Whether it went to the target, and the unit.
    written: Vec<(bool, Pdu)>,
    at_device: Vec<Arrival>,
    done: Vec<Completion>,
    now: Time,
}

impl Session {
    fn new(rules: Rules) -> Session {
        let rules = Arc::new(rules);
        Session {
            initiator: InitiatorSession::new(Arc::clone(&rules)),
            target: TargetSession::new(Arc::clone(&rules)),
            rules,
            ways: [
                (Conduit::default(), Reader::default()),
                (Conduit::default(), Reader::default()),
            ],
            written: Vec::new(),
            at_device: Vec::new(),
            done: Vec::new(),
            now: Time::ZERO,
        }
    }

    /// Everything that the ends want to write is written.
    fn write(&mut self) {
        while let Some(pdu) = self.initiator.poll_pdu() {
            self.ways[0].0.write(pdu);
            self.written.push((true, pdu));
        }
        while let Some(pdu) = self.target.poll_pdu() {
            self.ways[1].0.write(pdu);
            self.written.push((false, pdu));
        }
        while let Some(arrival) = self.target.poll_whole() {
            self.at_device.push(arrival);
        }
        while let Some(done) = self.initiator.poll_done() {
            self.done.push(done);
        }
    }

    /// This many bytes arrive at the target, or at the initiator.
    fn arrive(&mut self, is_to_target: bool, bytes: u64) {
        let (conduit, reader) = &mut self.ways[usize::from(!is_to_target)];
        reader.handle_bytes(bytes);
        while let Some(pdu) = reader.poll_pdu(conduit) {
            if is_to_target {
                self.target.handle_pdu(pdu);
            } else {
                self.initiator.handle_pdu(self.now, pdu);
            }
        }
        self.write();
    }

    /// The device serves its requests in order, and everything that is written arrives, until
    /// nothing moves.
    fn run(&mut self) {
        self.write();
        loop {
            let moving: Vec<bool> =
                [true, false].into_iter().filter(|&to_target| self.on_way(to_target) > 0).collect();
            for &is_to_target in &moving {
                self.arrive(is_to_target, self.on_way(is_to_target));
            }
            if moving.is_empty() {
                if self.at_device.is_empty() {
                    return;
                }
                let arrival = self.at_device.remove(0);
                self.target.handle_served(arrival.tag, Served::default());
                self.write();
            }
        }
    }

    fn on_way(&self, is_to_target: bool) -> u64 {
        self.ways[usize::from(!is_to_target)].0.bytes()
    }

    /// A request alone, from its command to its status.
    fn ask(&mut self, operation: Op, length: u32) {
        self.initiator.begin(
            self.now,
            0,
            Request { op: operation, offset: 0, bytes: length.into(), tag: 0 },
        );
        self.run();
    }

    /// The units written: count, direction, kind, bytes, and of an R2T the bytes that it asks for.
    fn listing(&self) -> String {
        let mut lines: Vec<(u32, String)> = Vec::new();
        for (is_to_target, pdu) in &self.written {
            let line = format!("{} {}", if *is_to_target { '>' } else { '<' }, in_words(pdu));
            match lines.last_mut() {
                Some((count, last)) if *last == line => *count += 1,
                _ => lines.push((1, line)),
            }
        }
        let mut text = String::new();
        lines
            .iter()
            .for_each(|(count, line)| writeln!(text, "{count} {line}").expect("text has room"));
        text
    }
}

fn in_words(pdu: &Pdu) -> String {
    let bytes = pdu.bytes;
    match pdu.kind {
        PduKind::SetUp => format!("set-up {bytes}"),
        PduKind::Command { .. } => format!("command {bytes}"),
        PduKind::ReadyToTransfer { length } => format!("r2t {bytes} {}+{length}", pdu.offset),
        PduKind::DataOut { .. } => format!("data-out {bytes}"),
        PduKind::DataIn { .. } => format!("data-in {bytes}"),
        PduKind::Response { .. } => format!("response {bytes}"),
    }
}

/// Sessions of the cases, which say what differs.
mod agreed {
    use super::super::{iscsi::Iscsi, nvme_tcp::NvmeTcp};

    const KIB: u32 = 1024;

    /// Parameters of libiscsi with tgt, without the set-up.
    pub(super) fn libiscsi_and_tgt() -> Iscsi {
        Iscsi {
            initial_r2t: true,
            immediate_data: true,
            first_burst: 64 * KIB,
            max_burst: 256 * KIB,
            initiator_max_recv: 256 * KIB,
            target_max_recv: 8 * KIB,
            max_outstanding_r2t: 1,
            header_digest: false,
            data_digest: false,
            status_with_data: true,
            cuts_sequences: false,
            commands: 129,
            counts_unanswered: false,
            requests: 128,
            set_up: Vec::new(),
        }
    }

    /// Parameters of open-iscsi with LIO, without the set-up.
    pub(super) fn open_iscsi_and_lio() -> Iscsi {
        Iscsi {
            target_max_recv: 256 * KIB,
            cuts_sequences: true,
            commands: 64,
            counts_unanswered: true,
            requests: 32,
            ..libiscsi_and_tgt()
        }
    }

    /// Parameters of Linux hosts with Linux targets.
    pub(super) fn linux_nvme() -> NvmeTcp {
        NvmeTcp {
            in_capsule: 16 * KIB,
            max_h2c_data: 4096 * KIB,
            max_c2h_data: u32::MAX,
            max_transfer: u32::MAX,
            max_outstanding_r2t: 1,
            success_flag: false,
            header_digest: false,
            data_digest: false,
            queue_size: 128,
        }
    }
}

fn lasted(nanoseconds: u64) -> Span {
    Span::from_ps(nanoseconds * 1000)
}
