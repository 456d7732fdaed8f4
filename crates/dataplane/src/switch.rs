//! The switch as a whole: classifying, forwarding, the ports and the memory they share.

mod counting;
mod entrance;
mod fast_path;
mod waiting;

use crate::admit::SharedPool;
use crate::ingress::{Account, IngressPort, PauseOrder};
use crate::line::Lines;
use crate::mtu::Mtus;
use crate::port::{Port, Releases, Verdict};
use crate::progress::Progress;
use crate::{
    Classifier, DropCause, Forwarding, Frame, GroupPolicy, Limit, Outputs, PausePolicy, Policer,
    PortNo, PortPolicy, QueueCounters, QueueNo, SharedBuffer, Vlans,
};
use tailrace_units::{Pace, Time, prefetch};
use tailrace_wire::FlowKey;

/// A switch.
#[derive(Debug)]
pub struct Switch<F> {
    classifier: Classifier,
    /// By ingress port.
    policers: Vec<Option<Policer>>,
    forwarding: Forwarding,
    vlans: Option<Vlans>,
    mtus: Option<Box<Mtus>>,
    lines: Option<Box<Lines>>,
    ports: Vec<Port<F>>,
    /// By port: when it has something to do. Side by side, so that all ports are asked in a cache
    /// line or two.
    dues: Vec<Time>,
    buffer: SharedBuffer,
    ingress: Option<Ingress>,
    /// Whether a limit is a share of the free memory, so that every admission must know what waits
    /// everywhere.
    has_dynamic_limits: bool,
    /// Whether there are rules, VLANs, policers, MTUs, lossy lines or accounts at the entrance.
    has_entrance: bool,
    /// Whether frames can take the fast path: there is no entrance, and no port chooses.
    is_plain: bool,
    /// Whether every choice is a wakeup.
    reports_every_departure: bool,
    /// Frames that were dropped before they came to a queue.
    early: QueueCounters,
    releases: Releases,
}

/// The ingress side: what each port holds, and the pauses that follow from it.
#[derive(Debug)]
struct Ingress {
    ports: Vec<IngressPort>,
    pool: SharedPool,
}

impl<F: Frame> Switch<F> {
    /// A switch with no ports yet. The buffer holds `buffer_bytes` for all ports together.
    pub fn new(forwarding: Forwarding, buffer_bytes: u64) -> Switch<F> {
        Switch {
            classifier: Classifier::default(),
            policers: Vec::new(),
            forwarding,
            vlans: None,
            mtus: None,
            lines: None,
            ports: Vec::new(),
            dues: Vec::new(),
            buffer: SharedBuffer::new(buffer_bytes),
            ingress: None,
            has_dynamic_limits: false,
            has_entrance: false,
            is_plain: true,
            reports_every_departure: false,
            early: QueueCounters::default(),
            releases: Vec::new(),
        }
    }

    /// Adds the next port. `overhead_bytes` is charged to every frame on the wire. `must_choose`
    /// makes the port decide every departure when it is due and not before.
    pub fn add_port(
        &mut self,
        pace: Pace,
        overhead_bytes: u32,
        policy: PortPolicy,
        must_choose: bool,
    ) -> PortNo {
        let number = self.ports.len();
        let has_alpha =
            policy.queues.iter().any(|queue| matches!(queue.room.limit, Limit::Alpha(_)));
        self.has_dynamic_limits |= has_alpha;
        policy.queues.iter().for_each(|queue| self.buffer.reserve(queue.room.reserved_bytes));
        let port = Port::new(number, pace, overhead_bytes, policy, must_choose);
        self.is_plain &= !port.chooses_late();
        self.ports.push(port);
        self.dues.push(Time::NEVER);
        self.policers.push(None);
        number
    }

