//! One trial on several threads, with the results of one thread (`docs/models/parallel.md`).
//!
//! The nodes of the network are divided into parts. Each part has a thread, which handles the
//! events of its nodes in windows of time. The lookahead, the minimum time of a frame from one part
//! to another, limits the length of a window: an event of a window cannot affect another part
//! before the next window. At the end of a window all threads meet at a barrier, and frames for
//! other parts change hands.

mod barrier;
mod beginning;
mod cost;
mod flows;
mod mailboxes;
mod part;
mod partition;
mod receivers;
mod refusal;
#[cfg(test)]
mod schedules;
mod sync;
mod threads;
mod whole;

pub use beginning::{Cores, run_on};
pub use cost::cost_of_a_window;
pub use partition::{PARTS_MAX, Partition};
pub use refusal::Refusal;

use crate::agenda::Source;
use crate::boundary::Boundary;
use crate::build::build;
use crate::clock::Stopwatch;
use crate::control::Control;
use crate::outcome::{self, Outcome};
use crate::sampling::{self, Engine};
use crate::workload_events::{Entry, EventKey, Log};
use crate::world::World;
use barrier::Barrier;
use mailboxes::{Board, Mailboxes};
use part::{Ended, LatePorts, Part, Shared};
use tailrace_plan::Plan;
use tailrace_units::{Span, Time};
use tailrace_workloads::{flow_receivers, opening_hosts};
use whole::{Own, Owners};

/// If two parts exchange nothing, windows end with the stretch of time that is run.
const FOREVER: Span = Span::from_secs(1_000_000);

/// The course of a run.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Windows of all parts together, each ending with a barrier.
    pub windows: u64,
    /// Length of a window that ends for no other reason (the lookahead), in picoseconds; 0 where
    /// parts exchange nothing.
    pub look_ahead_ps: u64,
    /// Events by part.
    pub events: Vec<u64>,
    /// Sum, over all windows, of the events of the busiest part: the bound on the speed of any
    /// number of cores.
    pub longest: u64,
    /// Whether the end of the trial was found by an earlier run.
    pub was_repeated: bool,
}

/// Runs one trial in the parts of a division of its network: the outcome is that of [`crate::run`].
pub fn run_parted(plan: &Plan, partition: &Partition, control: &Control) -> (Outcome, Course) {
    run_parted_since(&Stopwatch::start(), plan, partition, control)
}

/// The same for a trial that began before.
fn run_parted_since(
    started: &Stopwatch,
    plan: &Plan,
    partition: &Partition,
    control: &Control,
) -> (Outcome, Course) {
    let mut parted = Parted::new(plan, partition, None);
    parted.run(control);
    if let Some(end) = parted.overrun {
        // Parts have handled more than the last event of the trial, which is known now.
        let (windows, longest) = (parted.course.windows, parted.course.longest);
        parted = Parted::new(plan, partition, Some(end));
        (parted.course.windows, parted.course.longest, parted.course.was_repeated) =
            (windows, longest, true);
        parted.run(control);
        assert!(parted.overrun.is_none(), "the end of a trial is known");
    }
    let wall = started.elapsed();
    (outcome::gather(plan, parted.whole(), wall, control), parted.course)
}

/// A trial in parts.
struct Parted<'a> {
    plan: &'a Plan,
    owners: Owners,
    /// One for each part; between stretches of time the first is the whole.
    worlds: Vec<World>,
    ports: Vec<LatePorts>,
    own: Vec<Own>,
    lookahead: Span,
    /// The log and the boundary of the first world as a part.
    set_aside: (Option<Box<Log>>, Option<Box<Boundary>>),
    /// The last event of the trial, if it is known.
    end: Option<EventKey>,
    /// The last event of the trial, if more than that was handled.
    overrun: Option<EventKey>,
    course: Course,
}

