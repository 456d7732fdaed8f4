//! Requests of storage over a network: what the plan says of a protocol, as sessions have it.

use std::rc::Rc;
use tailrace_endpoint::app::storage_protocol::{Rules, iscsi::Iscsi, nbd::Nbd, nvme_tcp::NvmeTcp};
use tailrace_plan::{RawIscsi, RawNbd, RawNvmeTcp, RawStorageProtocol};

/// What each session has agreed on, and how many connections an initiator has; none where devices are in initiators.
pub(crate) fn agreed(protocol: &RawStorageProtocol) -> Option<(Rc<Rules>, u32)> {
    let (rules, connections) = match protocol {
        RawStorageProtocol::Local => return None,
        RawStorageProtocol::Iscsi(raw) => (iscsi(raw).rules(), 1),
        RawStorageProtocol::NvmeTcp(raw) => (nvme_tcp(raw).rules(), raw.queues),
        RawStorageProtocol::Nbd(raw) => (nbd(raw).rules(), raw.connections),
    };
    Some((Rc::new(rules), connections))
}

fn iscsi(raw: &RawIscsi) -> Iscsi {
    Iscsi {
        initial_r2t: raw.initial_r2t,
        immediate_data: raw.immediate_data,
        first_burst: raw.first_burst_bytes,
        max_burst: raw.max_burst_bytes,
        initiator_max_recv: raw.initiator_max_recv_bytes,
        target_max_recv: raw.target_max_recv_bytes,
        max_outstanding_r2t: raw.max_outstanding_r2t,
        header_digest: raw.header_digest,
        data_digest: raw.data_digest,
        status_with_data: raw.status_with_data,
        cuts_sequences: raw.cuts_sequences,
        commands: raw.commands,
        counts_unanswered: raw.counts_unanswered,
        requests: raw.requests,
        set_up: raw.set_up_bytes.clone(),
    }
}

/// Linux targets ask for all of a write at once, and send all of a read in one unit (`drivers/nvme/target/tcp.c`).
fn nvme_tcp(raw: &RawNvmeTcp) -> NvmeTcp {
    NvmeTcp {
        in_capsule: raw.in_capsule_bytes,
        max_h2c_data: raw.max_h2c_data_bytes,
        max_c2h_data: u32::MAX,
        max_transfer: u32::MAX,
        max_outstanding_r2t: 1,
        success_flag: raw.success_flag,
        header_digest: raw.header_digest,
        data_digest: raw.data_digest,
        queue_size: raw.queue_size,
    }
}

fn nbd(raw: &RawNbd) -> Nbd {
    Nbd { structured_replies: raw.structured_replies, requests: raw.requests }
}
