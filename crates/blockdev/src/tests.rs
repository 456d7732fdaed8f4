//! The device against theory: servers, bandwidth, queues, splitting, cache, flush and head.

use crate::{
    CacheConfig, Completion, Device, DeviceConfig, HeadConfig, Limits, LinkConfig, Op, Request,
};
use proptest::prelude::*;
use tailrace_units::{BitRate, Distribution, RandomStream, Span, Time};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn config(servers: u32, latency_us: u64) -> DeviceConfig {
    let latency = Distribution::Constant(Span::from_us(latency_us).ps());
    let unlimited = BitRate::from_gbps(100_000);
    DeviceConfig {
        servers,
        read_latency: latency.clone(),
        write_latency: latency,
        link: LinkConfig { read: unlimited, write: unlimited, is_duplex: true },
        queue_depth: u32::MAX,
        limits: Limits::NONE,
        cache: None,
        head: None,
    }
}

fn device(config: DeviceConfig) -> Device {
    Device::new(config, RandomStream::new(1, "device"))
}

fn request(op: Op, offset: u64, bytes: u64, tag: u64) -> Request {
    Request { op, offset, bytes, tag }
}

/// Keeps `depth` requests under way for `count` completions.
fn closed_loop(
    device: &mut Device,
    depth: u64,
    count: usize,
    mut next: impl FnMut(u64) -> Request,
) -> Vec<Completion> {
    let mut sent = 0;
    let mut done = Vec::new();
    let mut now = Time::ZERO;
    let mut free = depth;
    loop {
        while free > 0 {
            device.submit(now, next(sent));
            (sent, free) = (sent + 1, free - 1);
        }
        while let Some(completion) = device.poll_completion() {
            assert_eq!(
                completion.at.since(completion.submitted),
                completion.queue + completion.device,
                "the parts are the whole"
            );
            done.push(completion);
            free += 1;
        }
        if done.len() >= count {
            return done;
        }
        if free == 0 {
            now = device.poll_timeout();
            assert!(!now.is_never(), "what is under way completes");
            device.handle_timeout(now);
        }
    }
}

fn per_second(done: &[Completion]) -> f64 {
    done.len() as f64 / done[done.len() - 1].at.as_secs_f64()
}

#[test]
fn so_many_requests_at_a_time_are_served_as_there_are_servers() {
    // D/D/c: X(q) = min(q, c) / latency.
    for depth in [1, 3, 8, 32] {
        let mut device = device(config(8, 80));
        let done = closed_loop(&mut device, depth, 8_000, |tag| request(Op::Read, 0, 4 * KIB, tag));
        let expected = depth.min(8) as f64 / 80e-6;
        assert!(
            (per_second(&done) / expected - 1.0).abs() < 0.005,
            "{depth}: {} for {expected}",
            per_second(&done)
        );
    }
}

#[test]
fn requests_that_arrive_by_themselves_wait_as_erlang_says() {
    // M/M/4 at 80 % load: the mean wait is C(4, 3.2) / (c mu - lambda) with Erlang's C = 0.5964.
    let (servers, service, load) = (4_u32, 100e-6, 0.8);
    let mut config = config(servers, 0);
    config.read_latency = Distribution::Exponential { mean: (service * 1e12) as u64 };
    let mut device = device(config);
    let mut random = RandomStream::new(5, "arrivals");
    let gap =
        Distribution::Exponential { mean: (service / load / f64::from(servers) * 1e12) as u64 };
    let (mut now, mut waits, mut count) = (Time::ZERO, 0.0, 0_u32);
    for tag in 0..400_000 {
        now += Span::from_ps(gap.draw(&mut random));
        device.submit(now, request(Op::Read, 0, 4 * KIB, tag));
        while let Some(done) = device.poll_completion() {
            (waits, count) = (waits + done.queue.as_secs_f64(), count + 1);
        }
    }
    let a = load * f64::from(servers);
    let terms: f64 =
        (0..servers).map(|k| a.powi(k as i32) / (1..=k).map(f64::from).product::<f64>()).sum();
    let last = a.powi(4) / 24.0 / (1.0 - load);
    let expected = last / (terms + last) * service / f64::from(servers) / (1.0 - load);
    let mean = waits / f64::from(count);
    assert!((mean / expected - 1.0).abs() < 0.04, "{mean} for {expected}");
}

