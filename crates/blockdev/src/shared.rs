//! A device that several programs of a host use: one queue, one set of servers, one link, one
//! cache.

use crate::{Completion, Device, Request};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tailrace_units::Time;

/// Bits of a tag that are the program's own; those above identify the program.
const TAG_BITS: u32 = 32;

/// A device with its users.
#[derive(Debug)]
struct Shared {
    device: Device,
    users: Vec<User>,
}

/// The requests of a program at the device.
#[derive(Default, Debug)]
struct User {
    /// Requests that are not complete.
    underway: u32,
    /// Completions that it has not taken.
    completions: VecDeque<Completion>,
}

/// One program's use of a device. Requests of all users enter the same queue, in the order in which
/// they are submitted.
///
/// A user is to be called at its own [`DeviceUser::poll_timeout`]. No completion is late by that:
/// what a user has submitted can end no earlier than the next event that the device had scheduled
/// when the user called it last, since nothing overtakes in the queue, the link and the cache, and
/// no server idles while something waits.
#[derive(Debug)]
pub struct DeviceUser {
    /// The device, where it has no other user.
    alone: Option<Box<Shared>>,
    /// The device that others may use, or have used until it was first asked for something. One of
    /// both is there.
    shared: Option<Arc<Mutex<Shared>>>,
    number: usize,
}

impl DeviceUser {
    /// The first user of a device.
    pub fn new(device: Device) -> DeviceUser {
        DeviceUser::of(Arc::new(Mutex::new(Shared { device, users: vec![User::default()] })), 0)
    }

    fn of(shared: Arc<Mutex<Shared>>, number: usize) -> DeviceUser {
        DeviceUser { alone: None, shared: Some(shared), number }
    }

    /// One more user of the same device.
    ///
    /// # Panics
    /// When the device has been used by the only user that it had.
    pub fn another(&self) -> DeviceUser {
        let shared = self.shared.as_ref().expect("a device has its users before it is used");
        let mut own = locked(shared);
        own.users.push(User::default());
        DeviceUser::of(Arc::clone(shared), own.users.len() - 1)
    }

    /// The program has a request, whose tag is below 2^32. Any number may be submitted.
    pub fn submit(&mut self, now: Time, request: Request) {
        assert!(request.tag >> TAG_BITS == 0, "a tag has 32 bits");
        if let Some(shared) = self.shared.take_if(|shared| Arc::strong_count(shared) == 1) {
            // No lock for a device that can have no other user.
            self.alone = Arc::into_inner(shared)
                .map(|shared| Box::new(shared.into_inner().expect(UNBROKEN)));
        }
        let number = self.number;
        self.change(|shared| shared.submit(now, number, request));
    }

    /// When this user wants to be called, or [`Time::NEVER`].
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        match &self.alone {
            Some(alone) => alone.poll_timeout(self.number),
            None => self.locked().poll_timeout(self.number),
        }
    }

    /// Does everything that is due by `now`, each at its time.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time) {
        self.change(|shared| {
            shared.device.handle_timeout(now);
            shared.deliver();
        });
    }

    /// The next of this user's requests that is complete, in the order in which they are.
    #[inline]
    pub fn poll_completion(&mut self) -> Option<Completion> {
        let number = self.number;
        self.change(|shared| shared.users[number].completions.pop_front())
    }

    #[inline]
    fn change<T>(&mut self, change: impl FnOnce(&mut Shared) -> T) -> T {
        match &mut self.alone {
            Some(alone) => change(alone),
            None => self.change_locked(change),
        }
    }

    #[inline(never)]
    fn change_locked<T>(&self, change: impl FnOnce(&mut Shared) -> T) -> T {
        change(&mut self.locked())
    }

    #[inline(never)]
    fn locked(&self) -> MutexGuard<'_, Shared> {
        locked(self.shared.as_ref().expect("a device that has others is shared"))
    }
}

const UNBROKEN: &str = "nothing panics while it has this";

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().expect(UNBROKEN)
}

impl Shared {
    fn submit(&mut self, now: Time, number: usize, request: Request) {
        self.users[number].underway += 1;
        self.device
            .submit(now, Request { tag: (number as u64) << TAG_BITS | request.tag, ..request });
        self.deliver();
    }

    #[inline]
    fn poll_timeout(&self, number: usize) -> Time {
        let User { underway, completions } = &self.users[number];
        match completions.front() {
            Some(completion) => completion.at,
            None if *underway > 0 => self.device.poll_timeout(),
            None => Time::NEVER,
        }
    }

