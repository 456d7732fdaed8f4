//! Sources of requests: closed-loop users, or arrivals.

use super::Arrivals;
use std::collections::BTreeSet;
use tailrace_units::{Distribution, RandomStream, Span, Time};

/// Configuration of a source of requests.
#[derive(Debug)]
pub enum Drive {
    /// Closed-loop users.
    Users {
        /// Each of them.
        users: Vec<User>,
        /// Picoseconds from a response to the next request.
        gap: Distribution,
        /// Of each user; 0 without end.
        requests: u64,
    },
    /// Requests that arrive by themselves.
    Arrivals(Arrivals),
}

/// A closed-loop user, which asks over connections of its own.
#[derive(Debug)]
pub struct User {
    /// Counts within the workload.
    pub number: u32,
    /// When its first request is meant to start.
    pub first: Time,
    /// The index of its server, unless servers are drawn.
    pub server: u32,
    /// Its pauses.
    pub random: RandomStream,
}

/// A request that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// Index of the user here.
    pub(crate) user: u32,
    /// When it was meant to start.
    pub(crate) intended: Time,
    /// How many its user, or all arrivals, had begun before.
    pub(crate) before: u64,
}

/// The remaining transactions of a user.
#[derive(Debug)]
pub(crate) struct UserState {
    user: User,
    begun: u64,
    running: u32,
}

/// A source of requests, with its state.
#[derive(Debug)]
pub(crate) enum Source {
    /// Users, and when each begins its next request.
    Users {
        users: Vec<UserState>,
        gap: Distribution,
        requests: u64,
        depth: u32,
        due: BTreeSet<(Time, u32)>,
    },
    /// Arrivals.
    Arrivals(Arrivals),
}

impl Source {
    /// Each user has as many requests on its way as its connection carries.
    pub(crate) fn new(drive: Drive, depth: u32) -> Source {
        match drive {
            Drive::Arrivals(arrivals) => Source::Arrivals(arrivals),
            Drive::Users { users, gap, requests } => {
                let slots = (0_u32..).zip(&users).flat_map(|(at, user)| {
                    (0..depth).map(move |slot| (user.first, at * depth + slot))
                });
                let due = slots.collect();
                let users = users
                    .into_iter()
                    .map(|user| UserState { user, begun: 0, running: 0 })
                    .collect();
                Source::Users { users, gap, requests, depth, due }
            }
        }
    }

    /// When the next request is due, or [`Time::NEVER`].
    pub(crate) fn poll_timeout(&self) -> Time {
        match self {
            Source::Users { due, .. } => due.first().map_or(Time::NEVER, |&(at, _)| at),
            Source::Arrivals(arrivals) => arrivals.next_at(),
        }
    }

    /// The number and the intended start of a request that is due by now.
    pub(crate) fn poll_due(&mut self, now: Time) -> Option<(u64, Job)> {
        match self {
            Source::Arrivals(arrivals) => {
                let intended = arrivals.next_at();
                (intended <= now).then(|| {
                    let number = arrivals.take();
                    (number, Job { user: 0, intended, before: number })
                })
            }
            Source::Users { users, requests, depth, due, .. } => loop {
                let (intended, slot) = *due.first().filter(|&&(at, _)| at <= now)?;
                due.pop_first();
                let user = slot / *depth;
                let state = &mut users[user as usize];
                if *requests > 0 && state.begun == *requests {
                    continue; // the other requests on its way are its last
                }
                (state.begun, state.running) = (state.begun + 1, state.running + 1);
                return Some((slot.into(), Job { user, intended, before: state.begun - 1 }));
            },
        }
    }

    /// The number of the user of this request.
    pub(crate) fn user(&self, job: Job) -> u32 {
        match self {
            Source::Users { users, .. } => users[job.user as usize].user.number,
            Source::Arrivals(_) => 0,
        }
    }

    /// A request has ended. Returns whether it was the last of its user.
    pub(crate) fn ended(&mut self, now: Time, number: u64, job: Job, pause: Span) -> bool {
        let Source::Users { users, gap, requests, due, .. } = self else { return false };
        let state = &mut users[job.user as usize];
        state.running -= 1;
        if *requests > 0 && state.begun == *requests {
            return state.running == 0;
        }
        let gap = Span::from_ps(gap.draw(&mut state.user.random));
        due.insert((now + gap.max(pause), number as u32));
        false
    }

    /// Whether the last arrival has come; true once.
    pub(crate) fn is_used_up(&mut self) -> bool {
        match self {
            Source::Arrivals(arrivals) => arrivals.tells_end(),
            Source::Users { .. } => false,
        }
    }
}
