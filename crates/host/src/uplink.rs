//! The way down: from a transport to the interface.

use super::environment::{Environment, Timer};
use super::event::Event;
use super::opening::Opener;
use crate::nic::{LosslessNic, Nic};
use tailrace_transport::tcp::Transmit;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// The interface of a host and its environment at one moment.
pub(super) struct Uplink<'a, O: Environment> {
    pub(super) attachment: &'a O::Place,
    pub(super) nic: &'a mut Nic,
    pub(super) out: &'a mut O,
    pub(super) now: Time,
    /// Content of opening segments, if a program asked for the connection.
    pub(super) origin: Option<Opener>,
}

impl<O: Environment> Transmit for Uplink<'_, O> {
    #[inline(always)]
    fn send(&mut self, packet: Packet) -> Option<Time> {
        self.tell(Event::FrameSent);
        let nic = match self.nic {
            Nic::Plain(nic) => nic,
            Nic::Lossless(_) | Nic::Bonded(_) => return self.enqueue(packet),
        };
        let Some((start, end)) = nic.send(self.now, u32::from(packet.frame_bytes)) else {
            self.tell(Event::FrameDropped { packet: &packet });
            return None;
        };
        self.out.transmit(self.attachment, &packet, start, end);
        Some(end)
    }

    #[cold]
    fn send_opening(&mut self, mut packet: Packet) -> Option<Time> {
        if let Some(origin) = self.origin {
            origin.write(&mut packet);
        }
        self.send(packet)
    }
}

impl<O: Environment> Uplink<'_, O> {
    /// Reports an event at the host now.
    #[inline(always)]
    pub(super) fn tell(&mut self, event: Event<'_>) {
        self.out.on_event(self.now, self.attachment, event);
    }

    /// Hands a frame to an interface that chooses when to send it, or to a bond.
    #[cold]
    fn enqueue(&mut self, packet: Packet) -> Option<Time> {
        let now = self.now;
        if let Nic::Bonded(nic) = self.nic {
            let Some((interface, start, end)) = nic.send(now, &packet) else {
                self.tell(Event::FrameDropped { packet: &packet });
                return None;
            };
            self.out.transmit_over(self.attachment, interface, &packet, start, end);
            return Some(end);
        }
        self.tell(Event::FrameQueued { packet: &packet });
        let departs = self.lossless().enqueue(now, packet);
        if departs.is_none() {
            self.tell(Event::FrameDropped { packet: &packet });
        }
        self.send_due();
        departs
    }

    /// Sends the frames that are due at such an interface, and notes when it is due again.
    pub(super) fn send_due(&mut self) {
        let now = self.now;
        while let Some((start, end, packet)) = self.lossless().send(now) {
            self.out.transmit(self.attachment, &packet, start, end);
        }
        let due = self.lossless().poll_timeout();
        self.out.arm(self.attachment, Timer::Interface, due);
    }

    fn lossless(&mut self) -> &mut LosslessNic {
        match self.nic {
            Nic::Lossless(nic) => nic,
            Nic::Plain(_) | Nic::Bonded(_) => {
                unreachable!("a plain interface has sent when it was handed a frame")
            }
        }
    }
}