    /// Passes completions to the submitters of the requests.
    fn deliver(&mut self) {
        while let Some(completion) = self.device.poll_completion() {
            let user = &mut self.users[(completion.tag >> TAG_BITS) as usize];
            user.underway -= 1;
            user.completions.push_back(Completion {
                tag: completion.tag & ((1 << TAG_BITS) - 1),
                ..completion
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheConfig, DeviceConfig, Limits, LinkConfig, Op};
    use proptest::prelude::*;
    use tailrace_units::{BitRate, Distribution, RandomStream, Span};

    fn config(servers: u32, queue_depth: u32) -> DeviceConfig {
        let rate = BitRate::from_gbps(4);
        DeviceConfig {
            servers,
            read_latency: Distribution::Constant(Span::from_us(100).ps()),
            write_latency: Distribution::Constant(Span::from_us(100).ps()),
            link: LinkConfig { read: rate, write: rate, is_duplex: false },
            queue_depth,
            limits: Limits::NONE,
            cache: None,
            head: None,
        }
    }

    fn users(config: DeviceConfig, seed: u64, count: usize) -> Vec<DeviceUser> {
        let first = DeviceUser::new(Device::new(config, RandomStream::new(seed, "device")));
        let mut users: Vec<DeviceUser> = (1..count).map(|_| first.another()).collect();
        users.insert(0, first);
        users
    }

    fn request(op: Op, bytes: u64, tag: u64) -> Request {
        Request { op, offset: 0, bytes, tag }
    }

    /// First come, first served: of two closed loops each has a part of the rate in proportion to
    /// its depth, and both together what the servers give one.
    #[test]
    fn two_closed_loops_share_a_device_in_proportion_to_their_depths() {
        let mut users = users(config(4, 32), 1, 2);
        let (depths, mut counts) = ([6_u64, 18], [0_u64; 2]);
        for (user, depth) in users.iter_mut().zip(depths) {
            (0..depth).for_each(|tag| user.submit(Time::ZERO, request(Op::Read, 512, tag)));
        }
        let end = Time::ZERO + Span::from_ms(1_000);
        loop {
            let (due, number) = (0..2)
                .map(|number| (users[number].poll_timeout(), number))
                .min()
                .expect("there are two");
            if due > end {
                break;
            }
            users[number].handle_timeout(due);
            while let Some(done) = users[number].poll_completion() {
                counts[number] += 1;
                users[number].submit(due, request(Op::Read, 512, done.tag));
            }
        }
        assert!(counts[0].abs_diff(10_000) < 50 && counts[1].abs_diff(30_000) < 150, "{counts:?}");
    }

    /// The lock of a device with several users changes nothing for one of them while the others do
    /// nothing.
    #[test]
    fn a_user_alone_is_served_as_beside_one_who_does_nothing() {
        let served = |count: usize| {
            let mut users = users(config(2, 4), 1, count);
            assert_eq!(users[0].poll_timeout(), Time::NEVER);
            (0..9).for_each(|tag| users[0].submit(Time::ZERO, request(Op::Read, 4096 << tag, tag)));
            assert_eq!(users[0].alone.is_some(), count == 1);
            let mut done = Vec::new();
            while !users[0].poll_timeout().is_never() {
                let due = users[0].poll_timeout();
                users[0].handle_timeout(due);
                done.extend(
                    std::iter::from_fn(|| users[0].poll_completion())
                        .map(|each| (each.tag, each.at)),
                );
            }
            done
        };
        assert_eq!(served(1).len(), 9);
        assert_eq!(served(1), served(2));
    }

    proptest! {
        /// Programs that are called only at the deadlines of their latest call, as engines do it.
        /// Each request is answered once, to its submitter, and at the moment of its completion.
        #[test]
        fn every_request_is_answered_once_in_time_and_to_its_user(
            servers in 1_u32..4,
            depth in 1_u32..6,
            cache in prop::option::of(1_u64..32),
            seed in 0_u64..1_000,
            sent in prop::collection::vec((0_u64..150, 0_usize..3, 0_u8..5, 1_u64..12), 1..120),
        ) {
            let mut config = config(servers, depth);
            config.read_latency = Distribution::Exponential { mean: Span::from_us(90).ps() };
            config.link.is_duplex = seed % 2 == 0;
            config.limits = Limits { max_sectors_bytes: 16 << 10, ..Limits::NONE };
            config.cache =
                cache.map(|pages| CacheConfig { bytes: pages << 12, latency: Span::from_us(3) });
            let mut users = users(config, seed, 3);
            let mut armed = [Time::NEVER; 3];
            let (mut answered, mut submitted) = ([0_u64; 3], [0_u64; 3]);
            let mut bytes = 0;
            let mut arrivals: VecDeque<(Time, usize, Op, u64)> = VecDeque::new();
            let mut at = Time::ZERO;
            for (gap_us, user, kind, pages) in sent {
                at += Span::from_us(gap_us);
                let op = match kind {
                    0 | 1 => Op::Read,
                    2 | 3 => Op::Write,
                    _ => Op::Flush,
                };
                arrivals.push_back((at, user, op, if op == Op::Flush { 0 } else { pages << 12 }));
            }
            let whole: u64 = arrivals.iter().map(|arrival| arrival.3).sum();
            let count = arrivals.len() as u64;
            let mut sizes = std::collections::BTreeMap::new();
            for _ in 0..100_000 {
                let (due, number) =
                    (0..3).map(|number| (armed[number], number)).min().expect("there are three");
                let (now, number) = match arrivals.front() {
                    Some(&(at, user, op, bytes)) if at < due => {
                        arrivals.pop_front();
                        users[user].submit(at, request(op, bytes, submitted[user]));
                        sizes.insert((user, submitted[user]), bytes);
                        submitted[user] += 1;
                        (at, user)
                    }
                    _ if due.is_never() => break,
                    _ => {
                        users[number].handle_timeout(due);
                        (due, number)
                    }
                };
                while let Some(done) = users[number].poll_completion() {
                    prop_assert_eq!(
                        done.at,
                        now,
                        "a program learns of a completion when it happens"
                    );
                    let size = sizes.remove(&(number, done.tag));
                    prop_assert!(
                        size.is_some(),
                        "it was submitted by this program, and has not been answered"
                    );
                    bytes += size.unwrap_or(0);
                    answered[number] += 1;
                }
                armed[number] = users[number].poll_timeout();
            }
            prop_assert_eq!(answered, submitted);
            prop_assert_eq!((answered.iter().sum::<u64>(), bytes), (count, whole));
        }
    }
}