#[test]
fn data_crosses_the_link_at_its_rate_and_no_faster() {
    for (is_duplex, expected) in [(false, 2.0 / (1.0 / 540e6 + 1.0 / 520e6)), (true, 2.0 * 520e6)] {
        let mut config = config(32, 20);
        let rate = |bytes: u64| BitRate::from_bps(bytes * 8).expect("above zero");
        config.link = LinkConfig { read: rate(540_000_000), write: rate(520_000_000), is_duplex };
        let mut device = device(config);
        let op = |tag| if tag % 2 == 0 { Op::Read } else { Op::Write };
        let done = closed_loop(&mut device, 64, 4_000, |tag| request(op(tag), 0, 512 * KIB, tag));
        let rate = per_second(&done) * (512 * KIB) as f64;
        assert!((rate / expected - 1.0).abs() < 0.03, "{rate} for {expected}");
    }
}

/// 100 us to read and 30 us to write; 4 KiB cross the link in 10 us to the host and in 20 us to the
/// device.
#[test]
fn a_request_alone_waits_for_nothing_and_takes_what_its_operation_takes() {
    let alone = |op: Op, cache: Option<CacheConfig>| {
        let rate = |bytes: u64| BitRate::from_bps(bytes * 8).expect("above zero");
        let mut config = config(1, 100);
        config.write_latency = Distribution::Constant(Span::from_us(30).ps());
        config.link =
            LinkConfig { read: rate(409_600_000), write: rate(204_800_000), is_duplex: true };
        config.cache = cache;
        let mut device = device(config);
        device.submit(Time::ZERO, request(op, 0, 4 * KIB, 0));
        device.handle_timeout(Time::NEVER);
        device.poll_completion().map(|done| (done.queue, done.device))
    };
    let expected = |us: u64| Some((Span::ZERO, Span::from_us(us)));
    assert_eq!(alone(Op::Read, None), expected(110));
    assert_eq!(alone(Op::Write, None), expected(50));
    assert_eq!(
        alone(Op::Write, Some(CacheConfig { bytes: MIB, latency: Span::from_us(5) })),
        expected(25)
    );
}

#[test]
fn a_request_above_the_limits_is_split_and_what_the_device_does_not_take_waits() {
    let limits = Limits {
        max_sectors_bytes: 1280 * KIB,
        max_segments: 128,
        segment_bytes: 4 * KIB,
        transfer_bytes: None,
    };
    assert_eq!(limits.piece_bytes(), 512 * KIB, "128 pages of 4 KiB");
    assert_eq!(Limits { transfer_bytes: Some(128 * KIB), ..limits }.piece_bytes(), 128 * KIB);
    assert_eq!(Limits { max_sectors_bytes: 256 * KIB, ..limits }.piece_bytes(), 256 * KIB);
    let mut config = config(8, 100);
    (config.limits, config.queue_depth) = (limits, 2);
    let mut device = device(config);
    device.submit(Time::ZERO, request(Op::Read, 0, 2 * MIB + 1, 7));
    device.handle_timeout(Time::NEVER);
    let done = device.poll_completion().expect("it is served");
    assert_eq!((done.tag, done.pieces), (7, 5));
    // Two at a time: three rounds of 100 us, and the sum over pieces is 2 x 100 + 2 x 200 + 300 us.
    assert_eq!(done.at.since(Time::ZERO).ps() / 1_000_000, 300);
    assert_eq!(done.pieces_wait.ps() / 1_000_000, 900);
    assert_eq!(done.queue.ps() / 1_000_000, 200, "the last piece waited for two others");
}

