//! A paced generator of test frames that measures a switch: it sends at one end, receives at the
//! other, and counts lost, reordered, duplicated and delayed frames. Frames carry a number and the
//! time at which they were sent.

mod frame;
mod order;
mod pace;
mod packet;
mod report;
mod tally;
mod vhost;

pub(crate) use frame::{MARKED_BYTES, mark, marks, now_ns, remark};
pub(crate) use order::TrialSpec;
pub(crate) use pace::{Pace, Schedule};
pub(crate) use packet::PacketWire;
pub(crate) use vhost::VhostWire;

use crate::machine::Machine;
use frame::Template;
use report::Report;
use std::io;
use std::time::{Duration, Instant};
use tally::Tally;

/// Frames that are handed over at once, as Open vSwitch takes them (`NETDEV_MAX_BURST`).
pub(crate) const BATCH: usize = 32;
/// RFC 2544 section 23: after the last frame was sent, two seconds for frames on their way.
const RESIDUE: Duration = Duration::from_secs(2);
/// A frame that has not come for this long will not come: ten times the longest delay of a full
/// queue that was seen here (20 ms).
const SILENCE: Duration = Duration::from_millis(200);

/// Where frames are sent and where they arrive.
pub(crate) trait Wire {
    /// The frames that follow are like this one.
    fn prepare(&mut self, template: &Template);

    /// Sends up to [`BATCH`] frames, numbered from `first` on; returns how many were taken.
    fn send(&mut self, first: u64, count: usize) -> io::Result<usize>;

    /// Counts the frames that have arrived; returns how many frames that were.
    fn receive(&mut self, tally: &mut Tally) -> io::Result<usize>;

    /// Frames since the last call that the switch delivered and the generator had no room for.
    fn overruns(&mut self) -> io::Result<u64>;
}

/// Runs one trial.
pub(crate) fn run(wire: &mut dyn Wire, order: &TrialSpec) -> io::Result<Report> {
    wire.prepare(&Template::new(order.frame_bytes, order.trial));
    let mut tally = Tally::new(order.trial, order.frames)?;
    wire.receive(&mut tally)?; // frames of an earlier trial
    wire.overruns()?;
    tally = Tally::new(order.trial, order.frames)?;
    let before = Machine::now();
    let (mut calls, mut blocked) = (0_u64, 0_u64);
    let mut pace = Pace::new(order.schedule(), Instant::now());
    while let Some(count) = pace.due(Instant::now()) {
        let count = count.min(BATCH);
        if count > 0 {
            let taken = wire.send(pace.sent, count)?;
            pace.sent += taken as u64;
            calls += 1;
            blocked += u64::from(taken < count);
        }
        wire.receive(&mut tally)?;
    }
    let sending = pace.elapsed();
    if order.awaits {
        receive_residue(wire, &mut tally, pace.sent)?;
    }
    let (_, stolen_share) = Machine::now().idle_and_steal_since(before);
    let blocked_share = blocked as f64 / calls.max(1) as f64;
    let (sent, gaps, overruns) = (pace.sent, pace.gaps, wire.overruns()?);
    Ok(Report { order: *order, sent, sending, blocked_share, gaps, stolen_share, overruns, tally })
}

fn receive_residue(wire: &mut dyn Wire, tally: &mut Tally, sent: u64) -> io::Result<()> {
    let end = Instant::now() + RESIDUE;
    let mut heard = Instant::now();
    while tally.received < sent && Instant::now() < end && heard.elapsed() < SILENCE {
        if wire.receive(tally)? > 0 {
            heard = Instant::now();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A wire that loses, doubles and delays frames as configured.
    struct Fake {
        template: Option<Template>,
        lost: Vec<u64>,
        doubled: Vec<u64>,
        held: Option<u64>,
        waiting: VecDeque<Vec<u8>>,
    }

    impl Wire for Fake {
        fn prepare(&mut self, template: &Template) {
            self.template = Some(template.clone());
        }

        fn send(&mut self, first: u64, count: usize) -> io::Result<usize> {
            for number in first..first + count as u64 {
                let mut frame = self.template.as_ref().expect("it was prepared").bytes().to_vec();
                frame::mark(&mut frame, number, frame::now_ns());
                if self.lost.contains(&number) {
                    continue;
                }
                if self.doubled.contains(&number) {
                    self.waiting.push_back(frame.clone());
                }
                self.waiting.push_back(frame);
                if self.held == Some(number) {
                    let late = self.waiting.pop_back().expect("it was put there");
                    let before = self.waiting.pop_back().expect("it is not the first");
                    self.waiting.extend([late, before]);
                }
            }
            Ok(count)
        }

        fn receive(&mut self, tally: &mut Tally) -> io::Result<usize> {
            let count = self.waiting.len();
            while let Some(frame) = self.waiting.pop_front() {
                tally.take(&frame, frame::now_ns());
            }
            Ok(count)
        }

        fn overruns(&mut self) -> io::Result<u64> {
            Ok(0)
        }
    }

    fn order(frames: u64) -> TrialSpec {
        TrialSpec {
            frame_bytes: 64,
            interval_ps: 1_000_000,
            frames,
            limit_ns: 1_000_000_000,
            trial: 7,
            awaits: true,
        }
    }

    fn sound() -> Fake {
        Fake { template: None, lost: vec![], doubled: vec![], held: None, waiting: VecDeque::new() }
    }

    #[test]
    fn lost_doubled_and_reordered_frames_are_distinguished() {
        let mut wire = Fake { lost: vec![3, 9], doubled: vec![5], held: Some(7), ..sound() };
        let report = run(&mut wire, &TrialSpec { interval_ps: 0, ..order(20) }).expect("it runs");
        assert_eq!((report.sent, report.tally.received, report.lost()), (20, 18, 2));
        assert_eq!((report.tally.duplicates, report.tally.reordered), (1, 1));
    }

    #[test]
    fn what_an_earlier_trial_left_is_not_counted() {
        let mut wire = sound();
        wire.waiting.push_back(Template::new(64, 6).bytes().to_vec());
        let mut tally = Tally::new(7, 10).expect("room");
        wire.receive(&mut tally).expect("it is there");
        assert_eq!((tally.received, tally.foreign), (0, 1));
        assert_eq!(run(&mut wire, &order(10)).expect("it runs").tally.received, 10);
    }

    #[test]
    fn a_trial_ends_at_its_limit() {
        let mut wire = sound();
        let slow = TrialSpec { interval_ps: 1_000_000_000_000, limit_ns: 1_000_000, ..order(10) };
        let report = run(&mut wire, &slow).expect("it runs");
        assert_eq!((report.sent, report.lost()), (1, 0));
    }
}
