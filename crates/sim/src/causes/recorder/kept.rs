//! Records of single frames and connections that are still kept.

use super::{Recorder, end_of};
use crate::causes::ends::SocketId;
use crate::causes::frames::{Frame, FrameId};
use crate::causes::number::SocketNumber;
use crate::causes::part::Part;
use tailrace_dataplane::Frame as _;
use tailrace_transport::ip::protocol;
use tailrace_units::Time;
use tailrace_wire::{Packet, Protocol};
use tailrace_workloads::Followed;

/// Frames between two passes that forget frames, at least.
const FORGET_EVERY: FrameId = 1 << 13;
/// Frames between two passes for each socket or program that they visit, so that the passes are a
/// small part of the work.
const FRAMES_PER_VISIT: FrameId = 16;

/// A frame of an explained connection that a host sent, as far as the record still has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFrame {
    /// The socket that sent it.
    pub(crate) sender: SocketNumber,
    /// As the host sent it.
    pub(crate) packet: Packet,
    pub(crate) handed: Time,
    /// `Time::NEVER` of one that did not come to a transport.
    pub(crate) delivered: Time,
    /// The frame without which this one would not have been sent then, and the part between the
    /// two.
    pub(crate) prior: Option<(FrameId, Part)>,
    /// The copy before it, of a repetition.
    pub(crate) repeats: Option<FrameId>,
}

impl Recorder {
    /// Explanations keep the steps of their paths from now on, and the frames of these are asked
    /// for.
    pub(crate) fn keep_steps(&mut self) {
        (self.keeps_steps, self.frames.keeps_packets) = (true, true);
    }

    /// Whether a pass over the operations in progress is due. Timelines show earlier frames, too.
    #[inline]
    pub(crate) fn may_forget(&self) -> bool {
        self.frames.next() >= self.forgets_at && !self.keeps_steps
    }

    /// Forgets frames that no explanation can need: `running` calls its argument with the workload,
    /// the user and the intended start of everything in progress; `visited` is the number of
    /// sockets and programs that it visits for that. Of users with one connection, one transaction
    /// is in progress: everything before the latest ones is in their cached paths.
    pub(crate) fn forget(
        &mut self,
        visited: usize,
        running: impl Fn(&mut dyn FnMut(u32, u32, Time)),
    ) {
        self.forgets_at = self.frames.next() + FORGET_EVERY.max(FRAMES_PER_VISIT * visited as u64);
        // Of datagrams in one direction it is unknown which are on their way.
        if !self.frames.has_old() || self.followed.contains(&Followed::OneWay) {
            return;
        }
        let mut began = self.event.now;
        running(&mut |workload, user, intended| {
            if !matches!(self.followed[workload as usize], Followed::Not(_)) {
                let of_cached = self.cached_paths.needs_since((workload, user));
                let since = of_cached.filter(|_| self.connections.contains_key(&(workload, user)));
                began = began.min(since.map_or(intended, |since| since.max(intended)));
            }
        });
        self.frames.forget(began);
        self.wires.forget(began);
    }

    /// The number of a frame in the node before a wire, if it is kept.
    pub(crate) fn inside(&self, wire: u32, packet: &Packet) -> Option<FrameId> {
        let inside = match protocol(packet) {
            Protocol::Tcp => &self.ends.get(end_of(packet))?.inside,
            Protocol::Udp => &self.datagrams.get((packet.to_host, packet.to_endpoint))?.inside,
        };
        inside.first(self.wires.from(wire), packet)
    }

    /// A frame by its number.
    pub(crate) fn frame(&self, id: FrameId) -> Option<SentFrame> {
        let &Frame { sender, packet, handed, delivered, prior, repeats, .. } =
            self.frames.get(id)?;
        Some(SentFrame {
            sender,
            packet,
            handed,
            delivered,
            prior: prior.map(|prior| (prior.frame, prior.part)),
            repeats,
        })
    }

    /// The frame that a socket was handed in this event.
    pub(super) fn handed_to(&self, own: SocketId) -> Option<FrameId> {
        self.ends
            .get(own)?
            .handed
            .filter(|handed| handed.0 == self.event.number)
            .map(|handed| handed.1)
    }

    /// A pause is for the transmitter before the opposite wire.
    pub(super) fn pauses_before(&mut self, wire: u32, at: Time, packet: &Packet) {
        if let (Some(line), Some(pause)) = (self.wires.pausable_mut(wire), packet.pause()) {
            line.note(at, &pause);
        }
    }
}