#[test]
fn a_flush_is_complete_when_everything_written_before_is_on_the_medium() {
    let mut config = config(1, 1_000);
    config.cache = Some(CacheConfig { bytes: MIB, latency: Span::from_us(10) });
    let mut device = device(config);
    (0..4).for_each(|tag| device.submit(Time::ZERO, request(Op::Write, 0, 4 * KIB, tag)));
    device.submit(Time::ZERO + Span::from_us(20), request(Op::Flush, 0, 0, 9));
    device.submit(Time::ZERO + Span::from_us(20), request(Op::Write, 0, 4 * KIB, 4));
    device.handle_timeout(Time::NEVER);
    let done: Vec<(u64, u64)> = std::iter::from_fn(|| device.poll_completion())
        .map(|c| (c.tag, c.at.ns() / 1_000))
        .collect();
    assert_eq!(done[..5], [(0, 10), (1, 10), (2, 10), (3, 10), (4, 30)], "writes end in the cache");
    assert_eq!(done[5], (9, 4_000), "four writes of 1 ms, not the fifth");
    device.submit(Time::ZERO + Span::from_ms(9), request(Op::Flush, 0, 0, 10));
    assert_eq!(
        device.poll_completion().map(|c| (c.tag, c.at.ns())),
        Some((10, 9_000_000)),
        "nothing is left to write"
    );
}

#[test]
fn a_full_cache_takes_writes_as_fast_as_the_medium_does() {
    let mut config = config(2, 1_000);
    config.cache = Some(CacheConfig { bytes: 400 * KIB, latency: Span::from_us(10) });
    let mut device = device(config);
    let done = closed_loop(&mut device, 8, 1_100, |tag| request(Op::Write, 0, 4 * KIB, tag));
    assert!(done[99].at < Time::ZERO + Span::from_us(200), "a hundred fit");
    let later = 1_000.0 / done[1_099].at.since(done[99].at).as_secs_f64();
    assert!((later / 2_000.0 - 1.0).abs() < 0.02, "{later} each second");
}

#[test]
fn reads_go_before_the_cache_until_that_is_full_and_then_in_turn() {
    let mut config = config(1, 100);
    config.cache = Some(CacheConfig { bytes: 8 * KIB, latency: Span::ZERO });
    let mut device = device(config);
    (0..4).for_each(|tag| device.submit(Time::ZERO, request(Op::Read, 0, 4 * KIB, tag)));
    (4..7).for_each(|tag| device.submit(Time::ZERO, request(Op::Write, 0, 4 * KIB, tag)));
    device.handle_timeout(Time::NEVER);
    let at = |tag: u64, done: &[Completion]| {
        done.iter().find(|c| c.tag == tag).map(|c| c.at.ns() / 1_000)
    };
    let done: Vec<Completion> = std::iter::from_fn(|| device.poll_completion()).collect();
    assert_eq!((at(4, &done), at(5, &done)), (Some(0), Some(0)), "two writes have room");
    assert_eq!(
        at(6, &done),
        Some(200),
        "the third when the cache had its turn after the read that was served"
    );
    assert_eq!((at(1, &done), at(2, &done), at(3, &done)), (Some(300), Some(400), Some(500)));
}

#[test]
fn a_disk_seeks_and_turns_for_random_data_and_does_neither_for_data_in_order() {
    let capacity = 1_000_000_000_000;
    let turn = Span::from_us(8_333);
    let mut config = config(1, 0);
    let rate = BitRate::from_bps(8 * 150_000_000).expect("above zero");
    config.link = LinkConfig { read: rate, write: rate, is_duplex: false };
    let (seek_track, seek_full) = (Span::from_ms(1), Span::from_ms(15));
    config.head = Some(HeadConfig { turn, seek_track, seek_full, capacity });
    let mut ordered = device(config.clone());
    let done = closed_loop(&mut ordered, 1, 1_000, |tag| request(Op::Read, tag * MIB, MIB, tag));
    assert!((per_second(&done) * MIB as f64 / 150e6 - 1.0).abs() < 0.01);
    let mut random = RandomStream::new(3, "offsets");
    let mut anywhere = device(config);
    let done = closed_loop(&mut anywhere, 1, 20_000, |tag| {
        request(Op::Read, random.below(capacity / (4 * KIB)) * 4 * KIB, 4 * KIB, tag)
    });
    // The mean of the root of the distance of two random positions is 8/15; half a turn; 4 KiB at 150
    // MB/s.
    let expected = 1e-3 + 14e-3 * 8.0 / 15.0 + 8.333e-3 / 2.0 + 4096.0 / 150e6;
    assert!(
        (1.0 / per_second(&done) / expected - 1.0).abs() < 0.01,
        "{} for {expected}",
        1.0 / per_second(&done)
    );
}

