//! The records of a trial.

use tailrace_endpoint::host::{Carried, Completion, sender_of};
use tailrace_endpoint::ip::protocol;
use tailrace_endpoint::transport::TcpStats;
use tailrace_endpoint::udp::Datagram;
use tailrace_network::{Frames, NetworkFrame, Place};
use tailrace_record::{Digest, Latency, Series};
use tailrace_units::{Span, Time};
use tailrace_wire::{FlowKey, Packet, Protocol};

/// All records of the running world.
#[derive(Debug)]
pub(crate) struct Observe {
    digest: Option<Digest>,
    pub(crate) packet_hops: u64,
    pub(crate) frames: Frames,
    /// Frames with payload that reached a host.
    pub(crate) packets_delivered: u64,
    pub(crate) workloads: Vec<WorkloadRecord>,
    /// Of each socket of each host what the frames for it leave out.
    pub(crate) endpoints: Vec<Vec<Endpoint>>,
    /// The same of sockets for datagrams.
    udp_endpoints: Vec<Vec<Endpoint>>,
    /// Work for the world after a call of a host.
    pub(crate) news: Vec<News>,
    /// Finite workloads that are not complete.
    pub(crate) unfinished: usize,
}

/// Results of one workload.
#[derive(Debug)]
pub(crate) struct WorkloadRecord {
    pub(crate) latency: Latency,
    pub(crate) transactions: u64,
    /// Transactions until it is complete; 0 for a workload without end.
    pub(crate) transactions_total: u64,
    /// Users, streams or flows that are not finished.
    pub(crate) users_left: u64,
    pub(crate) completion: Option<Time>,
    pub(crate) user_completion: Vec<Option<Time>>,
    pub(crate) goodput_bytes: u64,
    pub(crate) goodput: Option<Series>,
    /// Start and latency of transactions, the first so many.
    pub(crate) rows: Vec<Row>,
    /// Of a workload of flows: what each row was. Empty for others.
    pub(crate) carried: Vec<Carried>,
    pub(crate) rows_max: usize,
    /// Sums over connections that are gone.
    pub(crate) retired: TcpStats,
    /// From when its results count: the warm-up of a workload without end is left out.
    pub(crate) counted_from: Time,
    /// What its connections had counted by then.
    pub(crate) tcp_before: TcpStats,
    /// What each connection of a stream had received by then, in the order in which they start.
    pub(crate) bytes_before: Vec<u64>,
}

/// Fields that frames have on a real network, but not in the 64 bytes of the simulator's packet.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Endpoint {
    /// The workload that it belongs to.
    pub(crate) workload: u32,
    /// The host that sent it.
    pub(crate) source: u16,
}

/// An event of a host that concerns more than its links.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// A flow is complete, and its sockets can be given back: host and socket of the end that noticed.
    Over { host: u32, socket: u32 },
    /// A program has connected: packets with this key come, and others with its reverse.
    Flow(FlowKey),
}

/// One transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) user: u32,
    pub(crate) start: Time,
    pub(crate) latency: Span,
}

impl Observe {
    pub(crate) fn new(plan: &tailrace_plan::RawObserve, hosts: usize, workloads: Vec<WorkloadRecord>) -> Observe {
        let unfinished = workloads.iter().filter(|workload| workload.users_left > 0).count();
        Observe {
            digest: plan.digest.then(Digest::default),
            packet_hops: 0,
            frames: Frames::default(),
            packets_delivered: 0,
            workloads,
            endpoints: vec![Vec::new(); hosts],
            udp_endpoints: vec![Vec::new(); hosts],
            news: Vec::new(),
            unfinished,
        }
    }

    pub(crate) fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    #[inline]
    pub(crate) fn sent(&mut self, start: Time, wire: usize, fingerprint: u64) {
        self.packet_hops += 1;
        if let Some(digest) = &mut self.digest {
            digest.add(start, Place::Wire(wire as u64).number(), fingerprint);
        }
    }

    /// The workload of a frame; none for frames that switches make.
    #[inline]
    pub(crate) fn source_of(&self, packet: &Packet) -> Option<usize> {
        if packet.is_control() {
            return None;
        }
        Some(self.endpoint(packet).workload as usize)
    }

    /// What a frame of a flow leaves out.
    #[inline]
    pub(crate) fn endpoint(&self, packet: &Packet) -> Endpoint {
        let of_protocol = match protocol(packet) {
            Protocol::Tcp => &self.endpoints,
            Protocol::Udp => &self.udp_endpoints,
        };
        match of_protocol[usize::from(packet.to_host)].get(packet.to_endpoint as usize) {
            Some(&endpoint) => endpoint,
            None => self.endpoint_of_opening(packet),
        }
    }

    /// The same of a segment for a port, which tells where it comes from. What comes back to that socket is of the same
    /// workload.
    #[cold]
    #[inline(never)]
    fn endpoint_of_opening(&self, packet: &Packet) -> Endpoint {
        let (source, socket) = sender_of(packet).expect("a packet is for a socket that was opened, or for a port");
        let workload = self.endpoints[usize::from(source)][socket as usize].workload;
        Endpoint { workload, source }
    }

    /// Notes what the datagrams for a socket leave out.
    pub(crate) fn note_udp_endpoint(&mut self, host: u32, endpoint: Endpoint) {
        self.udp_endpoints[host as usize].push(endpoint);
    }