impl<'a> Parted<'a> {
    fn new(plan: &'a Plan, partition: &Partition, end: Option<EventKey>) -> Parted<'a> {
        let parts = partition.parts();
        let mut worlds: Vec<World> =
            threads::together((0..parts).map(|_| || build(plan)).collect());
        let owners = Owners::of(plan, partition, &worlds[0]);
        let lookahead = owners.lookahead(&worlds[0]);
        let late: Vec<Vec<whole::LateWire>> =
            (0..).zip(&worlds).map(|(part, world)| owners.late_wires(part, world)).collect();
        let ports = (0..parts).map(|part| {
            let into: Vec<u32> = late
                .iter()
                .flatten()
                .filter(|late| usize::from(late.to) == part)
                .map(|late| late.wire)
                .collect();
            LatePorts::new(late[part].clone(), worlds[0].links.wires.len(), &into)
        });
        let ports = ports.collect();
        let own = (0..).take(parts).map(|part| owners.own(part)).collect();
        (0..).zip(&mut worlds).for_each(|(part, world)| owners.confine(part, world));
        let course = Course {
            look_ahead_ps: lookahead.map_or(0, Span::ps),
            events: vec![0; parts],
            ..Course::default()
        };
        let lookahead = lookahead.unwrap_or(FOREVER);
        let mut parted = Parted {
            plan,
            owners,
            worlds,
            ports,
            own,
            lookahead,
            set_aside: (None, None),
            end,
            overrun: None,
            course,
        };
        parted.gather();
        parted
    }

    fn run(&mut self, control: &Control) {
        sampling::run_sampled(self.plan, self, control);
    }

    /// Moves everything into the first world.
    fn gather(&mut self) {
        self.owners.exchange(&mut self.worlds);
        let (whole, others) = self.worlds.split_first_mut().expect("there is a world");
        self.course.events[0] += whole.events - self.course.events.iter().sum::<u64>();
        for (world, events) in others.iter_mut().zip(&mut self.course.events[1..]) {
            *events += world.events;
            whole.events += std::mem::take(&mut world.events);
            whole.wakeups += std::mem::take(&mut world.wakeups);
            whole.links.observe.absorb(&mut world.links.observe);
        }
        self.set_aside = (whole.links.observe.log.take(), whole.links.boundary.take());
    }

    /// Moves to each part its own nodes.
    fn scatter(&mut self) {
        let whole = &mut self.worlds[0];
        (whole.links.observe.log, whole.links.boundary) = std::mem::take(&mut self.set_aside);
        self.owners.exchange(&mut self.worlds);
    }

    /// The logs of the parts, each in its order.
    fn logs(&mut self) -> impl Iterator<Item = &mut Box<Log>> {
        let others =
            self.worlds[1..].iter_mut().filter_map(|world| world.links.observe.log.as_mut());
        self.set_aside.0.iter_mut().chain(others)
    }

    /// Merges the workload events that the parts have logged into the records of the trial, in
    /// event order, up to the end of the trial. Returns the last event of the trial if it is among
    /// them.
    fn merge_logs(&mut self) -> Option<EventKey> {
        let mut entries: Vec<Entry> = Vec::new();
        self.logs().for_each(|log| entries.append(&mut log.entries));
        // Entries of one event are of one part, and keep their order.
        entries.sort_by_key(|entry| entry.key);
        let observe = &mut self.worlds[0].links.observe;
        let mut last = None;
        for Entry { key, now, workload, event } in entries {
            if last.is_some_and(|last| last != key) {
                break;
            }
            // The last event is handled to its end: other inputs that came to a host with the end
            // of its last stream count.
            observe.apply_workload_event(now, workload as usize, &event);
            if observe.is_done {
                last = Some(key);
            }
        }
        last
    }

    /// How many users must have finished, as the logs count them, before everything can be done.
    fn users(&mut self) -> Option<u64> {
        let left: u64 =
            self.worlds[0].links.observe.workloads.iter().map(|workload| workload.users_left).sum();
        (left > 0).then(|| self.logs().map(|log| log.finished).sum::<u64>() + left)
    }

    /// Runs up to and including `until`, or to the end of the trial.
    fn advance(&mut self, until: Time, settles_processors: bool, control: &Control) {
        loop {
            let end = self.end.map_or((until, Source::MAX), |(at, source, _)| {
                (at, source).min((until, Source::MAX))
            });
            let (ended, stopped) =
                self.advance_threads((end.0, end.1.saturating_add(1)), settles_processors, control);
            let done = self.merge_logs();
            if let Some(last) = done.filter(|_| done != self.end) {
                let is_behind =
                    stopped != (last.0, last.1 + 1) || self.logs().any(|log| log.event > last);
                if ended == Ended::AtBound || is_behind {
                    self.overrun = done;
                    return;
                }
                // All parts have stopped after it.
                self.worlds[0].now = last.0;
                self.worlds[0].settle_switches();
                if settles_processors {
                    self.worlds[0].settle_processors();
                }
                return;
            }
            if self.whole().is_cancelled {
                self.worlds[0].now =
                    self.worlds.iter().map(|world| world.now).max().unwrap_or(until);
                return self.worlds[0].settle_switches();
            }
            if ended == Ended::AtBound {
                return;
            }
        }
    }

    /// Lets the threads run up to a bound, and brings them together. Returns the end of their last
    /// window too.
    fn advance_threads(
        &mut self,
        bound: (Time, Source),
        settles_processors: bool,
        control: &Control,
    ) -> (Ended, (Time, Source)) {
        let parts = self.worlds.len();
        let users = self.users();
        let shared = Shared {
            barrier: Barrier::new(parts),
            mailboxes: Mailboxes::new(parts),
            flows: Board::new(parts),
            numbers: Board::new(parts),
            openings: programs_open(self.plan).then(|| Board::new(parts)),
            control,
            lookahead: self.lookahead,
            bound,
            end: self.end,
            users,
            ends_with_flows: ends_with_flows(self.plan, &self.worlds[0]),
            settles_processors,
        };
        self.scatter();
        let worlds = self.worlds.iter_mut().zip(self.ports.iter_mut().zip(&self.own)).enumerate();
        let mut parts_of_trial: Vec<Part<'_>> = worlds
            .map(|(number, (world, own))| {
                Part::new(number, world, own, &self.owners.flow_endpoints, parts)
            })
            .collect();
        let run = |part: &mut Part<'_>| {
            let ended = part.run(&shared);
            if ended == Ended::AtBound {
                part.settle(&shared, bound.0);
            }
            (ended, part.windows() as u64, part.longest(), part.bound)
        };
        let run = &run;
        // Every part returns the same.
        let together =
            threads::together(parts_of_trial.iter_mut().map(|part| move || run(part)).collect());
        let (ended, windows, longest, stopped) = together[0];
        drop(parts_of_trial);
        self.course.windows += windows;
        self.course.longest += longest;
        self.gather();
        (ended, stopped)
    }
}

/// Whether the trial ends with a flow, if it ends before its time.
fn ends_with_flows(plan: &Plan, world: &World) -> bool {
    let mut finite = world
        .links
        .observe
        .workloads
        .iter()
        .zip(&plan.workloads)
        .filter(|(record, _)| record.users_left > 0);
    finite.all(|(_, workload)| !flow_receivers(workload).is_empty())
}

/// Whether programs open connections while the trial runs.
fn programs_open(plan: &Plan) -> bool {
    plan.workloads.iter().any(|workload| !opening_hosts(workload).is_empty())
}

impl Engine for Parted<'_> {
    fn whole(&mut self) -> &mut World {
        &mut self.worlds[0]
    }

    fn run_until(&mut self, until: Time, control: &Control) {
        if let Some(end) = self.whole().warm_up
            && end <= until
        {
            self.advance(end, true, control);
            if self.overrun.is_some() {
                return;
            }
            let whole = self.whole();
            whole.begin_counting(whole.now);
            whole.warm_up = None;
            if whole.is_done() || whole.is_cancelled {
                return;
            }
        }
        self.advance(until, false, control);
    }
}
