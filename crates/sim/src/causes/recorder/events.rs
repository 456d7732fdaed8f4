//! Events of hosts.

use super::Recorder;
use tailrace_host::Event;

impl Recorder {
    /// Handles an event of a host. Events that explain nothing cost nothing, as their arm is empty.
    #[inline(always)]
    pub(crate) fn on_event(&mut self, host: u16, event: Event<'_>) {
        match event {
            Event::FrameQueued { packet } => self.enqueued(host.into(), packet),
            Event::RingDropped { packet: Some(packet), .. } => self.left_out(host, packet),
            Event::RingDropped { packet: None, frames } => self.ring_dropped(frames),
            Event::AggregateDelivered { packet, segments } => {
                self.handed_up(host, packet, segments)
            }
            Event::DatagramDiscarded { packet, reason } => self.discarded(host, packet, reason),
            Event::DatagramSent { socket, number, because } => {
                self.sends_datagram(socket, number, because)
            }
            Event::DatagramReceived { owner, datagram, core_wait } => {
                self.received_datagram(owner, datagram, core_wait)
            }
            Event::BytesWritten { socket, bytes, because } => self.wrote(socket, bytes, because),
            Event::CoreRequested { waiter, cause } => self.asks_core(host, waiter, cause),
            Event::CoreGranted { waiter } => self.has_core(host, waiter),
            Event::ConnectionOpened(opened) => self.opened(host, opened),
            Event::TransactionCompleted(completion) => self.completed(completion),
            // Dropped frames are reported with the wire before which they were dropped, by hosts
            // and switches alike.
            Event::FrameDropped { .. }
            | Event::FrameSent
            | Event::FrameDelivered { .. }
            | Event::BytesReceived { .. }
            | Event::ConnectionClosed { .. }
            | Event::PartCompleted { .. }
            | Event::StorageCompleted { .. }
            | Event::UserFinished { .. }
            | Event::FlowFinished { .. } => {}
        }
    }
}
