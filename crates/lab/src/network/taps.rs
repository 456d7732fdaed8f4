//! Captures at ports of the network, in its own time: a sent frame has the time at which its last
//! bit has left, and a received one the time of its arrival there. Pauses and notifications have no
//! bytes, and are left out.

use super::timeline::Timeline;
use crate::capture::Capture;
use crate::frame::{LiveFrame, Pool, mark_congestion};
use std::borrow::Cow;
use std::collections::VecDeque;
use tailrace_record::pcapng::{INBOUND, OUTBOUND};
use tailrace_units::Time;
use tailrace_wire::Ecn;

/// All captures.
#[derive(Debug, Default)]
pub(super) struct Taps {
    /// By wire: the captures at the port where it begins and at the one where it ends.
    by_wire: Vec<(Option<usize>, Option<usize>)>,
    all: Vec<Tap>,
    /// Events of all frames; only in a replay.
    pub(super) timeline: Option<Timeline>,
}

/// The capture of one port.
#[derive(Debug)]
struct Tap {
    capture: Capture,
    /// Frames whose last bit leaves later: a port decides when it starts a frame.
    sending: VecDeque<(Time, Vec<u8>)>,
}

impl Taps {
    /// Captures at the port that sends on one wire and receives from another.
    pub(super) fn add(&mut self, (out, into): (usize, usize), capture: Capture) {
        self.by_wire.resize(self.by_wire.len().max(out.max(into) + 1), (None, None));
        let own = Some(self.all.len());
        (self.by_wire[out].0, self.by_wire[into].1) = (own, own);
        self.all.push(Tap { capture, sending: VecDeque::new() });
    }

    /// A port sends a frame until `end`.
    #[inline]
    pub(super) fn sent(
        &mut self,
        wire: usize,
        end: Time,
        frame: &LiveFrame,
        pool: Option<&mut Pool>,
    ) {
        if let Some(tap) = self.by_wire.get(wire).and_then(|taps| taps.0)
            && let Some(bytes) = bytes_of(frame, pool)
        {
            self.all[tap].sending.push_back((end, bytes));
        }
    }

    /// A frame has arrived at a port.
    #[inline]
    pub(super) fn arrived(
        &mut self,
        wire: usize,
        at: Time,
        frame: &LiveFrame,
        pool: Option<&mut Pool>,
    ) {
        if let Some(tap) = self.by_wire.get(wire).and_then(|taps| taps.1)
            && let Some(bytes) = bytes_of(frame, pool)
        {
            self.all[tap].write_sent(at);
            self.all[tap].capture.add(at, INBOUND, &bytes);
        }
    }

    /// Closes all files: nothing after `end` is in them. Returns the frames in each, in the order
    /// of the captures.
    pub(super) fn finish(self, end: Time) -> Result<Vec<u64>, String> {
        let finish = |mut tap: Tap| {
            tap.write_sent(end);
            tap.capture.finish().map(|(frames, _)| frames)
        };
        self.all.into_iter().map(finish).collect()
    }
}

impl Tap {
    /// Writes the frames that have left by `now`: the file is in the order of time.
    fn write_sent(&mut self, now: Time) {
        while self.sending.front().is_some_and(|sent| sent.0 <= now) {
            let (end, bytes) = self.sending.pop_front().expect("there is a first one");
            self.capture.add(end, OUTBOUND, &bytes);
        }
    }
}

/// A frame as it is on the link.
fn bytes_of(frame: &LiveFrame, pool: Option<&mut Pool>) -> Option<Vec<u8>> {
    let memory = &pool?.bytes_mut(frame.slot?)[..frame.memory_bytes()];
    let mut bytes = memory.to_vec();
    if frame.packet.ecn == Ecn::Ce {
        mark_congestion(&mut bytes);
    }
    Some(match crate::capture::on_the_wire(&bytes, frame.packet.tag) {
        Cow::Borrowed(_) => bytes,
        Cow::Owned(tagged) => tagged,
    })
}
