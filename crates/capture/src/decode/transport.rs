//! TCP (RFC 9293) and UDP (RFC 768).

use super::fragment::Fragment;

/// Numbers of protocols (IANA).
const TCP: u8 = 6;
const UDP: u8 = 17;
const TCP_HEADER_MIN: usize = 20;
const UDP_HEADER: usize = 8;
/// Kinds of options (RFC 9293 section 3.2, RFC 7323 section 2.2).
const OPTION_END: u8 = 0;
const OPTION_NOTHING: u8 = 1;
const OPTION_MSS: u8 = 2;
const OPTION_WINDOW_SCALE: u8 = 3;

/// Flags of TCP's header.
pub mod flags {
    /// No more data.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 0x10;
    /// A packet was marked (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// The window was reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A segment.
    Tcp(Tcp),
    /// A datagram or its first fragment.
    Udp {
        /// Source and destination.
        ports: (u16, u16),
        /// Without the header; of the whole datagram.
        payload_bytes: u32,
    },
    /// Another protocol.
    Other,
    /// A later fragment, whose ports are in the first one.
    Fragment,
    /// A header that cannot be as it was sent.
    Malformed,
    /// The capture ends within the header of TCP, or before the ports of UDP.
    Cut,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source and destination.
    pub ports: (u16, u16),
    /// Number of its first byte.
    pub seq: u32,
    /// Number of the next byte that is expected.
    pub ack: u32,
    /// [`flags`].
    pub flags: u8,
    /// Window as it is in the header, not scaled.
    pub window: u16,
    /// Bytes of data.
    pub payload_bytes: u32,
    /// Maximum segment size, in segments with SYN.
    pub mss: Option<u16>,
    /// Window scale, in segments with SYN.
    pub scale: Option<u8>,
}

impl Tcp {
    /// Has it this flag?
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The header at the beginning of `bytes`, of a packet with `carried_bytes` for the transport.
#[inline]
pub(super) fn decode(
    protocol: u8,
    fragment: Fragment,
    bytes: &[u8],
    carried_bytes: u32,
) -> Transport {
    if fragment == Fragment::Later {
        return Transport::Fragment;
    }
    match protocol {
        TCP => tcp(bytes, carried_bytes),
        UDP => udp(bytes),
        _ => Transport::Other,
    }
}

#[inline]
fn tcp(bytes: &[u8], carried_bytes: u32) -> Transport {
    if bytes.len() < TCP_HEADER_MIN {
        return Transport::Cut;
    }
    let ports = ports(bytes);
    let word =
        |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let header_bytes = usize::from(bytes[12] >> 4) * 4;
    if header_bytes < TCP_HEADER_MIN || carried_bytes < header_bytes as u32 {
        return Transport::Malformed;
    }
    let flags = bytes[13];
    let (mss, scale) = if flags & flags::SYN != 0 {
        options(&bytes[TCP_HEADER_MIN..header_bytes.min(bytes.len())])
    } else {
        (None, None)
    };
    Transport::Tcp(Tcp {
        ports,
        seq: word(4),
        ack: word(8),
        flags,
        window: u16::from_be_bytes([bytes[14], bytes[15]]),
        payload_bytes: carried_bytes - header_bytes as u32,
        mss,
        scale,
    })
}

/// Maximum segment size and window scale.
fn options(bytes: &[u8]) -> (Option<u16>, Option<u8>) {
    let (mut rest, mut mss, mut scale) = (bytes, None, None);
    loop {
        match *rest {
            [OPTION_NOTHING, ..] => rest = &rest[1..],
            [OPTION_END, ..] | [] | [_] => return (mss, scale),
            [kind, length, ..] => {
                if length < 2 || usize::from(length) > rest.len() {
                    return (mss, scale);
                }
                match (kind, &rest[2..usize::from(length)]) {
                    (OPTION_MSS, &[high, low]) => mss = Some(u16::from_be_bytes([high, low])),
                    (OPTION_WINDOW_SCALE, &[shift]) => scale = Some(shift),
                    _ => {}
                }
                rest = &rest[usize::from(length)..];
            }
        }
    }
}

#[inline]
fn udp(bytes: &[u8]) -> Transport {
    if bytes.len() < 4 {
        return Transport::Cut;
    }
    let stated = bytes.get(4..6).map_or(0, |two| u32::from(u16::from_be_bytes([two[0], two[1]])));
    Transport::Udp { ports: ports(bytes), payload_bytes: stated.saturating_sub(UDP_HEADER as u32) }
}

#[inline]
fn ports(bytes: &[u8]) -> (u16, u16) {
    (u16::from_be_bytes([bytes[0], bytes[1]]), u16::from_be_bytes([bytes[2], bytes[3]]))
}
