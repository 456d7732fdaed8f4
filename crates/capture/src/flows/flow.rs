//! The state of one conversation.

use crate::exchanges::Conversation;
use crate::tcp::Connection;

/// One direction of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Frames.
    pub frames: u64,
    /// Their length on the link, with all headers.
    pub frame_bytes: u64,
    /// Data of TCP (each byte once), or all data of datagrams.
    pub payload_bytes: u64,
    /// Times of the first and last frame.
    pub first_ns: u64,
    /// See `first_ns`.
    pub last_ns: u64,
    /// The last interval in which the receiver counted this sender.
    pub incast_interval: u32,
    /// Code point of the last packet.
    pub dscp: u8,
}

/// A conversation: a connection of TCP, or packets of another protocol between two ends.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Row in its table, if there is room.
    pub row: Option<u32>,
    /// The lower end and the higher, as the rates of hosts number them.
    pub hosts: [u32; 2],
    /// When a round trip to the lower end and to the higher was last written down.
    pub round_trip_at_ns: [u64; 2],
    /// Direction of the first frame.
    pub first_way: u8,
    /// From the lower end and from the higher.
    pub ways: [Way; 2],
    /// State of TCP.
    pub connection: Connection,
    /// Requests and responses of TCP.
    pub conversation: Conversation,
}

impl Flow {
    /// A conversation whose first frame goes this way.
    pub fn new(row: Option<u32>, first_way: usize, hosts: [u32; 2]) -> Flow {
        Flow {
            row,
            hosts,
            round_trip_at_ns: [0; 2],
            first_way: first_way as u8,
            ways: [Way::default(); 2],
            connection: Connection::default(),
            conversation: Conversation::default(),
        }
    }

    /// Times of the first and the last frame.
    pub fn span_ns(&self) -> (u64, u64) {
        let used = self.ways.iter().filter(|way| way.frames > 0);
        let ends =
            used.map(|way| (way.first_ns, way.last_ns)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        ends.unwrap_or_default()
    }
}

impl Default for Way {
    fn default() -> Way {
        Way {
            frames: 0,
            frame_bytes: 0,
            payload_bytes: 0,
            first_ns: 0,
            last_ns: 0,
            incast_interval: u32::MAX,
            dscp: 0,
        }
    }
}

impl Way {
    /// Counts a frame.
    #[inline]
    pub fn frame(&mut self, now_ns: u64, frame_bytes: u32, dscp: u8) {
        if self.frames == 0 {
            self.first_ns = now_ns;
        }
        self.first_ns = self.first_ns.min(now_ns);
        self.last_ns = self.last_ns.max(now_ns);
        self.frames += 1;
        self.frame_bytes += u64::from(frame_bytes);
        self.dscp = dscp;
    }
}
