//! A real frame as the switch sees it: a parsed header, and where its bytes are.

mod mark;
mod parse;
mod pool;
#[doc(hidden)]
pub mod sample;
mod stamp;

pub use mark::mark_congestion;
pub use parse::{Foreign, FrameOrigin, parse};
pub use pool::{Pool, Slot};
pub use stamp::take_stamp;

use tailrace_dataplane::Frame;
use tailrace_network::NetworkFrame;
use tailrace_units::Time;
use tailrace_wire::{Ecn, FlowKey, Packet, Pause};

/// A frame on its way through the fabric. Switches see the simulator's own packet of it, so that
/// both engines decide alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveFrame {
    /// Header fields. `seq` is the number of the frame among all that entered.
    pub packet: Packet,
    /// Addresses and ports; none for protocols other than TCP and UDP.
    pub key: Option<FlowKey>,
    /// The host that sent it.
    pub from_host: u16,
    /// Where its bytes are; none for frames that switches make themselves, and in a replay.
    pub slot: Option<Slot>,
    /// When it would have come to its first switch if the fabric had always been on time; zero for
    /// frames that switches make themselves.
    pub on_time: Time,
}

impl LiveFrame {
    /// Bytes of it that are in memory: a host's interface takes the tag out before.
    #[inline]
    pub fn memory_bytes(&self) -> usize {
        usize::from(self.packet.frame_bytes - self.packet.tag.bytes())
    }

    /// A frame without bytes.
    pub fn bare(packet: Packet) -> LiveFrame {
        LiveFrame { packet, ..LiveFrame::default() }
    }
}

impl NetworkFrame for LiveFrame {
    type Head = LiveFrame;
    type Rest = std::convert::Infallible;

    fn head(&self) -> LiveFrame {
        *self
    }
    fn rest(&self, _: &mut LiveFrame) -> Option<Self::Rest> {
        None
    }
    fn has_rest(&self) -> bool {
        false
    }
    fn tells_rest(_: &LiveFrame) -> bool {
        false
    }
    fn read_head(&mut self, head: &LiveFrame) {
        *self = *head;
    }
    fn add_rest(&mut self, rest: Self::Rest) {
        match rest {}
    }

    #[inline]
    fn packet(&self) -> &Packet {
        &self.packet
    }
    fn from_packet(packet: Packet) -> LiveFrame {
        LiveFrame::bare(packet)
    }
}

impl Frame for LiveFrame {
    #[inline]
    fn bytes(&self) -> u32 {
        Frame::bytes(&self.packet)
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.packet.flow_hash
    }
    #[inline]
    fn destination(&self) -> u32 {
        Frame::destination(&self.packet)
    }
    #[inline]
    fn priority(&self) -> u8 {
        self.packet.tag.priority()
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.packet.ecn
    }
    fn mark(&mut self) {
        self.packet.mark();
    }
    fn dscp(&self) -> u8 {
        self.packet.dscp
    }
    fn vlan(&self) -> u16 {
        self.packet.tag.vlan()
    }
    fn retag(&mut self, is_tagged: bool) {
        self.packet.retag(is_tagged);
    }
    fn flow_key(&self) -> Option<FlowKey> {
        self.key
    }
    fn is_later_fragment(&self) -> bool {
        self.packet.is_later_fragment()
    }
    fn belongs_to_flow(&self) -> bool {
        self.packet.belongs_to_flow()
    }
    fn set_priority(&mut self, class: u8) {
        self.packet.set_priority(class);
    }
    #[inline]
    fn is_pause(&self) -> bool {
        self.packet.is_pause()
    }
    fn pause(&self) -> Option<Pause> {
        Frame::pause(&self.packet)
    }
    fn new_pause(pause: Pause) -> LiveFrame {
        LiveFrame::bare(Packet::new_pause(pause))
    }
    #[inline]
    fn fingerprint(&self) -> u64 {
        self.packet.fingerprint()
    }
}
