//! iSCSI (RFC 7143).

use super::{Headers, Immediate, Rules, SetupMessage};

/// Basic header segment; no additional ones are used (11.2.1).
const HEADER: u32 = 48;
/// CRC32C (13.1).
const DIGEST: u32 = 4;
/// Data segments are padded to a whole number of words (11.2.4).
const WORD: u32 = 4;

/// Parameters that a session has agreed on, and those that each end has declared (chapter 13).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Iscsi {
    /// Data that a command does not carry is asked for from the start.
    pub initial_r2t: bool,
    /// Commands carry data.
    pub immediate_data: bool,
    /// Most data that is sent without being asked for, with that of the command.
    pub first_burst: u32,
    /// Most data of one R2T, and of one sequence of a read.
    pub max_burst: u32,
    /// Most data in a unit that the initiator receives.
    pub initiator_max_recv: u32,
    /// Most data in a unit that the target receives.
    pub target_max_recv: u32,
    /// Most R2Ts of one request that are not answered.
    pub max_outstanding_r2t: u32,
    /// CRC32C behind headers.
    pub header_digest: bool,
    /// CRC32C behind data.
    pub data_digest: bool,
    /// The status of a read goes with its last data (11.7.3: `S` bit).
    pub status_with_data: bool,
    /// Data of reads is cut at `max_burst` too. Some targets do not.
    pub cuts_sequences: bool,
    /// Commands that the target takes (`MaxCmdSN`).
    pub commands: u32,
    /// Its window opens as commands are answered; otherwise as they arrive.
    pub counts_unanswered: bool,
    /// Most requests of one session that the initiator has under way.
    pub requests: u32,
    /// Bytes of each request of the initiator before the first command, and of its answer: the
    /// login, and queries about the device.
    pub set_up: Vec<[u32; 2]>,
}

impl Iscsi {
    /// The rules of a session.
    pub fn rules(&self) -> Rules {
        let digest = |is_used: bool| if is_used { DIGEST } else { 0 };
        let immediate =
            if self.immediate_data { self.first_burst.min(self.target_max_recv) } else { 0 };
        let steps = |&[asked, answered]: &[u32; 2]| {
            [
                SetupMessage { is_from_initiator: true, bytes: asked },
                SetupMessage { is_from_initiator: false, bytes: answered },
            ]
        };
        Rules {
            set_up: self.set_up.iter().flat_map(steps).collect(),
            headers: Headers {
                command: HEADER,
                data_out: HEADER,
                ready_to_transfer: HEADER,
                data_in: HEADER,
                response: HEADER,
            },
            header_digest: digest(self.header_digest),
            data_digest: digest(self.data_digest),
            padding: WORD,
            immediate: Immediate::UpTo(immediate),
            first_burst: if self.initial_r2t { 0 } else { self.first_burst },
            burst: self.max_burst,
            outstanding: self.max_outstanding_r2t,
            data_out: self.target_max_recv,
            data_in: self.initiator_max_recv,
            sequence: if self.cuts_sequences { self.max_burst } else { 0 },
            is_status_with_data: self.status_with_data,
            commands: self.commands,
            counts_unanswered: self.counts_unanswered,
            requests: self.requests,
        }
    }
}
