//! Senders that obey, a switch that pauses them, and the cables between: nothing is lost when the
//! headroom is computed.

mod common;
use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tailrace_dataplane::*;
use tailrace_units::{BitRate, Span, Time};
use tailrace_wire::PauseState;

/// The largest frame, without its overhead.
const PORT_MTU: u32 = 9_000;
const GBPS_10: u64 = 10_000_000_000;
/// 802.3 annex 31B.3.7 at 10 Gbit/s.
const RESPONSE_QUANTA: u64 = 67;
/// The speed of light in a cable, metres per microsecond.
const METRES_PER_US: u64 = 198;

/// Senders (one switch each, with memory without end) whose port 0 leads to a port of the switch in
/// the middle; that switch's last port is slow and leads out.
struct Net {
    senders: Vec<Switch<TestFrame>>,
    middle: Switch<TestFrame>,
    cable: Span,
    /// Arrivals by time and number: to the middle (from a sender) or to a sender.
    on_the_way: BTreeMap<(Time, u64), (Hop, TestFrame)>,
    number: u64,
    left: u64,
    lost: Vec<DropCause>,
}

#[derive(Clone, Copy)]
enum Hop {
    Middle(usize),
    Sender(usize),
}

/// Transmissions of one call.
#[derive(Default)]
struct Calls(Vec<(PortNo, TestFrame, Time)>, Vec<DropCause>);

impl Outputs<TestFrame> for Calls {
    fn transmit(&mut self, port: PortNo, frame: &TestFrame, _start: Time, end: Time) {
        self.0.push((port, *frame, end));
    }
    fn dropped(
        &mut self,
        _at: Time,
        _port: PortNo,
        _queue: QueueNo,
        _frame: &TestFrame,
        cause: DropCause,
    ) {
        self.1.push(cause);
    }
    fn marked(&mut self, _at: Time, _port: PortNo, _queue: QueueNo, _frame: &TestFrame) {}
    fn notify(
        &mut self,
        _at: Time,
        _port: PortNo,
        _queue: QueueNo,
        _frame: &TestFrame,
        _notification: Notification,
    ) {
    }
    fn depth(&mut self, _at: Time, _port: PortNo, _bytes: u64) {}
}

struct Setup {
    senders: usize,
    metres: u64,
    headroom_bytes: u64,
    xoff_bytes: u64,
    obeys: u8,
}

impl Net {
    fn new(setup: &Setup) -> Net {
        let response = BitRate::from_gbps(10).pace(0).time_to_send(RESPONSE_QUANTA * 64);
        let obedient = || PortPolicy {
            pause: Some(PauseState::new(setup.obeys, true, response)),
            ..fifo(Limit::Bytes(1 << 40))
        };
        let sender = |_| {
            let mut forwarding = Forwarding::new(1);
            forwarding.push_destination(&[0]);
            let mut switch = Switch::new(forwarding, 1 << 40);
            switch.add_port(BitRate::from_gbps(10).pace(0), 24, obedient(), false);
            switch
        };
        let mut forwarding = Forwarding::new(2);
        (0..=setup.senders).for_each(|port| forwarding.push_destination(&[setup.senders - port]));
        let mut middle = Switch::new(forwarding, 1 << 30);
        let slow = BitRate::from_gbps(1).pace(0);
        for port in 0..=setup.senders {
            let pace = if port == setup.senders { slow } else { BitRate::from_gbps(10).pace(0) };
            middle.add_port(pace, 24, fifo(Limit::Bytes(1 << 30)), true);
        }
        let lossless = Some(Lossless {
            xon_offset_bytes: 2 * u64::from(PORT_MTU),
            headroom_bytes: setup.headroom_bytes,
        });
        let limit = Limit::Bytes(setup.xoff_bytes);
        let groups = vec![
            GroupPolicy { priorities: 0b1000, reserved_bytes: 0, limit, lossless },
            GroupPolicy {
                priorities: 0b1111_0111,
                reserved_bytes: 0,
                limit: Limit::Bytes(1 << 30),
                lossless: None,
            },
        ];
        middle.account_ingress(vec![(groups, PausePolicy::default()); setup.senders + 1]);
        Net {
            senders: (0..setup.senders).map(sender).collect(),
            middle,
            cable: Span::from_ns(setup.metres * 1_000 / METRES_PER_US),
            on_the_way: BTreeMap::new(),
            number: 0,
            left: 0,
            lost: Vec::new(),
        }
    }

    fn arrive(&mut self, at: Time, hop: Hop, frame: TestFrame) {
        self.number += 1;
        self.on_the_way.insert((at, self.number), (hop, frame));
    }

    /// A sender's program hands down a frame for the slow port.
    fn send(&mut self, now: Time, sender: usize, mut frame: TestFrame) {
        let mut calls = Calls::default();
        self.senders[sender].handle_frame(now, 0, &mut frame, &mut calls);
        self.carry(Hop::Sender(sender), calls);
    }

    /// The middle switch has a frame for a sender: pauses wait while it is sent.
    fn answer(&mut self, now: Time, sender: usize, frame: TestFrame) {
        let mut calls = Calls::default();
        let destination = (self.senders.len() - sender) as u32;
        self.middle.handle_frame(
            now,
            self.senders.len(),
            &mut TestFrame { destination, ..frame },
            &mut calls,
        );
        self.carry(Hop::Middle(0), calls);
    }