    /// Accounts what each ingress port holds, in groups that cover all priorities, and pauses
    /// senders of lossless groups. For every port, in order; all ports must have been added with
    /// `must_choose`.
    pub fn account_ingress(&mut self, policies: Vec<(Vec<GroupPolicy>, PausePolicy)>) {
        assert_eq!(policies.len(), self.ports.len(), "one policy for each port");
        assert!(
            self.ports.iter().all(Port::chooses_late),
            "a port that may have to pause others chooses late"
        );
        let mut pool = SharedPool::new(self.buffer.size_bytes());
        for group in policies.iter().flat_map(|(groups, _)| groups) {
            pool.reserve(
                group.reserved_bytes + group.lossless.map_or(0, |lossless| lossless.headroom_bytes),
            );
        }
        let paces = self.ports.iter().map(Port::pace);
        let ports = policies
            .into_iter()
            .zip(paces)
            .map(|((groups, pausing), pace)| IngressPort::new(groups, pausing, pace));
        self.ingress = Some(Ingress { ports: ports.collect(), pool });
        self.open_entrance();
    }

    /// Reports every change of depth at `port` to [`Outputs::depth`].
    pub fn observe(&mut self, port: PortNo) {
        self.ports[port].observe();
    }

    /// Makes every choice a wake-up, for an engine that must see each departure when it happens: an
    /// interface acts on a congestion notification on arrival, when no other event is due on the
    /// wire.
    pub fn report_every_departure(&mut self) {
        self.reports_every_departure = true;
    }

    /// The forwarding table, to add routes and pins.
    pub fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    /// Whether rules match on flows: each must then be announced with [`Switch::learn_flow`].
    pub fn learns_flows(&self) -> bool {
        self.classifier.needs_keys()
    }

    /// Announces the key of a flow whose frames carry only its hash. Needed when rules match on
    /// flows.
    pub fn learn_flow(&mut self, key: FlowKey) {
        if self.classifier.needs_keys() {
            self.classifier.learn(key);
        }
    }

    /// What tells the port of a frame for a destination is wanted soon.
    #[inline(always)]
    pub fn prefetch_route(&self, destination: usize, flow_hash: u32) {
        self.forwarding.prefetch(destination, flow_hash);
    }

    /// The port of a frame for a destination is wanted soon. Returns which it is.
    #[inline(always)]
    pub fn prefetch_port(&self, destination: usize, flow_hash: u32) -> Option<PortNo> {
        let port = self.forwarding.port_to(destination, flow_hash)?;
        if let Some(port) = self.ports.get(port) {
            port.prefetch();
        }
        prefetch(&self.dues, port);
        Some(port)
    }

    /// A frame has arrived by `in_port` (its tail, or for cut-through its header) and is handled
    /// now. The only way into a switch. In order:
    ///
    /// 1. A pause frame holds back the port that it came by, and ends here.
    /// 2. The entrance, where there is one, decides at which port and why the frame is dropped, or
    ///    where it goes and what it is accounted to; elsewhere the forwarding table alone does.
    /// 3. All ports do what was due by now, where the fate of the frame depends on all of them.
    /// 4. The output port does so, and admits the frame or drops it.
    /// 5. The frame is transmitted, or put into its queue.
    ///
    /// The fast path takes the same steps for most frames, without those that do nothing to them.
    ///
    /// It stays where the caller put it until it is known where it goes: everything on the way looks
    /// at it there, and may change it.
    #[inline(always)]
    pub fn handle_frame(
        &mut self,
        now: Time,
        in_port: PortNo,
        frame: &mut F,
        out: &mut impl Outputs<F>,
    ) {
        if !self.take_fast_path(now, frame, out) {
            self.take_slow_path(now, in_port, frame, out);
        }
    }

