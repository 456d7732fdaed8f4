//! The interface of a host that takes part in data-centre bridging: it stops reading a priority
//! that is paused, and holds back the flows that a congested switch complains of. The rules are
//! those of the modelled interface.

use std::collections::BTreeMap;
use tailrace_dataplane::Frame;
use tailrace_host::nic::{LosslessNic, Storm};
use tailrace_lab::frame::LiveFrame;
use tailrace_plan::RawStorm;
use tailrace_units::{Span, Time};
use tailrace_wire::{PRIORITIES, Packet};

/// Time that such interfaces are taken through at once: less than the response time of a pause at 1
/// Gbit/s (67 quanta are 34 us, 802.3 annex 31B.3.7). Frames that a step did not send are not made
/// up for by a later one.
pub(super) const STEP: Span = Span::from_us(10);
/// Frames that one reading of a host may take, so that a host that sends without end does not stop
/// the clock.
const READS_MAX: usize = 256;

/// A storm of the plan that never ends does so after a day, which is longer than any trial.
const STORM_PS_MAX: u64 = 86_400 * 1_000_000_000_000;

/// A host's queues and the frames that were taken out of them.
pub(super) trait Queues {
    /// The next frame of a priority.
    fn read(&mut self, priority: u8) -> Option<LiveFrame>;
    /// A frame leaves on the wire.
    fn send(&mut self, frame: LiveFrame, start: Time, end: Time);
    /// A frame did not fit.
    fn refuse(&mut self, frame: LiveFrame);
}

/// An interface with pauses or QCN.
#[derive(Debug)]
pub(super) struct Bridged {
    host: u16,
    pub(super) nic: LosslessNic,
    /// Frames that the interface has, by number. Besides those of limited flows it is at most one
    /// for each priority.
    held: BTreeMap<u64, LiveFrame>,
    /// By priority: nothing waited at the last wake-up.
    was_empty: [bool; PRIORITIES],
    free_at: Time,
}

impl Bridged {
    pub(super) fn new(host: u16, nic: LosslessNic) -> Bridged {
        Bridged {
            host,
            nic,
            held: BTreeMap::new(),
            was_empty: [true; PRIORITIES],
            free_at: Time::ZERO,
        }
    }

    /// The measured interval begins: the times of a storm count from here.
    pub(super) fn begin(&mut self, now: Time, storm: Option<RawStorm>) {
        self.nic.begin_counting(now);
        if let Some(RawStorm { priorities, from_ps, until_ps }) = storm {
            let after = |ps: u64| now + Span::from_ps(ps.min(STORM_PS_MAX));
            self.nic.storm(Storm {
                priorities,
                next: after(from_ps),
                until: after(until_ps),
                frame: Packet::new_pause,
            });
        }
    }

    /// No storm lasts outside the measured interval: a later one could not end.
    pub(super) fn calm(&mut self) {
        let frame = Packet::new_pause;
        self.nic.storm(Storm { priorities: 0, next: Time::NEVER, until: Time::ZERO, frame });
    }

    /// Whether it holds frames back.
    pub(super) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes frames of the priorities that have some (a bit each) and sends those that are due by
    /// `until`. The clock shows `now`, and frames of a queue that was empty before have come by
    /// then. Returns the priorities that may still have some.
    pub(super) fn work(
        &mut self,
        until: Time,
        now: Time,
        mut readable: u8,
        queues: &mut impl Queues,
    ) -> u8 {
        let mut reads = 0;
        loop {
            let before = reads;
            for priority in 0..PRIORITIES as u8 {
                if readable >> priority & 1 == 0 || self.nic.holds(priority) || reads >= READS_MAX {
                    continue;
                }
                match queues.read(priority) {
                    Some(frame) => {
                        reads += 1;
                        self.take(until, now, priority, frame, queues);
                    }
                    None => {
                        self.was_empty[usize::from(priority)] = true;
                        readable &= !(1 << priority);
                    }
                }
            }
            match self.nic.send(until) {
                Some((start, end, packet)) => {
                    self.free_at = end;
                    let is_own = packet.is_pause();
                    let held = if is_own { None } else { self.held.remove(&packet.seq) };
                    let frame = held
                        .unwrap_or(LiveFrame { from_host: self.host, ..LiveFrame::bare(packet) });
                    queues.send(frame, start, end);
                }
                None if reads == before => return readable,
                None => {}
            }
        }
    }

    /// Hands a frame to the interface, at the time from which it could have been sent.
    fn take(
        &mut self,
        until: Time,
        now: Time,
        priority: u8,
        frame: LiveFrame,
        queues: &mut impl Queues,
    ) {
        let has_waited = !std::mem::replace(&mut self.was_empty[usize::from(priority)], false);
        let at = if has_waited { self.free_at.max(until - STEP).min(until) } else { now };
        if self.nic.enqueue(at, frame.packet).is_some() {
            self.held.insert(frame.packet.seq, frame);
        } else {
            queues.refuse(frame);
        }
    }
}