#[test]
fn a_flush_takes_turns_with_reads_that_came_before() {
    let mut config = config(1, 100);
    config.cache = Some(CacheConfig { bytes: MIB, latency: Span::ZERO });
    let mut device = device(config);
    (0..4).for_each(|tag| device.submit(Time::ZERO, request(Op::Read, 0, 4 * KIB, tag)));
    device.submit(Time::ZERO, request(Op::Write, 0, 4 * KIB, 4));
    device.submit(Time::ZERO + Span::from_us(50), request(Op::Flush, 0, 0, 5));
    device.handle_timeout(Time::NEVER);
    let done: Vec<(u64, u64)> = std::iter::from_fn(|| device.poll_completion())
        .map(|c| (c.tag, c.at.ns() / 1_000))
        .collect();
    assert_eq!(
        done,
        [(4, 0), (0, 100), (5, 200), (1, 300), (2, 400), (3, 500)],
        "behind the read that is served"
    );
}

/// A disk of 100 MB/s whose shortest seek takes 2 ms.
fn disk() -> DeviceConfig {
    let mut config = config(1, 0);
    let rate = BitRate::from_bps(8 * 100_000_000).expect("above zero");
    config.link = LinkConfig { read: rate, write: rate, is_duplex: false };
    let (seek_track, seek_full) = (Span::from_ms(2), Span::from_ms(15));
    config.head =
        Some(HeadConfig { turn: Span::ZERO, seek_track, seek_full, capacity: 1_000_000_000_000 });
    config
}

#[test]
fn the_pieces_of_a_request_follow_each_other_on_the_disk() {
    let limits = Limits { max_sectors_bytes: 250_000, ..Limits::NONE };
    let mut device = device(DeviceConfig { limits, ..disk() });
    device.submit(Time::ZERO, request(Op::Read, 0, 1_000_000, 0));
    device.handle_timeout(Time::NEVER);
    let done = device.poll_completion().expect("it is served");
    assert_eq!(
        (done.pieces, done.at),
        (4, Time::ZERO + Span::from_ms(10)),
        "four pieces without a seek"
    );
}

#[test]
fn a_head_writes_at_the_rate_of_the_disk_and_a_cache_takes_the_data_before_it_seeks() {
    let cache = CacheConfig { bytes: 4 * MIB, latency: Span::from_us(5) };
    for (cache, write_us, flush_us) in [(None, 12_000, 12_000), (Some(cache), 10_005, 22_000)] {
        let mut device = device(DeviceConfig { cache, ..disk() });
        // One byte from where the head stands: the shortest seek, and less than a microsecond for
        // the distance.
        device.submit(Time::ZERO, request(Op::Write, 1, 1_000_000, 0));
        device.submit(Time::ZERO, request(Op::Flush, 0, 0, 1));
        device.handle_timeout(Time::NEVER);
        let mut done: Vec<(u64, u64)> = std::iter::from_fn(|| device.poll_completion())
            .map(|c| (c.tag, c.at.ns() / 1_000))
            .collect();
        done.sort_unstable();
        assert_eq!(done, [(0, write_us), (1, flush_us)]);
    }
}

#[test]
fn busy_time_is_reported_once_and_idle_time_never() {
    let mut device = device(config(1, 100));
    let mut busy = Span::ZERO;
    for tag in 0..10 {
        device.submit(Time::ZERO + Span::from_us(tag * 250), request(Op::Read, 0, 512, tag));
        device.submit(Time::ZERO + Span::from_us(tag * 250), request(Op::Read, 0, 512, tag));
    }
    device.handle_timeout(Time::NEVER);
    while let Some(done) = device.poll_completion() {
        busy += done.busy;
    }
    assert_eq!(busy.ps() / 1_000_000, 2_000, "ten times two of 100 us");
}

