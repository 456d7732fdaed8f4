//! NVMe over TCP (NVM Express TCP Transport Specification 1.0, the successor of TP 8000).

use super::{Headers, Immediate, Rules, SetupMessage};

/// ICReq and ICResp (3.6.2.2, 3.6.2.3).
const INITIALISE: u32 = 128;
/// Common header and submission queue entry (3.6.2.6).
const COMMAND: u32 = 8 + 64;
/// Common header and completion queue entry (3.6.2.7).
const RESPONSE: u32 = 8 + 16;
/// H2CData, C2HData and R2T (3.6.2.8 to 3.6.2.10).
const DATA: u32 = 24;
/// CRC32C.
const DIGEST: u32 = 4;
/// Data of the Connect command (NVM Express over Fabrics, Connect command).
const CONNECT_DATA: u32 = 1024;

/// Parameters that the connection of a queue has agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvmeTcp {
    /// A write of up to so many bytes goes with its command (`IOCCSZ` without the command).
    pub in_capsule: u32,
    /// Most data in one H2CData (`MAXH2CDATA`).
    pub max_h2c_data: u32,
    /// Most data in one C2HData.
    pub max_c2h_data: u32,
    /// Most data of one R2T.
    pub max_transfer: u32,
    /// Most R2Ts of one request that are not answered (`MAXR2T` + 1).
    pub max_outstanding_r2t: u32,
    /// The last C2HData has the flag `SUCCESS`, and no response follows.
    pub success_flag: bool,
    /// CRC32C behind headers (`HDGST`).
    pub header_digest: bool,
    /// CRC32C behind data (`DDGST`).
    pub data_digest: bool,
    /// Entries of the queue.
    pub queue_size: u32,
}

impl NvmeTcp {
    /// The rules of the connection of an I/O queue.
    pub fn rules(&self) -> Rules {
        let digest = |is_used: bool| if is_used { DIGEST } else { 0 };
        let (header_digest, data_digest) = (digest(self.header_digest), digest(self.data_digest));
        let initiator = |bytes| SetupMessage { is_from_initiator: true, bytes };
        let target = |bytes| SetupMessage { is_from_initiator: false, bytes };
        let connect = COMMAND + header_digest + CONNECT_DATA + data_digest;
        Rules {
            set_up: vec![
                initiator(INITIALISE),
                target(INITIALISE),
                initiator(connect),
                target(RESPONSE + header_digest),
            ],
            headers: Headers {
                command: COMMAND,
                data_out: DATA,
                ready_to_transfer: DATA,
                data_in: DATA,
                response: RESPONSE,
            },
            header_digest,
            data_digest,
            padding: 1,
            immediate: Immediate::AllWithin(self.in_capsule),
            first_burst: 0,
            burst: self.max_transfer,
            outstanding: self.max_outstanding_r2t,
            data_out: self.max_h2c_data,
            data_in: self.max_c2h_data,
            sequence: 0,
            is_status_with_data: self.success_flag,
            // A queue of n entries holds one less (NVM Express base specification: a full queue).
            commands: self.queue_size - 1,
            counts_unanswered: true,
            requests: self.queue_size - 1,
        }
    }
}
