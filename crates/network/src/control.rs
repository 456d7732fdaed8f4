//! Control frames for the interfaces of hosts: pauses (IEEE 802.1Qbb, 802.3 annex 31B) and
//! congestion notifications (802.1Qau).
//!
//! They are for the interface and not for the host behind it, and act when they arrive.

use crate::NetworkFrame;
use std::collections::VecDeque;
use tailrace_dataplane::{Frame, Notification};
use tailrace_host::nic::LosslessNic;
use tailrace_units::Time;
use tailrace_wire::{Flags, Packet, Tag};

/// A congestion notification on the wire: the shortest frame (64 bytes with its check sequence;
/// 802.1Qau allows more).
const NOTIFICATION_BYTES: u16 = 60;
/// Notifications travel with the highest priority (assumed; 802.1Qau leaves it to the operator:
/// cnCnmTransmitPriority).
const NOTIFICATION_PRIORITY: u8 = 7;

/// The frame of a congestion notification, for the interface that sent the sampled frame. It
/// travels in the VLAN of that frame (802.1Qau: the vlan_identifier of a CNM is that of the frame
/// that triggered it), and so by the same tree.
pub fn notification<F: NetworkFrame>(
    sampled: &F,
    source_host: u32,
    notification: Notification,
) -> F {
    let sampled = sampled.packet();
    F::from_packet(Packet {
        seq: u64::from(sampled.flow_hash),
        ack: u64::from(notification.feedback),
        flow_hash: sampled.flow_hash,
        to_host: source_host as u16,
        frame_bytes: NOTIFICATION_BYTES,
        flags: Flags::CNM,
        tag: Tag::new(NOTIFICATION_PRIORITY, sampled.tag.vlan()),
        ..Packet::default()
    })
}

/// A control frame has arrived at an interface that obeys such frames.
pub fn deliver_to(nic: &mut LosslessNic, arrival: Time, packet: &Packet) {
    match packet.pause() {
        Some(pause) => nic.handle_pause(arrival, &pause),
        None => nic.handle_notification(arrival, packet.seq as u32, packet.ack as u8),
    }
}

/// Control frames on their way to the interface of a host, by arrival.
#[derive(Clone, Debug, Default)]
pub struct ControlQueue {
    frames: VecDeque<(Time, Packet)>,
}

impl ControlQueue {
    /// A frame arrives then, and not before the frames before it.
    pub fn push(&mut self, arrival: Time, packet: Packet) {
        self.frames.push_back((arrival, packet));
    }

    /// When the next frame arrives; [`Time::NEVER`] when none is on its way.
    pub fn next_arrival(&self) -> Time {
        self.frames.front().map_or(Time::NEVER, |first| first.0)
    }

    /// Takes the next frame if it has arrived by `now`, with its arrival.
    pub fn pop_arrived(&mut self, now: Time) -> Option<(Time, Packet)> {
        if self.next_arrival() <= now { self.frames.pop_front() } else { None }
    }

    /// Notifications on their way.
    pub fn notifications(&self) -> u64 {
        self.frames.iter().filter(|(_, packet)| !packet.is_pause()).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_goes_back_in_the_vlan_of_the_sampled_frame_in_its_own_priority() {
        let sampled = Packet {
            tag: Tag::new(3, 20).written(true),
            flow_hash: 77,
            to_host: 5,
            ..Packet::default()
        };
        let frame = notification(&sampled, 2, Notification { feedback: 40, offset: -1, delta: 1 });
        assert_eq!(
            (frame.tag, frame.to_host, frame.frame_bytes),
            (Tag::new(NOTIFICATION_PRIORITY, 20), 2, 60)
        );
        assert_eq!((frame.seq, frame.ack, frame.is_control()), (77, 40, true));
    }

    #[test]
    fn control_frames_come_out_when_they_arrive_and_in_order() {
        let mut queue = ControlQueue::default();
        assert!(queue.next_arrival().is_never());
        queue.push(Time::from_ps(5), Packet { seq: 1, flags: Flags::CNM, ..Packet::default() });
        queue.push(Time::from_ps(9), Packet { seq: 2, flags: Flags::PAUSE, ..Packet::default() });
        assert_eq!((queue.next_arrival(), queue.notifications()), (Time::from_ps(5), 1));
        assert!(queue.pop_arrived(Time::from_ps(4)).is_none());
        let seqs: Vec<u64> = std::iter::from_fn(|| queue.pop_arrived(Time::from_ps(9)))
            .map(|(_, packet)| packet.seq)
            .collect();
        assert_eq!(seqs, [1, 2]);
    }
}
