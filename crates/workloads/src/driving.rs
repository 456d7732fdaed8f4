//! Sources of requests or transactions: closed-loop users, spread over clients in turn, or
//! arrivals, of which each client takes its part.

use crate::{WorkloadContext, WorkloadRecord};
use tailrace_plan::{RawObserve, RawSpike};
use tailrace_programs::{Arrivals, ArrivalsConfig, Drive, Spike, User};
use tailrace_units::{Distribution, Span, Time};

/// Users, or arrivals.
#[derive(Clone, Copy)]
pub(crate) struct Driven<'a> {
    /// 0 where requests arrive by themselves.
    pub(crate) users: u32,
    pub(crate) clients: usize,
    /// Of each user, or all arrivals; 0 for no end.
    pub(crate) count: u64,
    pub(crate) gap: &'a Distribution,
    pub(crate) arrivals: Option<&'a Distribution>,
    pub(crate) spikes: &'a [RawSpike],
}

/// The record of this many users, or of arrivals.
pub(crate) fn record(
    observe: &RawObserve,
    users: u32,
    count: u64,
    clients: usize,
) -> WorkloadRecord {
    let of_each = u64::from(users);
    if of_each > 0 {
        let left = if count > 0 { of_each } else { 0 };
        return WorkloadRecord::new(observe, users as usize, left, of_each * count);
    }
    // Each client ends with the last arrival that is its own.
    WorkloadRecord::new(observe, 0, count.min(clients as u64), count)
}

impl Driven<'_> {
    /// The source of a client's requests; `home_of` returns the server of a user that stays with
    /// one.
    pub(crate) fn drive(
        &self,
        context: &WorkloadContext<'_>,
        client: u32,
        home_of: impl Fn(u32) -> u32,
    ) -> Drive {
        let start = Time::from_ps(context.header.start_ps);
        let Some(arrivals) = self.arrivals else {
            let users = self.users_of(client).map(|number| {
                let high =
                    if context.header.is_first_at_start { 0 } else { self.gap.mean() as u64 };
                let spread = Distribution::Uniform { low: 0, high };
                let first = spread.draw(&mut context.random(&format!("{number}/start")));
                User {
                    number,
                    first: start + Span::from_ps(first),
                    server: home_of(number),
                    random: context.random(&format!("{number}/client")),
                }
            });
            return Drive::Users {
                users: users.collect(),
                gap: self.gap.clone(),
                requests: self.count,
            };
        };
        let spikes = self.spikes.iter().map(|spike| {
            let from = Time::from_ps(spike.at_ps);
            Spike {
                factor_milli: spike.factor_milli,
                from,
                until: from + Span::from_ps(spike.for_ps),
            }
        });
        let config = ArrivalsConfig {
            gap: arrivals.clone(),
            spikes: spikes.collect(),
            start,
            count: self.count,
            client: client.into(),
            clients: self.clients as u64,
            random: context.random("arrivals"),
        };
        Drive::Arrivals(if context.header.is_first_at_start {
            Arrivals::at_start(config)
        } else {
            Arrivals::new(config)
        })
    }

    /// Users of a client, or its part of the arrivals, if it has one.
    pub(crate) fn finishes(&self, client: u32) -> u64 {
        match self.users {
            0 => u64::from(u64::from(client) < self.count),
            _ => self.users_of(client).count() as u64,
        }
    }

    /// The numbers of a client's users.
    pub(crate) fn users_of(&self, client: u32) -> impl Iterator<Item = u32> + use<> {
        (client..self.users).step_by(self.clients)
    }
}
