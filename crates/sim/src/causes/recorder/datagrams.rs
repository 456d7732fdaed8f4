//! Datagrams: the cause of each, its completion, and its loss.

use super::Recorder;
use crate::causes::datagrams::{DatagramEnds, Sending, number_of};
use crate::causes::frames::{Entry, Frame, FrameId, NOT_KEPT, Prior};
use crate::causes::inside::what;
use crate::causes::loss::{DroppedBy, Loss};
use crate::causes::part::Part;
use tailrace_host::{Completion, DiscardReason};
use tailrace_programs::cause::{Because, Cause};
use tailrace_transport::ip::protocol;
use tailrace_transport::udp::Datagram;
use tailrace_units::Span;
use tailrace_wire::{Fragment, Packet, Protocol};
use tailrace_workloads::Followed;

impl Recorder {
    /// Datagrams go between these sockets.
    pub(crate) fn pairs(&mut self, flow: &DatagramEnds) {
        if !matches!(self.followed[flow.workload as usize], Followed::Not(_)) {
            self.datagrams.open(flow);
        }
    }

    /// A program sends a datagram, before its frames are handed to the interface. A client that
    /// sends a number again has waited for the answer.
    pub(super) fn sends_datagram(&mut self, socket: u32, number: u64, because: Because) {
        self.take();
        let Because { host, cause, core_wait } = because;
        let Some(end) = self.datagrams.get((host, socket)) else { return };
        let repeats = end.asked(number);
        let prior = match (repeats, cause) {
            (Some(frame), _) => Some(Prior {
                frame,
                entry: Entry::Handed,
                part: Part::Timeout,
                core_wait: Span::ZERO,
                waited: Span::ZERO,
                opens: None,
            }),
            (None, Some(cause)) => self.prior_after(host, end.is_client, &cause, core_wait),
            (None, None) => None,
        };
        if let Some(end) = self.datagrams.get_mut((host, socket)) {
            end.sending = Sending { prior, repeats };
        }
    }

    /// A host hands a frame of a datagram to its interface.
    pub(super) fn begin_datagram(&mut self, packet: &Packet) -> FrameId {
        let fragment = Fragment::of(packet);
        let own = self.datagrams.get((packet.to_host, packet.to_endpoint)).map(|end| end.peer);
        let Some(end) = own.and_then(|own| self.datagrams.get_mut(own)) else { return NOT_KEPT };
        let Sending { prior, repeats } = end.sending;
        let frame = Frame { prior, repeats, ..Frame::new(self.event.now, *packet, prior) };
        let id = self.frames.add(frame);
        let begins = fragment.is_none_or(|fragment| fragment.is_first());
        if begins {
            end.first = id;
        }
        let (first, workload, is_client, peer) = (end.first, end.workload, end.is_client, end.peer);
        let asks = self.followed[workload as usize] == Followed::Asking;
        let number = number_of(packet);
        if begins && asks && is_client {
            end.note_asked(number, id);
        } else if begins
            && asks
            && let Some(query) = self.datagrams.get(peer).and_then(|client| client.asked(number))
        {
            self.frames.note_answer(query, id);
        }
        if fragment.is_some()
            && let Some(frame) = self.frames.get_mut(id)
        {
            frame.of = first;
        }
        id
    }

    /// A frame is handed to IP: it is a datagram, or a fragment of one.
    pub(super) fn deliver_datagram(&mut self, id: FrameId, packet: &Packet) {
        let Some(&Frame { of: whole, .. }) = self.frames.get(id) else { return };
        if let Some(fragment) = Fragment::of(packet) {
            if let Some(end) = self.datagrams.get_mut((packet.to_host, packet.to_endpoint)) {
                end.note_fragment(id);
            }
            let Some(first) = self.datagrams.put(whole, &fragment, id) else { return };
            if let Some(frame) = self.frames.get_mut(id) {
                frame.of = first;
            }
        }
        if let Some(end) = self.datagrams.get_mut((packet.to_host, packet.to_endpoint)) {
            end.note_whole(self.event.now, number_of(packet), id);
        }
    }

    /// A program has received a datagram of a workload that sends in one direction.
    pub(super) fn received_datagram(&mut self, owner: u32, datagram: &Datagram, core_wait: Span) {
        self.take();
        let Some((host, socket)) = self.datagrams.receiver_of(owner) else { return };
        let cause = Some(Cause::datagram(socket, datagram.number, self.event.now));
        let because = Because { host, cause, core_wait };
        self.completed(&Completion {
            owner,
            user: 0,
            intended: datagram.sent,
            carried: None,
            because,
        });
    }

    /// A host discards a datagram, or a fragment of one, that it was handed in this event.
    pub(super) fn discarded(&mut self, host: u16, packet: &Packet, reason: DiscardReason) {
        self.take();
        let Some(end) = self.datagrams.get((host, packet.to_endpoint)) else { return };
        let is_it = |id: &FrameId| {
            self.frames.get(*id).is_some_and(|frame| what(&frame.packet) == what(packet))
        };
        let (id, by) = match reason {
            DiscardReason::Reassembly => (end.fragments().find(is_it), DroppedBy::Reassembly),
            DiscardReason::SocketBuffer => (
                end.whole(packet.seq, self.event.now).map(|whole| whole.frame),
                DroppedBy::SocketBuffer,
            ),
        };
        if let Some(id) = id
            && let Some(wire) = self.frames.last_wire(id)
        {
            self.lose(id, Loss { at: self.event.now, wire, by });
        }
    }

    /// A frame is lost; of a datagram the first one counts.
    pub(super) fn lose(&mut self, id: FrameId, lost: Loss) {
        let Some(frame) = self.frames.get_mut(id) else { return };
        frame.lost = Some(lost);
        let (packet, whole) = (frame.packet, frame.of);
        if protocol(&packet) == Protocol::Udp
            && (whole == NOT_KEPT || self.datagrams.lose(whole))
            && let Some(end) = self.datagrams.get((packet.to_host, packet.to_endpoint))
        {
            *self.lost.entry((end.workload, lost.wire, lost.by)).or_default() += 1;
        }
    }

    /// The warm-up of a workload is over: earlier losses do not count.
    pub(crate) fn begin_counting(&mut self, workload: u32) {
        self.lost.retain(|&(of, ..), _| of != workload);
    }
}
