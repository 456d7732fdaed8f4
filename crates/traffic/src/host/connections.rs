//! Events of connections.

use super::{Due, Host};
use crate::end::{Calls, End, Link};
use crate::record::Failure;
use crate::sockets::Sockets;
use crate::waiter::Waiter;
use tailrace_programs::App;
use tailrace_units::Time;

impl Host {
    /// Calls a program, then carries out the consequences of its calls.
    pub(super) fn call<S: Sockets>(
        &mut self,
        now: Time,
        number: u32,
        sockets: &mut S,
        call: impl FnOnce(&mut App, &mut Calls<'_, S>),
    ) {
        self.call_alone(now, number, sockets, call);
        self.grant_cores(now, sockets);
    }

    /// Notifies the programs that have been granted a core by now.
    pub(super) fn grant_cores<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        while let Some(next) = self.cores.poll_granted() {
            match next {
                Waiter::End(number) => {
                    self.call_alone(now, number, sockets, |app, calls| app.handle_core(calls))
                }
                Waiter::Thread { program, thread } => {
                    self.call_hosted_alone(now, program, sockets, |program, calls| {
                        program.handle_core(now, thread, calls)
                    });
                }
            }
        }
    }

    pub(super) fn call_alone<S: Sockets>(
        &mut self,
        now: Time,
        number: u32,
        sockets: &mut S,
        call: impl FnOnce(&mut App, &mut Calls<'_, S>),
    ) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        let End { app, link } = end.as_mut();
        let (cores, record) = (&mut self.cores, &mut self.record);
        let mut calls = Calls { number, now, link, sockets, cores, record, has_finished: false };
        call(app, &mut calls);
        let (failure, has_finished) = (calls.failure(), calls.has_finished);
        let (workload, is_flow) = (end.link.workload, end.link.flow.is_some());
        if has_finished && self.finite[workload as usize] {
            self.left -= 1;
        }
        match failure {
            Some(error) => self.fail(now, number, error.raw_os_error().unwrap_or(0), sockets),
            None if has_finished && is_flow => self.close(now, number, sockets),
            None => self.arm_program(number),
        }
    }

    /// Reads the available bytes, unless the program reads itself; then it is notified of the new
    /// ones.
    pub(super) fn read<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        let link = &mut end.link;
        let read = if link.reads_late {
            let before = link.noticed;
            sockets.unread(number).map(|unread| {
                link.noticed = unread;
                (unread.saturating_sub(before), false)
            })
        } else {
            sockets.read(number, u64::MAX).map(|read| (read.bytes, read.has_ended))
        };
        let (bytes, has_ended) = match read {
            Ok(read) => read,
            Err(error) => {
                return self.fail(now, number, error.raw_os_error().unwrap_or(0), sockets);
            }
        };
        if bytes > 0 {
            link.received += bytes;
            link.first_byte.get_or_insert(now);
            if link.counts_goodput {
                self.record.received(now, link.workload, link.user, bytes);
            }
            self.call(now, number, sockets, |app, calls| app.handle_readable(now, bytes, calls));
        }
        if has_ended {
            self.lose(now, number, sockets);
        }
    }

    /// The connection is over. The end of a flow makes room for others.
    pub(super) fn close<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S) {
        let Some(Some(end)) = self.ends.get_mut(number as usize) else { return };
        if let Some(counters) = sockets.counters(number) {
            self.record.sample(&end.link.sample(now, counters));
        }
        sockets.close(number);
        end.link.is_open = false;
        if end.link.flow.is_some() {
            self.due.remove(&(end.link.due, Due::Program(number)));
            self.ends[number as usize] = None;
            self.free.push(number);
        }
    }

    /// A connection is broken. Where its peer has closed it, as all do when their host ends, that
    /// host knows whether something was wrong.
    pub(super) fn fail<S: Sockets>(&mut self, now: Time, number: u32, error: i32, sockets: &mut S) {
        let Some(Some(end)) = self.ends.get(number as usize) else { return };
        if !matches!(error, libc::EPIPE | libc::ECONNRESET) {
            let Link { workload, user, side, .. } = end.link;
            self.record.failed(&Failure { at: now, workload, user, side, error });
        }
        self.lose(now, number, sockets);
    }

    /// No more bytes come. The receiver of an incomplete flow stays, as do all lasting ends: their
    /// waits are known at the end.
    pub(super) fn lose<S: Sockets>(&mut self, now: Time, number: u32, sockets: &mut S) {
        if let Some(Some(end)) = self.ends.get_mut(number as usize)
            && end.link.side == 1
        {
            end.link.flow = None;
        }
        self.close(now, number, sockets);
    }

    pub(super) fn sample<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        self.read_counters(now, sockets);
        if let Some(interval) = self.settings.tcp_interval {
            self.arm(now + interval, Due::Sample);
        }
    }

    /// Samples the limits of connections.
    pub(super) fn sample_limits<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        for (number, end) in (0..).zip(&mut self.ends) {
            if let Some(end) = end
                && end.link.is_open
                && let Some(counters) = sockets.counters(number)
            {
                end.link.clock.sample(now, &counters);
            }
        }
        self.programs.iter_mut().for_each(|program| program.own.sample_limits(now, sockets));
        self.arm(now + self.sample_interval, Due::SampleLimits);
    }

    pub(super) fn read_counters<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        for (number, end) in (0..).zip(&mut self.ends) {
            if let Some(end) = end
                && end.link.is_open
                && let Some(counters) = sockets.counters(number)
            {
                self.record.sample(&end.link.sample(now, counters));
            }
        }
        self.tell_tallies(now, sockets);
    }
}
