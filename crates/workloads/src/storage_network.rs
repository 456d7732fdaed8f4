//! Requests of storage over a network: the plan's settings of a protocol, as sessions have them.

use std::sync::Arc;
use tailrace_plan::{RawIscsi, RawNbd, RawNvmeTcp, RawStorageProtocol};
use tailrace_programs::storage_protocol::{Rules, iscsi::Iscsi, nbd::Nbd, nvme_tcp::NvmeTcp};

/// The rules of each session, and the number of connections of an initiator; none where devices are
/// in initiators.
pub(crate) fn agreed(protocol: &RawStorageProtocol) -> Option<(Arc<Rules>, u32)> {
    let (rules, connections) = match protocol {
        RawStorageProtocol::Local => return None,
        RawStorageProtocol::Iscsi(raw) => (iscsi(raw).rules(), 1),
        RawStorageProtocol::NvmeTcp(raw) => (nvme_tcp(raw).rules(), raw.queues),
        RawStorageProtocol::Nbd(raw) => (nbd(raw).rules(), raw.connections),
    };
    Some((Arc::new(rules), connections))
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

/// Linux targets ask for all of a write at once, and send all of a read in one unit
/// (`drivers/nvme/target/tcp.c`).
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

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_programs::storage_protocol::Immediate;

    const KIB: u32 = 1_024;

    #[test]
    fn a_session_of_iscsi_has_agreed_on_what_the_plan_says() {
        let raw = RawIscsi {
            initial_r2t: false,
            immediate_data: true,
            first_burst_bytes: 64 * KIB,
            max_burst_bytes: 256 * KIB,
            initiator_max_recv_bytes: 128 * KIB,
            target_max_recv_bytes: 8 * KIB,
            max_outstanding_r2t: 3,
            header_digest: true,
            data_digest: false,
            status_with_data: true,
            cuts_sequences: true,
            commands: 64,
            counts_unanswered: false,
            requests: 32,
            set_up_bytes: vec![[452, 348]],
        };
        let (rules, connections) =
            agreed(&RawStorageProtocol::Iscsi(Box::new(raw))).expect("it leads over the network");
        assert_eq!(
            (connections, rules.immediate, rules.first_burst),
            (1, Immediate::UpTo(8 * KIB), 64 * KIB)
        );
        assert_eq!((rules.burst, rules.sequence, rules.outstanding), (256 * KIB, 256 * KIB, 3));
        assert_eq!((rules.data_in, rules.data_out), (128 * KIB, 8 * KIB));
        assert_eq!((rules.header_digest, rules.data_digest), (4, 0));
        assert_eq!((rules.is_status_with_data, rules.counts_unanswered), (true, false));
        assert_eq!((rules.commands, rules.requests), (64, 32));
        assert_eq!(rules.set_up.iter().map(|step| step.bytes).collect::<Vec<u32>>(), [452, 348]);
    }

    #[test]
    fn initiators_of_nvme_tcp_and_nbd_have_the_connections_of_the_plan() {
        let nvme = RawNvmeTcp {
            queues: 6,
            queue_size: 128,
            in_capsule_bytes: 16 * KIB,
            max_h2c_data_bytes: 64 * KIB,
            success_flag: true,
            header_digest: false,
            data_digest: true,
        };
        let (rules, connections) =
            agreed(&RawStorageProtocol::NvmeTcp(nvme)).expect("it leads over the network");
        assert_eq!(
            (connections, rules.commands, rules.immediate),
            (6, 127, Immediate::AllWithin(16 * KIB))
        );
        assert_eq!(
            (rules.data_out, rules.data_in, rules.is_status_with_data),
            (64 * KIB, u32::MAX, true)
        );
        assert_eq!((rules.header_digest, rules.data_digest), (0, 4));
        let nbd = RawNbd { connections: 5, requests: 16, structured_replies: true };
        let (rules, connections) =
            agreed(&RawStorageProtocol::Nbd(nbd)).expect("it leads over the network");
        assert_eq!((connections, rules.requests), (5, 16));
        assert_eq!(agreed(&RawStorageProtocol::Local), None);
    }
}