    fn carry(&mut self, from: Hop, Calls(sent, lost): Calls) {
        for (port, frame, end) in sent {
            match from {
                Hop::Sender(sender) => self.arrive(end + self.cable, Hop::Middle(sender), frame),
                Hop::Middle(_) if port == self.senders.len() => self.left += 1,
                Hop::Middle(_) => self.arrive(end + self.cable, Hop::Sender(port), frame),
            }
        }
        self.lost.extend(lost);
    }

    /// Carries out the actions of any switch and the arrivals that are due, up to `until`.
    fn run(&mut self, until: Time) {
        loop {
            let arrival = self.on_the_way.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
            let sender = (0..self.senders.len())
                .min_by_key(|&sender| self.senders[sender].poll_timeout())
                .expect("senders");
            let (first, second) = (self.senders[sender].poll_timeout(), self.middle.poll_timeout());
            let now = arrival.min(first).min(second);
            if now > until {
                return;
            }
            let mut calls = Calls::default();
            let from = if second == now {
                self.middle.handle_timeout(now, &mut calls);
                Hop::Middle(0)
            } else if first == now {
                self.senders[sender].handle_timeout(now, &mut calls);
                Hop::Sender(sender)
            } else {
                let (_, (hop, mut frame)) = self.on_the_way.pop_first().expect("something arrives");
                match hop {
                    Hop::Middle(port) => {
                        self.middle.handle_frame(now, port, &mut frame, &mut calls)
                    }
                    Hop::Sender(at) if frame.pause.is_some() => {
                        self.senders[at].handle_frame(now, 0, &mut frame, &mut calls)
                    }
                    Hop::Sender(_) => {}
                }
                hop
            };
            self.carry(from, calls);
        }
    }
}

/// Senders hand down these frames (microseconds apart, bytes) as fast as they come, answers cross
/// them. Returns the net when everything is over, and how many frames were handed down.
fn incast(setup: &Setup, frames: &[(u64, u32)], answers: bool) -> (Net, u64) {
    let mut net = Net::new(setup);
    let mut now = Time::ZERO;
    for (id, &(gap_us, bytes)) in frames.iter().enumerate() {
        now += Span::from_us(gap_us);
        net.run(now);
        for sender in 0..setup.senders {
            let flow = frame(id as u64, bytes, sender as u32);
            net.send(now, sender, TestFrame { priority: 3, ..flow });
            if answers {
                net.answer(now, sender, frame(id as u64, PORT_MTU, 77));
            }
        }
    }
    net.run(now + Span::from_secs(2));
    (net, (frames.len() * setup.senders) as u64)
}

fn computed_headroom(metres: u64) -> u64 {
    headroom_bytes(GBPS_10, metres, u64::from(PORT_MTU), u64::from(PORT_MTU), RESPONSE_QUANTA)
}

fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    proptest::collection::vec(
        (prop_oneof![3 => Just(0_u64), 1 => 0_u64..80], 64..PORT_MTU),
        10..150,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_with_computed_headroom(
        frames in traffic(),
        (senders, metres, xoff_bytes, answers) in (1_usize..5, 0_u64..600, 0_u64..60_000, any::<bool>()),
    ) {
        let setup = Setup {
            senders,
            metres,
            headroom_bytes: computed_headroom(metres),
            xoff_bytes,
            obeys: 0b1000,
        };
        let (net, sent) = incast(&setup, &frames, answers);
        prop_assert_eq!(net.lost, []);
        prop_assert_eq!(net.left, sent, "everything arrives in the end");
    }
}

#[test]
fn without_headroom_what_follows_the_pause_is_lost_and_counted_as_that() {
    let setup =
        Setup { senders: 3, metres: 100, headroom_bytes: 0, xoff_bytes: 30_000, obeys: 0b1000 };
    let (net, sent) = incast(&setup, &[(0, 1_500); 100], false);
    assert!(!net.lost.is_empty());
    assert!(net.lost.iter().all(|&cause| cause == DropCause::HeadroomFull));
    assert_eq!(net.left + net.lost.len() as u64, sent);
}

#[test]
fn senders_that_do_not_obey_overrun_any_headroom() {
    let headroom_bytes = computed_headroom(100);
    let setup = Setup { senders: 3, metres: 100, headroom_bytes, xoff_bytes: 30_000, obeys: 0 };
    let (net, _) = incast(&setup, &[(0, 1_500); 100], false);
    assert!(net.lost.contains(&DropCause::HeadroomFull));
}

/// The headroom is not generous either: traffic exists that needs more than half of it.
#[test]
fn the_headroom_is_needed() {
    let headroom_bytes = computed_headroom(300);
    let setup = Setup { senders: 4, metres: 300, headroom_bytes, xoff_bytes: 0, obeys: 0b1000 };
    let (net, _) = incast(&setup, &[(0, PORT_MTU); 60], true);
    let most = (0..4)
        .map(|port| net.middle.groups(port)[0].1.headroom_max_bytes)
        .max()
        .expect("four ports");
    assert!(2 * most > headroom_bytes && most <= headroom_bytes, "{most} of {headroom_bytes}");
}