    /// Any frame at any switch.
    #[inline(never)]
    fn take_slow_path(
        &mut self,
        now: Time,
        in_port: PortNo,
        frame: &mut F,
        out: &mut impl Outputs<F>,
    ) {
        if frame.is_pause() {
            return self.handle_pause(now, in_port, frame, out);
        }
        let entered = if self.has_entrance {
            self.enter(now, in_port, frame, out)
        } else {
            let port = self.forwarding.route(frame);
            port.map(|port| (port, None)).ok_or((in_port, DropCause::NoRoute))
        };
        let (port, account) = match entered {
            Ok(entered) => entered,
            Err((port, cause)) => return self.drop_early(now, port, frame, cause, out),
        };
        self.settle_all_for(now, port, frame.bytes(), out);
        let target = &mut self.ports[port];
        let verdict = target.admit(now, frame, &mut self.buffer, &mut self.releases, out);
        self.dues[port] = target.due();
        match verdict {
            Verdict::Dropped => {}
            Verdict::Leaves { start, end } => out.transmit(port, frame, start, end),
            Verdict::Waits(queue) => {
                let bytes = frame.bytes();
                target.enqueue(now, queue, *frame, account, &mut self.buffer, out);
                self.dues[port] = target.due();
                if let Some(account) = account {
                    self.take(now, account, bytes);
                }
                // A newcomer may be sendable although others wait: what holds them back need not
                // hold it.
                self.settle(port, now, out);
            }
        }
    }

    /// Settles all ports where the fate of a frame for this port, or the largest use of the memory,
    /// depends on what waits at the others.
    #[inline(always)]
    fn settle_all_for(&mut self, now: Time, port: PortNo, bytes: u32, out: &mut impl Outputs<F>) {
        if self.has_dynamic_limits
            || self.buffer.would_be_record(bytes) && !self.ports[port].sends_at_once(now)
        {
            self.handle_timeout(now, out);
        }
    }

    #[cold]
    fn handle_pause(&mut self, now: Time, in_port: PortNo, frame: &F, out: &mut impl Outputs<F>) {
        self.handle_timeout(now, out);
        if let Some(pause) = frame.pause() {
            self.ports[in_port].handle_pause(now, &pause);
            self.dues[in_port] = self.ports[in_port].due();
        }
        self.handle_timeout(now, out);
    }

    /// A frame waits, and counts where it came in; the sender is paused if that was too much.
    fn take(&mut self, now: Time, account: Account, bytes: u32) {
        let ingress = self.ingress.as_mut().expect("only accounting switches have accounts");
        let port = usize::from(account.port);
        if let Some(pause) = ingress.ports[port].take(now, account.group, bytes, &mut ingress.pool)
        {
            self.ports[port].order(&PauseOrder { at: now, pause });
            self.dues[port] = self.ports[port].due();
        }
    }

    /// Does everything that was due at all ports up to and including `now`.
    #[inline(never)]
    pub fn handle_timeout(&mut self, now: Time, out: &mut impl Outputs<F>) {
        if self.ingress.is_some() {
            return self.settle_in_order(now, out);
        }
        for (port, due) in self.dues.iter_mut().enumerate() {
            debug_assert_eq!(*due, self.ports[port].due(), "port {port} is due when it says");
            if *due <= now {
                let port = &mut self.ports[port];
                port.settle(now, &mut self.buffer, &mut self.releases, out);
                *due = port.due();
            }
        }
    }

    /// Where departures at one port cause pauses at another, things are done one by one in the
    /// order of their times.
    fn settle_in_order(&mut self, now: Time, out: &mut impl Outputs<F>) {
        let mut progress = Progress::default();
        loop {
            let (at, port) = self.next_due();
            if at > now {
                return;
            }
            debug_assert!(progress.is_made(at), "port {port} has endless work at {at:?}");
            let ingress = self.ingress.as_mut().expect("called for accounting switches");
            if ingress.ports[port].next_refresh() <= at {
                if let Some(pause) = ingress.ports[port].refresh(at) {
                    self.ports[port].order(&PauseOrder { at, pause });
                    self.dues[port] = self.ports[port].due();
                }
                continue;
            }
            self.ports[port].step(at, &mut self.buffer, &mut self.releases, out);
            self.dues[port] = self.ports[port].due();
            for (at, account, bytes) in self.releases.drain(..) {
                let from = usize::from(account.port);
                if let Some(pause) =
                    ingress.ports[from].give_back(account.group, bytes, &mut ingress.pool)
                {
                    self.ports[from].order(&PauseOrder { at, pause });
                    self.dues[from] = self.ports[from].due();
                }
            }
        }
    }

