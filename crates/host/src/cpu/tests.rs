//! The processor compared with theory and arithmetic.

use super::*;
use std::collections::BTreeMap;
use tailrace_units::RandomStream;

const MS: Span = Span::from_ms(1);

fn config(cores: usize) -> ProcessorConfig {
    ProcessorConfig {
        cores,
        scheduler: SchedulerConfig {
            slice: Span::from_ms(3),
            tick: Span::ZERO,
            context_switch: Span::ZERO,
        },
        steal: None,
        groups: vec![group(cores, 0)],
        owners: 4,
        depth_bin: Span::ZERO,
        depth_bins: 0,
    }
}

fn group(cores: usize, nice: i32) -> GroupConfig {
    GroupConfig { cores: CoreSet::first(cores), weight: weight_of(nice), quota: None }
}

/// Tasks with pieces of work that wake at given times and sleep when they are done.
struct Load {
    processor: Processor,
    /// Wake-ups that are still to come: task and work.
    arrivals: BTreeMap<(Time, u32), Span>,
    /// Work that a task has when it gets a core.
    pending: BTreeMap<u32, Span>,
    done: Vec<(Time, u32)>,
    /// No core idles while a task waits: checked after every event.
    is_conserving: bool,
    awake: usize,
}

impl Load {
    fn new(config: ProcessorConfig) -> Load {
        Load {
            processor: Processor::new(config),
            arrivals: BTreeMap::new(),
            pending: BTreeMap::new(),
            done: Vec::new(),
            is_conserving: false,
            awake: 0,
        }
    }
    fn task(&mut self, owner: u32, group: u32, at: Time, work: Span) -> u32 {
        let task = self.processor.add_task(NewTask { owner, group });
        self.arrivals.insert((at, task), work);
        task
    }
    fn run(&mut self, end: Time) {
        loop {
            let arrival = self.arrivals.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
            let now = arrival.min(self.processor.poll_timeout());
            if now > end {
                return self.processor.settle_all(end);
            }
            if arrival == now {
                let ((_, task), work) = self.arrivals.pop_first().expect("one is due");
                self.pending.insert(task, work);
                self.awake += 1;
                self.processor.wake(task, now);
            }
            while let Some(Done::Task(task)) = self.processor.poll(now) {
                match self.pending.remove(&task) {
                    Some(work) => self.processor.set_work(task, Kind::User, work, now),
                    None => {
                        self.done.push((now, task));
                        self.awake -= 1;
                        self.processor.sleep(task, now);
                    }
                }
            }
            let idle = self.processor.cores.iter().filter(|core| core.is_idle()).count();
            let expected = self.processor.cores().saturating_sub(self.awake);
            assert!(
                !self.is_conserving || idle == expected,
                "{idle} cores idle at {now:?}, {} tasks are awake",
                self.awake
            );
        }
    }
    fn user_ms(&self, owner: usize) -> u64 {
        self.processor.owner(owner).busy.of(Kind::User).ps() / MS.ps()
    }
    fn assert_all_time_is_accounted_for(&self, end: Time) {
        for core in 0..self.processor.cores() {
            assert_eq!(self.processor.busy(core).total(), end.since(Time::ZERO), "core {core}");
        }
    }
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

#[test]
fn cores_share_work_by_weight_and_busy_and_idle_are_all_time() {
    // Nice -5 against 0 has the weight 3121 against 1024.
    let mut load =
        Load::new(ProcessorConfig { groups: vec![group(1, 0), group(1, -5)], ..config(1) });
    for group in [0, 1] {
        load.task(group, group, Time::ZERO, Span::from_secs(100));
    }
    load.run(at_ms(10_000));
    load.assert_all_time_is_accounted_for(at_ms(10_000));
    let expected = 10_000 * 3_121 / (3_121 + 1_024);
    assert!(
        load.user_ms(1).abs_diff(expected) <= 4,
        "{} ms, and {expected} ms by weight",
        load.user_ms(1)
    );
    assert_eq!(load.processor.busy(0).of(Kind::Idle), Span::ZERO);
}

#[test]
fn a_core_that_becomes_idle_takes_what_waits_for_another() {
    let mut load = Load::new(config(4));
    let mut stream = RandomStream::new(3, "work");
    for task in 0..200 {
        load.task(task % 2, 0, at_ms(stream.below(900)), Span::from_us(1 + stream.below(30_000)));
    }
    load.is_conserving = true;
    load.run(at_ms(2_000));
    load.assert_all_time_is_accounted_for(at_ms(2_000));
    assert_eq!(load.done.len(), 200);
    assert!(load.processor.migrations() > 0);
}

/// Tasks of one core that arrive at random and share it: the mean response of processor sharing
/// depends on the mean work alone, E[T] = E[S] / (1 - load) (Kleinrock 1976, Queueing Systems II,
/// 4.4).
fn mean_response_over_work(load_percent: u64, works: [u64; 2]) -> f64 {
    const TASKS: u64 = 30_000;
    let mean_work = (works[0] + works[1]) / 2;
    let mean_gap = mean_work * 100 / load_percent;
    let mut stream = RandomStream::new(7, "processor-sharing");
    let slice = Span::from_us(10);
    let mut load = Load::new(ProcessorConfig {
        scheduler: SchedulerConfig { slice, ..config(1).scheduler },
        ..config(1)
    });
    let (mut at, mut arrived) = (Time::ZERO, BTreeMap::new());
    for _ in 0..TASKS {
        let gap = -(1.0 - stream.unit()).ln() * mean_gap as f64;
        at += Span::from_ps(gap as u64 * 1_000);
        let task = load.task(0, 0, at, Span::from_ns(works[stream.below(2) as usize]));
        arrived.insert(task, at);
    }
    load.run(at_ms(1_000_000));
    let total: f64 =
        load.done.iter().map(|(done, task)| done.since(arrived[task]).as_secs_f64()).sum();
    total / TASKS as f64 / (mean_work as f64 * 1e-9)
}

#[test]
fn equal_weights_share_a_core_as_processor_sharing_does() {
    for works in [[1_000_000, 1_000_000], [200_000, 1_800_000]] {
        let ratio = mean_response_over_work(70, works);
        let theory = 1.0 / (1.0 - 0.7);
        assert!(
            (ratio / theory - 1.0).abs() < 0.05,
            "{ratio:.3} times the work, and {theory:.3} by theory, with {works:?} ns"
        );
    }
}

#[test]
fn a_quota_is_a_share_of_time_and_the_rest_is_throttled() {
    let quota = Some((Span::from_ms(20), Span::from_ms(100)));
    let mut load = Load::new(ProcessorConfig {
        groups: vec![group(2, 0), GroupConfig { quota, ..group(2, 0) }],
        ..config(2)
    });
    load.task(1, 1, Time::ZERO, Span::from_secs(100));
    load.run(at_ms(10_000));
    assert_eq!(load.user_ms(1), 2_000, "20 ms of each 100");
    let counted = load.processor.throttling(1).expect("it has a quota");
    assert_eq!(
        (counted.throttled, counted.time),
        (100, Span::from_ms(80 * 100)),
        "parked after 20 ms of each period"
    );
    load.assert_all_time_is_accounted_for(at_ms(10_000));
}

#[test]
fn two_tasks_of_a_group_use_its_quota_twice_as_fast() {
    let quota = Some((Span::from_ms(20), Span::from_ms(100)));
    let mut load = Load::new(ProcessorConfig {
        groups: vec![group(2, 0), GroupConfig { quota, ..group(2, 0) }],
        ..config(2)
    });
    load.task(1, 1, Time::ZERO, Span::from_secs(100));
    load.task(2, 1, Time::ZERO, Span::from_secs(100));
    load.run(at_ms(10_000));
    assert_eq!(load.user_ms(1) + load.user_ms(2), 2_000);
    assert_eq!(load.user_ms(1), 1_000, "both are parked after 10 ms");
}

#[test]
fn a_task_whose_group_has_used_its_quota_takes_no_core_from_another() {
    let quota = Some((Span::from_ms(20), Span::from_ms(100)));
    let mut load = Load::new(ProcessorConfig {
        scheduler: SchedulerConfig { context_switch: MS, ..config(1).scheduler },
        groups: vec![group(1, 0), GroupConfig { quota, ..group(1, 0) }],
        ..config(1)
    });
    load.task(1, 0, Time::ZERO, Span::from_secs(100));
    load.task(2, 1, Time::ZERO, Span::from_secs(100));
    load.run(at_ms(60));
    let before = (load.processor.switches(), load.user_ms(1));
    assert_eq!(load.user_ms(2), 20, "its quota is used");
    load.task(2, 1, at_ms(70), MS);
    load.run(at_ms(90));
    assert_eq!(load.processor.switches(), before.0, "nothing was switched");
    assert_eq!(load.user_ms(1), before.1 + 30, "and no time taken for it");
}

#[test]
fn a_quota_of_more_than_one_core_lets_both_run() {
    let quota = Some((Span::from_ms(150), Span::from_ms(100)));
    let mut load = Load::new(ProcessorConfig {
        groups: vec![group(2, 0), GroupConfig { quota, ..group(2, 0) }],
        ..config(2)
    });
    load.task(1, 1, Time::ZERO, Span::from_secs(100));
    load.task(2, 1, Time::ZERO, Span::from_secs(100));
    load.run(at_ms(10_000));
    let used = load.user_ms(1) + load.user_ms(2);
    assert_eq!(used, 15_000);
}

#[test]
fn a_hypervisor_takes_its_share_of_every_core() {
    let steal = Some(Steal { slice: Span::from_ms(10), every: Span::from_ms(40) });
    let mut load = Load::new(ProcessorConfig { steal, ..config(2) });
    load.task(1, 0, Time::ZERO, Span::from_secs(100));
    load.run(at_ms(10_000));
    for core in 0..2 {
        assert_eq!(load.processor.busy(core).of(Kind::Steal), Span::from_ms(2_500));
    }
    assert_eq!(load.user_ms(1), 7_500);
    load.assert_all_time_is_accounted_for(at_ms(10_000));
}

#[test]
fn a_task_that_slept_is_owed_no_more_than_its_lag_and_takes_the_core_from_one_that_had_too_much() {
    let mut load = Load::new(config(1));
    let long = load.task(0, 0, Time::ZERO, Span::from_secs(1));
    let short = load.task(1, 0, at_ms(100), MS);
    load.run(at_ms(5_000));
    let done: BTreeMap<u32, Time> = load.done.iter().map(|&(at, task)| (task, at)).collect();
    // It comes with nothing owed, when the other begins to have had more than the average: the
    // slice of that ends first.
    assert!(done[&short] <= at_ms(100 + 3 + 1 + 1), "done at {:?}", done[&short]);
    assert_eq!(done[&long], at_ms(1_001));
}

/// Owed time is kept up to a tick, where that is longer than two slices (Linux
/// `update_entity_lag`): a task that has waited for more than two slices, and sleeps after a short
/// piece of work, comes before others that are owed less.
#[test]
fn what_a_task_is_owed_is_bounded_by_two_slices_or_a_tick() {
    let lag_ms = |tick: Span| {
        let scheduler = SchedulerConfig { slice: MS, tick, ..config(1).scheduler };
        let mut load = Load::new(ProcessorConfig { scheduler, ..config(1) });
        let task = load.processor.add_task(NewTask { owner: 0, group: 0 });
        load.processor.wake(task, Time::ZERO);
        assert_eq!(load.processor.poll(Time::ZERO), Some(Done::Task(task)));
        load.processor.tasks[task as usize].vruntime -= 100 * MS.ps() as i64;
        load.processor.cores[0].queue.push(super::run_queue::Entity {
            task: 99,
            weight: 1024,
            vruntime: 0,
            deadline: 0,
        });
        load.processor.sleep(task, Time::ZERO);
        load.processor.tasks[task as usize].lag / MS.ps() as i64
    };
    assert_eq!((lag_ms(Span::ZERO), lag_ms(Span::from_ms(4))), (2, 4));
}

#[test]
fn switches_are_work_and_are_counted_for_the_task_that_leaves() {
    let scheduler = SchedulerConfig { context_switch: Span::from_us(2), ..config(1).scheduler };
    let mut load = Load::new(ProcessorConfig { scheduler, ..config(1) });
    load.task(0, 0, Time::ZERO, Span::from_ms(30));
    load.task(1, 0, Time::ZERO, Span::from_ms(30));
    load.run(at_ms(100));
    let [first, second] = [0, 1].map(|owner| *load.processor.owner(owner));
    let switches = load.processor.switches();
    assert_eq!(switches.voluntary, 2);
    assert!((15..=22).contains(&switches.involuntary), "a slice is 3 ms of 60: {switches:?}");
    let switched = first.busy.of(Kind::System) + second.busy.of(Kind::System);
    assert_eq!(
        switched,
        Span::from_us(2).times(switches.involuntary + switches.voluntary),
        "one to begin with, one for each that left"
    );
    assert_eq!(first.switches.involuntary + second.switches.involuntary, switches.involuntary);
}

#[test]
fn the_end_of_a_slice_is_seen_at_a_tick() {
    let scheduler = SchedulerConfig { tick: Span::from_ms(4), ..config(1).scheduler };
    let mut load = Load::new(ProcessorConfig { scheduler, ..config(1) });
    load.task(0, 0, Time::ZERO, Span::from_ms(40));
    load.task(1, 0, Time::ZERO, Span::from_ms(40));
    load.run(at_ms(100));
    assert!(
        (17..=20).contains(&load.processor.switches().involuntary),
        "every 4 ms of 80: {:?}",
        load.processor.switches()
    );
}

#[test]
fn a_soft_interrupt_goes_before_the_task_and_does_not_count_as_its_time() {
    let mut load = Load::new(config(1));
    let task = load.task(0, 0, Time::ZERO, Span::from_ms(10));
    load.run(at_ms(4));
    load.processor.set_softirq(0, Some(Span::from_ms(5)), at_ms(4));
    assert_eq!((load.processor.poll(at_ms(4)), load.processor.poll_timeout()), (None, at_ms(9)));
    assert_eq!(load.processor.poll(at_ms(9)), Some(Done::Softirq(0)));
    load.processor.set_softirq(0, None, at_ms(9));
    load.run(at_ms(20));
    assert_eq!(load.done, [(at_ms(15), task)]);
    let busy = load.processor.busy(0);
    assert_eq!(
        [Kind::User, Kind::Softirq, Kind::Idle].map(|kind| busy.of(kind)),
        [10, 5, 5].map(Span::from_ms)
    );
}

#[test]
fn tasks_stay_on_the_cores_of_their_group() {
    let pinned = GroupConfig { cores: [1].into_iter().collect(), ..group(2, 0) };
    let mut load = Load::new(ProcessorConfig { groups: vec![group(2, 0), pinned], ..config(2) });
    for _ in 0..3 {
        load.task(1, 1, Time::ZERO, Span::from_ms(10));
    }
    load.run(at_ms(100));
    assert_eq!(load.processor.busy(0).of(Kind::Idle), Span::from_ms(100));
    assert_eq!(load.processor.busy(1).of(Kind::User), Span::from_ms(30));
}

#[test]
fn the_depth_of_the_queues_is_tasks_times_time() {
    let mut load =
        Load::new(ProcessorConfig { depth_bin: Span::from_ms(10), depth_bins: 4, ..config(1) });
    load.task(0, 0, Time::ZERO, Span::from_ms(10));
    load.task(0, 0, Time::ZERO, Span::from_ms(20));
    load.run(at_ms(40));
    let depth = load.processor.depth();
    // Two tasks for about 20 ms, then one to 30 ms.
    let bins: Vec<u64> = depth.bins().iter().map(|area| area / MS.ps()).collect();
    assert_eq!((bins[0], bins[3], depth.most()), (20, 0, 2));
    assert_eq!(depth.area_ps(), u128::from(depth.bins().iter().sum::<u64>()));
}

#[test]
fn what_is_left_of_a_quota_is_lost() {
    let quota = Some((Span::from_ms(20), Span::from_ms(100)));
    let mut load = Load::new(ProcessorConfig {
        groups: vec![group(1, 0), GroupConfig { quota, ..group(1, 0) }],
        ..config(1)
    });
    load.task(1, 1, Time::ZERO, Span::from_ms(5));
    load.task(1, 1, at_ms(300), Span::from_secs(1));
    load.run(at_ms(400));
    assert_eq!(load.user_ms(1), 5 + 20);
}

/// Random tasks on three cores with quotas and a switch that takes time, of which a log is kept
/// from 200 to 700 ms.
#[test]
fn the_log_of_cores_is_what_they_count() {
    let quota = Some((Span::from_ms(20), Span::from_ms(100)));
    let made = || {
        let mut load = Load::new(ProcessorConfig {
            scheduler: SchedulerConfig { context_switch: Span::from_us(50), ..config(3).scheduler },
            groups: vec![group(3, 0), GroupConfig { quota, ..group(3, 0) }],
            ..config(3)
        });
        let mut stream = RandomStream::new(5, "logged");
        for task in 0..200 {
            load.task(
                task % 3,
                task % 2,
                at_ms(stream.below(900)),
                Span::from_us(1 + stream.below(20_000)),
            );
        }
        load
    };
    let (mut logged, mut plain) = (made(), made());
    logged.processor.keep_log(vec![(at_ms(0), at_ms(2_000))]);
    [&mut logged, &mut plain].into_iter().for_each(|load| load.run(at_ms(2_000)));
    assert_eq!(logged.done, plain.done, "a log changes nothing");
    let log = logged.processor.log().expect("it is kept");
    for core in 0..3 {
        let busy = logged.processor.busy(core);
        let rows: Vec<&CoreRow> = log.rows().iter().filter(|row| row.core == core).collect();
        assert!(rows.windows(2).all(|next| next[0].to <= next[1].from), "they follow each other");
        let time = |is: fn(&Doing) -> bool| {
            rows.iter()
                .filter(|row| is(&row.doing))
                .map(|row| row.to.since(row.from).ps())
                .sum::<u64>()
        };
        assert_eq!(
            time(|doing| matches!(doing, Doing::Work { kind: Kind::User, .. })),
            busy.of(Kind::User).ps()
        );
        assert_eq!(
            time(|doing| matches!(doing, Doing::Switch { .. })),
            busy.of(Kind::System).ps(),
            "switches are the kernel's"
        );
    }
}
