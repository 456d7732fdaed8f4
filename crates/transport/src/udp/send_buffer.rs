//! The send buffer of a socket for datagrams: bytes that its program may have waiting in the
//! interface before it must wait itself.

use crate::transmit::Transmit;
use std::collections::VecDeque;
use tailrace_units::Time;
use tailrace_wire::Packet;

/// Frames of one socket that have not departed, as far as the interface has reported their
/// departure times.
#[derive(Clone, Debug)]
pub struct SendBuffer {
    limit_bytes: u64,
    waiting_bytes: u64,
    departures: VecDeque<(Time, u32)>,
}

impl SendBuffer {
    /// A program may send while less than `limit_bytes` of its frames wait.
    pub fn new(limit_bytes: u64) -> SendBuffer {
        SendBuffer { limit_bytes, waiting_bytes: 0, departures: VecDeque::new() }
    }

    /// When the program may send: now, or, once the buffer is full, when half of it is free. Linux
    /// wakes a writer no earlier (`sock_def_write_space`).
    pub fn room_at(&mut self, now: Time) -> Time {
        while let Some(&(departs, bytes)) = self.departures.front()
            && departs <= now
        {
            self.departures.pop_front();
            self.waiting_bytes -= u64::from(bytes);
        }
        if self.waiting_bytes < self.limit_bytes {
            return now;
        }
        let mut left = self.waiting_bytes;
        for &(departs, bytes) in &self.departures {
            left -= u64::from(bytes);
            if 2 * left <= self.limit_bytes {
                return departs;
            }
        }
        now
    }

    fn add(&mut self, departs: Time, bytes: u32) {
        self.waiting_bytes += u64::from(bytes);
        self.departures.push_back((departs, bytes));
    }
}

/// The way down of a socket: every frame that the interface takes counts in its send buffer.
pub struct Noting<'a, D> {
    /// The interface.
    pub down: &'a mut D,
    /// The socket's send buffer.
    pub buffer: &'a mut SendBuffer,
}

impl<D: Transmit> Transmit for Noting<'_, D> {
    fn send(&mut self, packet: Packet) -> Option<Time> {
        let departs = self.down.send(packet)?;
        self.buffer.add(departs, u32::from(packet.frame_bytes));
        Some(departs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_has_room_when_half_of_it_has_departed() {
        let mut buffer = SendBuffer::new(4_000);
        for i in 1..=4 {
            assert_eq!(buffer.room_at(Time::ZERO), Time::ZERO, "{i}");
            buffer.add(Time::from_ns(100 * i), 1_000);
        }
        assert_eq!(buffer.room_at(Time::ZERO), Time::from_ns(200));
        assert_eq!(
            buffer.room_at(Time::from_ns(100)),
            Time::from_ns(100),
            "less than the limit waits: who asks anew may send"
        );
        buffer.add(Time::from_ns(500), 1_000);
        assert_eq!(buffer.room_at(Time::from_ns(100)), Time::from_ns(300));
        assert_eq!(buffer.room_at(Time::from_ns(500)), Time::from_ns(500));
        assert_eq!(buffer.departures.len(), 0);
    }
}