    /// The next thing to be done by a port or its ingress side; lower ports first.
    fn next_due(&self) -> (Time, PortNo) {
        let refresh = |port: PortNo| {
            self.ingress.as_ref().map_or(Time::NEVER, |ingress| ingress.ports[port].next_refresh())
        };
        let due = |port: PortNo| self.ports[port].next_choice().min(refresh(port));
        (0..self.ports.len()).map(|port| (due(port), port)).min().unwrap_or((Time::NEVER, 0))
    }

    /// Whether [`Switch::settle`] of this port has anything to do.
    #[inline(always)]
    pub fn is_due(&self, port: PortNo, now: Time) -> bool {
        self.ingress.is_some() || self.dues[port] <= now
    }

    /// Does everything that was due at one port up to and including `now`.
    #[inline(always)]
    pub fn settle(&mut self, port: PortNo, now: Time, out: &mut impl Outputs<F>) {
        if self.ingress.is_some() {
            return self.settle_in_order(now, out);
        }
        self.settle_port(port, now, out);
    }

    #[inline(always)]
    fn settle_port(&mut self, port: PortNo, now: Time, out: &mut impl Outputs<F>) {
        debug_assert_eq!(
            self.dues[port],
            self.ports[port].due(),
            "port {port} is due when it says"
        );
        if self.dues[port] <= now {
            self.ports[port].settle(now, &mut self.buffer, &mut self.releases, out);
            self.dues[port] = self.ports[port].due();
        }
    }

    /// The earliest choice that is due at any port, or [`Time::NEVER`].
    pub fn poll_timeout(&self) -> Time {
        self.next_due().0
    }

    /// When the switch must be called although no frame that it has sent arrives anywhere until
    /// then: a pause or a shaper ends, or a pause that it has asked for must be renewed or ended.
    pub fn poll_wakeup(&self) -> Time {
        if self.ingress.is_some() || self.reports_every_departure {
            return self.next_due().0;
        }
        self.ports.iter().map(Port::next_wakeup).min().unwrap_or(Time::NEVER)
    }

    /// Whether [`Switch::poll_wakeup`] can ever be needed.
    pub fn needs_wakeups(&self) -> bool {
        self.ingress.is_some()
            || self.reports_every_departure
            || self.ports.iter().any(Port::can_be_held_back)
    }

    /// Whether this port decides departures late, so that [`Switch::settle`] may start
    /// transmissions.
    pub fn chooses_late(&self, port: PortNo) -> bool {
        self.ports[port].chooses_late()
    }

    /// When the transmitter of a port is free, as far as it is settled.
    pub fn free_at(&self, port: PortNo) -> Time {
        self.ports[port].free_at()
    }

    /// Bytes that wait at a port, as far as it is settled.
    pub fn waiting_bytes(&self, port: PortNo) -> u64 {
        self.ports[port].waiting_bytes()
    }
    /// Number of queues of a port.
    pub fn queues(&self, port: PortNo) -> usize {
        self.ports[port].queue_count()
    }
    /// Bytes that wait in one queue, as far as its port is settled.
    pub fn depth_bytes(&self, port: PortNo, queue: QueueNo) -> u64 {
        self.ports[port].depth_bytes(queue)
    }
    /// Frames that wait in late-choosing queues of a port (on other ports committed frames are
    /// already outside).
    pub fn held_frames(&self, port: PortNo) -> u64 {
        self.ports[port].holding_queues().iter().map(|queue| queue.len() as u64).sum()
    }
    /// The shared memory.
    pub fn buffer(&self) -> &SharedBuffer {
        &self.buffer
    }
}
