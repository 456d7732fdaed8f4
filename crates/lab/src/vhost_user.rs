//! Messages of vhost-user (docs/interop/vhost-user.rst of QEMU, arch/um/drivers/vhost_user.h of
//! Linux), for both of its ends: a header of three words, then the payload.

/// Bytes of the header: request, flags, bytes of the payload.
pub const HEADER_BYTES: usize = 12;
/// Version of the protocol, in the flags.
pub const VERSION: u32 = 1;
/// Flag of an answer.
pub const REPLY: u32 = 4;
/// Flag of a request that is to be answered even where it has no answer of its own.
pub const NEED_REPLY: u32 = 8;

/// Feature of a device of Virtio 1.0 and later (VIRTIO_F_VERSION_1).
pub const VERSION_1: u64 = 1 << 32;

/// Requests of the front end.
#[expect(missing_docs, reason = "names and numbers of the protocol")]
pub mod request {
    pub const GET_FEATURES: u32 = 1;
    pub const SET_FEATURES: u32 = 2;
    pub const SET_OWNER: u32 = 3;
    pub const SET_MEM_TABLE: u32 = 5;
    pub const SET_VRING_NUM: u32 = 8;
    pub const SET_VRING_ADDR: u32 = 9;
    pub const SET_VRING_BASE: u32 = 10;
    pub const SET_VRING_KICK: u32 = 12;
    pub const SET_VRING_CALL: u32 = 13;
    pub const GET_PROTOCOL_FEATURES: u32 = 15;
    pub const SET_PROTOCOL_FEATURES: u32 = 16;
    pub const SET_VRING_ENABLE: u32 = 18;
    pub const SET_SLAVE_REQ_FD: u32 = 21;
    pub const GET_CONFIG: u32 = 24;
    pub const SET_CONFIG: u32 = 25;
}

/// The header of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// One of [`request`].
    pub request: u32,
    /// Version and flags.
    pub flags: u32,
    /// Bytes of the payload that follows.
    pub payload_bytes: u32,
}

impl Header {
    /// Reads the beginning of a message; none before it is whole.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        Some(Header { request: word(0)?, flags: word(4)?, payload_bytes: word(8)? })
    }
}

/// The bytes of a message; `flags` beside the version.
pub fn message(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    for word in [request, VERSION | flags, payload.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_header() {
        let bytes = message(request::GET_FEATURES, REPLY, &[7; 8]);
        assert_eq!(bytes[..HEADER_BYTES], [1, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0]);
        let header = Header { request: 1, flags: VERSION | REPLY, payload_bytes: 8 };
        assert_eq!(Header::parse(&bytes), Some(header));
        assert_eq!(Header::parse(&bytes[..11]), None);
    }
}