proptest! {
    /// Whatever is submitted: everything completes once, Little's law holds over the whole run, and
    /// no server is idle while a piece waits for one (all requests of a batch on c servers end by
    /// the time that the work needs).
    #[test]
    fn everything_completes_once_and_the_number_under_way_is_the_rate_times_the_wait(
        servers in 1_u32..6,
        depth in 1_u32..12,
        cache in prop::option::of(1_u64..64),
        seed in 0_u64..1_000,
        sent in prop::collection::vec((0_u64..300, 0_u8..3, 1_u64..20), 1..60),
    ) {
        let mut config = config(servers, 0);
        config.read_latency = Distribution::Exponential { mean: Span::from_us(90).ps() };
        config.write_latency = Distribution::Uniform { low: 0, high: Span::from_us(300).ps() };
        config.link.read = BitRate::from_gbps(4);
        config.link.is_duplex = seed % 2 == 0;
        config.queue_depth = depth;
        config.limits = Limits { max_sectors_bytes: 16 * KIB, ..Limits::NONE };
        config.cache =
            cache.map(|pages| CacheConfig { bytes: pages * 4 * KIB, latency: Span::from_us(3) });
        let mut device = Device::new(config, RandomStream::new(seed, "device"));
        let (mut now, mut tag) = (Time::ZERO, 0);
        let mut submitted = Vec::new();
        for (gap_us, kind, pages) in sent {
            now += Span::from_us(gap_us);
            let op = [Op::Read, Op::Write, Op::Flush][usize::from(kind)];
            let bytes = if op == Op::Flush { 0 } else { pages * 4 * KIB };
            device.submit(now, request(op, 0, bytes, tag));
            submitted.push(now);
            tag += 1;
        }
        device.handle_timeout(Time::NEVER);
        prop_assert!(device.poll_timeout().is_never());
        let mut done: Vec<Completion> = std::iter::from_fn(|| device.poll_completion()).collect();
        prop_assert!(done.is_sorted_by_key(|c| c.at));
        // The integral of the number under way, by its steps, against the sum of the waits.
        let mut steps: Vec<(Time, i64)> =
            submitted.iter().map(|&at| (at, 1)).chain(done.iter().map(|c| (c.at, -1))).collect();
        steps.sort_unstable();
        let area: i128 = steps
            .windows(2)
            .scan(0_i128, |under_way, pair| {
                *under_way += i128::from(pair[0].1);
                Some(*under_way * i128::from(pair[1].0.since(pair[0].0).ps()))
            })
            .sum();
        let waits: i128 = done.iter().map(|c| i128::from(c.at.since(c.submitted).ps())).sum();
        prop_assert_eq!(area, waits);
        done.sort_unstable_by_key(|c| c.tag);
        prop_assert!(done.iter().map(|c| c.tag).eq(0..tag));
        for completion in &done {
            prop_assert_eq!(completion.submitted, submitted[completion.tag as usize]);
            prop_assert_eq!(
                completion.queue + completion.device,
                completion.at.since(completion.submitted)
            );
            prop_assert!(
                completion.pieces_wait.ps()
                    <= u64::from(completion.pieces)
                        * completion.at.since(completion.submitted).ps()
            );
        }
    }

    /// A batch on c servers of constant service is done after as many rounds as it needs: none of
    /// them idles while a piece waits.
    #[test]
    fn a_batch_takes_as_many_rounds_as_its_servers_need(servers in 1_u32..9, batch in 1_u64..200) {
        let mut device = device(config(servers, 50));
        (0..batch).for_each(|tag| device.submit(Time::ZERO, request(Op::Write, 0, 512, tag)));
        device.handle_timeout(Time::NEVER);
        let last = std::iter::from_fn(|| device.poll_completion())
            .map(|c| c.at)
            .max()
            .expect("all complete");
        prop_assert_eq!(last.ns() / 50_000, batch.div_ceil(u64::from(servers)));
    }
}
