//! The NBD protocol, newstyle (`doc/proto.md` of the NBD project).

use super::{Headers, Immediate, Rules, SetupMessage};

/// A request, without the data of a write.
const REQUEST: u32 = 28;
/// A simple reply, without the data of a read.
const SIMPLE_REPLY: u32 = 16;
/// A chunk of a structured reply.
const CHUNK: u32 = 20;
/// Where the data of a chunk belongs.
const CHUNK_OFFSET: u32 = 8;

/// The handshake: greeting, flags of the client, options, of which `NBD_OPT_GO` is the last.
const GREETING: u32 = 18;
const CLIENT_FLAGS: u32 = 4;
const OPTION: u32 = 16;
const OPTION_REPLY: u32 = 20;
/// `NBD_OPT_SET_META_CONTEXT` as QEMU asks: an empty name, one query, `base:allocation`; and its
/// reply with the number of the context.
const CONTEXT: u32 = 4 + 4 + 4 + 15;
const CONTEXT_REPLY: u32 = 4 + 15;
/// Length of the (empty) name, the number of things asked for, and one of them: block sizes.
const GO: u32 = 4 + 2 + 2;
/// `NBD_INFO_EXPORT`: type, size, flags.
const EXPORT: u32 = 12;

/// Parameters that a connection has agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nbd {
    /// Structured replies; otherwise simple ones.
    pub structured_replies: bool,
    /// Most requests of one connection that are under way.
    pub requests: u32,
}

impl Nbd {
    /// The rules of a connection.
    pub fn rules(&self) -> Rules {
        let client = |bytes| SetupMessage { is_from_initiator: true, bytes };
        let server = |bytes| SetupMessage { is_from_initiator: false, bytes };
        let mut set_up = vec![server(GREETING), client(CLIENT_FLAGS)];
        if self.structured_replies {
            set_up.extend([client(OPTION), server(OPTION_REPLY)]);
            set_up.extend([
                client(OPTION + CONTEXT),
                server(OPTION_REPLY + CONTEXT_REPLY),
                server(OPTION_REPLY),
            ]);
        }
        set_up.extend([client(OPTION + GO), server(OPTION_REPLY + EXPORT), server(OPTION_REPLY)]);
        // A reply without data may be a simple reply all the same, as nbdkit does.
        let data_in = if self.structured_replies { CHUNK + CHUNK_OFFSET } else { SIMPLE_REPLY };
        Rules {
            set_up,
            headers: Headers {
                command: REQUEST,
                data_out: 0,
                ready_to_transfer: 0,
                data_in,
                response: SIMPLE_REPLY,
            },
            header_digest: 0,
            data_digest: 0,
            padding: 1,
            immediate: Immediate::UpTo(u32::MAX),
            first_burst: 0,
            burst: u32::MAX,
            outstanding: 1,
            data_out: u32::MAX,
            data_in: u32::MAX,
            sequence: 0,
            is_status_with_data: true,
            commands: self.requests,
            counts_unanswered: true,
            requests: self.requests,
        }
    }
}
