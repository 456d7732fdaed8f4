//! How requests of storage reach a device of another host.

use crate::PlanError;
use crate::error::require;
use serde::{Deserialize, Serialize};

/// How requests reach the device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawStorageProtocol {
    /// The device is in the initiator.
    Local,
    /// iSCSI.
    Iscsi(Box<RawIscsi>),
    /// NVMe over TCP.
    NvmeTcp(RawNvmeTcp),
    /// The NBD protocol.
    Nbd(RawNbd),
}

impl RawStorageProtocol {
    /// Most data in one unit, of reads or of writes, whichever is less.
    pub(super) fn unit_bytes(&self) -> u64 {
        match self {
            RawStorageProtocol::Local | RawStorageProtocol::Nbd(_) => u64::MAX,
            RawStorageProtocol::Iscsi(raw) => raw
                .initiator_max_recv_bytes
                .min(raw.target_max_recv_bytes)
                .min(raw.max_burst_bytes)
                .into(),
            RawStorageProtocol::NvmeTcp(raw) => raw.max_h2c_data_bytes.into(),
        }
    }
}

/// What the ends of an iSCSI session have agreed on (RFC 7143, chapter 13), and how they behave.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawIscsi {
    /// `InitialR2T`.
    pub initial_r2t: bool,
    /// `ImmediateData`.
    pub immediate_data: bool,
    /// `FirstBurstLength`.
    pub first_burst_bytes: u32,
    /// `MaxBurstLength`.
    pub max_burst_bytes: u32,
    /// `MaxRecvDataSegmentLength` of the initiator.
    pub initiator_max_recv_bytes: u32,
    /// The same of the target.
    pub target_max_recv_bytes: u32,
    /// `MaxOutstandingR2T`.
    pub max_outstanding_r2t: u32,
    /// `HeaderDigest` is CRC32C.
    pub header_digest: bool,
    /// `DataDigest` is CRC32C.
    pub data_digest: bool,
    /// The status of a read goes with its last data.
    pub status_with_data: bool,
    /// Data of reads is cut at `MaxBurstLength` too.
    pub cuts_sequences: bool,
    /// Commands that the target takes.
    pub commands: u32,
    /// These count until they are answered; otherwise until they arrive.
    pub counts_unanswered: bool,
    /// Requests that the initiator has under way at most.
    pub requests: u32,
    /// Bytes of what the initiator asks before its first command, and of each answer.
    pub set_up_bytes: Vec<[u32; 2]>,
}

/// What both ends of the queues of NVMe over TCP have agreed on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawNvmeTcp {
    /// I/O queues, each with a connection.
    pub queues: u32,
    /// Entries of a queue.
    pub queue_size: u32,
    /// Largest write that goes with its command.
    pub in_capsule_bytes: u32,
    /// Most data in one H2CData.
    pub max_h2c_data_bytes: u32,
    /// Reads end with a flag of their data.
    pub success_flag: bool,
    /// `HDGST`.
    pub header_digest: bool,
    /// `DDGST`.
    pub data_digest: bool,
}

/// What both ends of NBD have agreed on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawNbd {
    /// Connections of an initiator.
    pub connections: u32,
    /// Requests that a connection has under way at most.
    pub requests: u32,
    /// Structured replies.
    pub structured_replies: bool,
}

/// Lengths of iSCSI have 24 bits (RFC 7143, 13.12 to 13.14).
const ISCSI_LENGTHS: std::ops::RangeInclusive<u32> = 512..=(1 << 24) - 1;
/// Most steps of a set-up, and most bytes of one: far more than logins and questions about a device
/// need.
const STEPS_MAX: usize = 64;
const STEP_BYTES_MAX: u32 = 1 << 16;
/// Most connections of an initiator.
const CONNECTIONS_MAX: u32 = 128;
/// Most requests of a session that are under way: tags of NVMe have 16 bits.
const REQUESTS_MAX: u32 = 1 << 16;
/// Least `MAXH2CDATA` (TCP Transport Specification, 3.6.2.3).
const H2C_DATA_MIN: u32 = 4_096;

/// Whether both ends can have agreed on this.
pub(super) fn check(protocol: &RawStorageProtocol, name: &str) -> Result<(), PlanError> {
    match protocol {
        RawStorageProtocol::Local => Ok(()),
        RawStorageProtocol::Iscsi(raw) => check_iscsi(raw, name),
        RawStorageProtocol::NvmeTcp(raw) => check_nvme_tcp(raw, name),
        RawStorageProtocol::Nbd(raw) => {
            require(
                (1..=CONNECTIONS_MAX).contains(&raw.connections),
                name,
                "connections must be 1 to 128",
            )?;
            require(
                (1..=REQUESTS_MAX).contains(&raw.requests),
                name,
                "requests of a connection must be 1 to 65 536",
            )
        }
    }
}

fn check_iscsi(raw: &RawIscsi, name: &str) -> Result<(), PlanError> {
    let lengths = [
        raw.first_burst_bytes,
        raw.max_burst_bytes,
        raw.initiator_max_recv_bytes,
        raw.target_max_recv_bytes,
    ];
    require(
        lengths.iter().all(|length| ISCSI_LENGTHS.contains(length)),
        name,
        "lengths of iSCSI must be 512 to 16 777 215",
    )?;
    require(
        raw.first_burst_bytes <= raw.max_burst_bytes,
        name,
        "the first burst must not be longer than the others",
    )?;
    require(
        (1..=u32::from(u16::MAX)).contains(&raw.max_outstanding_r2t),
        name,
        "max_outstanding_r2t must be 1 to 65 535",
    )?;
    require((1..=REQUESTS_MAX).contains(&raw.commands), name, "commands must be 1 to 65 536")?;
    require(
        (1..=REQUESTS_MAX).contains(&raw.requests),
        name,
        "requests of a session must be 1 to 65 536",
    )?;
    require(raw.set_up_bytes.len() <= STEPS_MAX, name, "a set-up must have at most 64 steps")?;
    let are_short =
        raw.set_up_bytes.iter().flatten().all(|bytes| (1..=STEP_BYTES_MAX).contains(bytes));
    require(are_short, name, "a step of the set-up must have 1 to 65 536 bytes")
}

fn check_nvme_tcp(raw: &RawNvmeTcp, name: &str) -> Result<(), PlanError> {
    require((1..=CONNECTIONS_MAX).contains(&raw.queues), name, "queues must be 1 to 128")?;
    require((2..=REQUESTS_MAX).contains(&raw.queue_size), name, "queue_size must be 2 to 65 536")?;
    let h2c_data = raw.max_h2c_data_bytes;
    require(
        h2c_data >= H2C_DATA_MIN && h2c_data.is_multiple_of(4),
        name,
        "max_h2c_data_bytes must be words, and at least 4096",
    )
}