    /// Notes what the frames for a socket leave out.
    pub(crate) fn note_endpoint(&mut self, host: u32, socket: u32, endpoint: Endpoint) {
        let of_host = &mut self.endpoints[host as usize];
        if of_host.len() == socket as usize {
            of_host.push(endpoint);
        } else {
            of_host[socket as usize] = endpoint;
        }
    }

    /// A frame reached its host.
    #[inline]
    pub(crate) fn delivered(&mut self, packet: &Packet) {
        self.frames.delivered += 1;
        self.packets_delivered += u64::from(packet.payload_bytes > 0);
    }

    pub(crate) fn dropped(&mut self, at: Time, wire: u64, fingerprint: u64) {
        self.frames.dropped += 1;
        if let Some(digest) = &mut self.digest {
            digest.add(at, Place::Drop(wire).number(), fingerprint);
        }
    }

    pub(crate) fn marked(&mut self, at: Time, wire: u64, fingerprint: u64) {
        if let Some(digest) = &mut self.digest {
            digest.add(at, Place::Mark(wire).number(), fingerprint);
        }
    }

    /// An application got bytes or finished something: the results themselves are part of the digest.
    pub(crate) fn completed(&mut self, now: Time, completion: &Completion) {
        let &Completion { owner, user, intended, carried } = completion;
        let workload = owner as usize;
        if let Some(digest) = &mut self.digest {
            digest.add(now, Place::Delivery(workload as u64).number(), u64::from(user) ^ intended.ps().rotate_left(20));
        }
        self.workloads[workload].completed(now, user, intended);
        if let Some(carried) = carried {
            self.workloads[workload].carried(carried);
        }
    }

    /// A datagram's delay is from program to program.
    #[inline(never)]
    pub(crate) fn received_datagram(&mut self, now: Time, workload: u32, datagram: &Datagram) {
        let record = &mut self.workloads[workload as usize];
        record.received(now, u64::from(datagram.payload_bytes));
        record.measured(0, datagram.sent, now.since(datagram.sent));
    }

    pub(crate) fn finished(&mut self, now: Time, workload: usize, user: u32) {
        if self.workloads[workload].finished(now, user) {
            self.unfinished -= 1;
        }
    }

    /// How much of the slowest finite workload is done; `None` when there is none.
    pub(crate) fn progress(&self) -> Option<f64> {
        let finite = self.workloads.iter().filter(|workload| workload.transactions_total > 0);
        finite.map(|workload| workload.transactions as f64 / workload.transactions_total as f64).reduce(f64::min)
    }
}

impl WorkloadRecord {
    pub(crate) fn new(
        plan: &tailrace_plan::RawObserve,
        users: usize,
        users_left: u64,
        transactions_total: u64,
    ) -> WorkloadRecord {
        let series = || Series::new((plan.series_bins as usize).max(2), Span::from_ps(plan.series_bin_ps.max(1)));
        WorkloadRecord {
            latency: Latency::default(),
            transactions: 0,
            transactions_total,
            users_left,
            completion: None,
            user_completion: vec![None; users],
            goodput_bytes: 0,
            goodput: (plan.series_bins > 0).then(series),
            rows: Vec::new(),
            carried: Vec::new(),
            rows_max: usize::try_from(plan.transactions_max).unwrap_or(usize::MAX),
            retired: TcpStats::default(),
            counted_from: Time::ZERO,
            tcp_before: TcpStats::default(),
            bytes_before: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn received(&mut self, now: Time, bytes: u64) {
        self.goodput_bytes += bytes;
        if let Some(series) = &mut self.goodput {
            series.add(now, bytes);
        }
    }

    pub(crate) fn measured(&mut self, user: u32, start: Time, latency: Span) {
        self.transactions += 1;
        self.latency.record(latency);
        if self.rows.len() < self.rows_max {
            self.rows.push(Row { user, start, latency });
        }
    }

    fn completed(&mut self, now: Time, user: u32, intended: Time) {
        self.measured(user, intended, now.since(intended));
    }

    /// Whether it has a number to do, and so a completion.
    pub(crate) fn is_finite(&self) -> bool {
        self.transactions_total > 0
    }

    /// Latencies, transactions and bytes count from `now` on; the series stays.
    pub(crate) fn begin_counting(&mut self, now: Time, tcp: TcpStats, bytes: Vec<u64>) {
        self.counted_from = now;
        (self.latency, self.transactions, self.goodput_bytes) = (Latency::default(), 0, 0);
        self.rows.clear();
        self.carried.clear();
        (self.tcp_before, self.bytes_before) = (tcp, bytes);
    }

    /// What the flow that has just been measured was.
    pub(crate) fn carried(&mut self, carried: Carried) {
        if self.carried.len() < self.rows.len() {
            self.carried.push(carried);
        }
    }

    /// Returns whether that was the last.
    fn finished(&mut self, now: Time, user: u32) -> bool {
        if let Some(slot) = self.user_completion.get_mut(user as usize) {
            *slot = Some(now);
        }
        if self.users_left == 0 {
            return false;
        }
        self.users_left -= 1;
        if self.users_left == 0 {
            self.completion = Some(now);
        }
        self.users_left == 0
    }
}
