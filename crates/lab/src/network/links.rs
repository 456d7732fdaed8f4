//! Outputs of switches: the wires of the lab and the control frames for its hosts, with a record of
//! events.

use super::sources::Sources;
use super::taps::Taps;
use super::timeline::Timeline;
use crate::frame::{LiveFrame, Pool};
use tailrace_dataplane::{DropCause, Frame};
use tailrace_network::{ControlQueue, DigestLocation, End, Frames, Medium, NetworkFrame, Wire};
use tailrace_record::Digest;
use tailrace_units::Time;

/// The parts of the network that a frame passes on its way out of a switch.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) wires: Vec<Wire<LiveFrame>>,
    /// By host: control frames for its interface.
    pub(super) control: Vec<ControlQueue>,
    /// Bytes of frames; none in a replay.
    pub(super) pool: Option<Pool>,
    pub(super) digest: Digest,
    pub(super) frames: Frames,
    /// The sources of frames, for the records.
    pub(super) sources: Sources,
    /// Captures; most runs have none.
    pub(super) taps: Option<Box<Taps>>,
}

impl Links {
    /// A frame has come to the end of its wire.
    #[inline]
    pub(super) fn see_arrival(&mut self, wire: usize, at: Time, frame: &LiveFrame) {
        if let Some(taps) = &mut self.taps {
            taps.arrived(wire, at, frame, self.pool.as_mut());
            if let Some(timeline) = &mut taps.timeline {
                // The wires of a link follow each other: one begins where the other ends.
                timeline.arrived(at, (self.wires[wire ^ 1].end, self.wires[wire].end), frame);
            }
        }
    }

    /// A frame was dropped before a wire or, without a cause, marked.
    fn see_stop(&mut self, (at, wire): (Time, usize), frame: &LiveFrame, cause: Option<DropCause>) {
        let source = self.sources.of(frame);
        if let Some(timeline) = self.timeline() {
            timeline.stopped((at, wire), frame, source, cause);
        }
    }

    fn timeline(&mut self) -> Option<&mut Timeline> {
        self.taps.as_mut()?.timeline.as_mut()
    }

    /// A frame has left the network: its memory is free.
    #[inline]
    pub(super) fn release(&mut self, frame: &LiveFrame) {
        if let (Some(pool), Some(slot)) = (&mut self.pool, frame.slot) {
            pool.give_back(slot);
        }
    }
}

impl Medium<LiveFrame> for Links {
    #[inline]
    fn send(&mut self, wire: usize, frame: &LiveFrame, start: Time, end: Time) {
        self.digest.add(start, DigestLocation::Wire(wire as u64).number(), frame.fingerprint());
        if let End::Host(host) = self.wires[wire].end
            && frame.is_control()
        {
            self.frames.delivered += u64::from(!frame.is_pause());
            let arrival = self.wires[wire].arrival(start, end);
            if let Some(timeline) = self.timeline() {
                timeline.sent(wire, frame, (start, end, arrival), None);
            }
            return self.control[host as usize].push(arrival, frame.packet);
        }
        if let Some(taps) = &mut self.taps {
            taps.sent(wire, end, frame, self.pool.as_mut());
            if let Some(timeline) = &mut taps.timeline {
                let arrival = self.wires[wire].arrival(start, end);
                timeline.sent(wire, frame, (start, end, arrival), self.sources.of(frame));
            }
        }
        self.wires[wire].push(frame, start, end);
    }

    fn dropped(&mut self, at: Time, wire: usize, frame: &LiveFrame, cause: DropCause) {
        self.see_stop((at, wire), frame, Some(cause));
        self.frames.dropped += 1;
        self.digest.add(at, DigestLocation::Drop(wire as u64).number(), frame.fingerprint());
        self.release(frame);
    }

    fn marked(&mut self, at: Time, wire: usize, frame: &LiveFrame) {
        self.see_stop((at, wire), frame, None);
        self.digest.add(at, DigestLocation::Mark(wire as u64).number(), frame.fingerprint());
    }

    fn source_of(&self, frame: &LiveFrame) -> Option<usize> {
        self.sources.of(frame)
    }
}
