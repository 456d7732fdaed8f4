//! Limits of the connections of workloads.

use crate::world::World;
use tailrace_host::Socket;
use tailrace_transport::tcp::Limits;
use tailrace_units::Time;
use tailrace_workloads::outcome::LimitCounts;

const PERMILLE: u64 = 1_000;

/// Connections of one workload.
#[derive(Default)]
struct Sums {
    limits: Limits,
    /// Of the ends that send most, and of those that receive most: thousandths, and how many ends.
    busy: [(u64, u64); 2],
    lasting: Vec<LimitCounts>,
}

impl Sums {
    fn note_busy(&mut self, side: usize, permille: u64) {
        let (sum, ends) = &mut self.busy[side];
        *sum += permille;
        *ends += 1;
    }
}

impl World {
    /// By workload, the limits of its connections since they were made, including closed ones.
    pub(crate) fn limits_by_workload(&self) -> Vec<Limits> {
        let mut sums: Vec<Limits> =
            self.links.observe.workloads.iter().map(|record| record.retired_limits).collect();
        self.open_sockets()
            .for_each(|socket| sums[socket.owner() as usize].add(&socket.tcp().limits(self.now)));
        sums
    }

    /// By workload, the limits of its connections since counting began, and of the lasting ones one
    /// by one.
    pub(crate) fn limit_counts(&self) -> Vec<(LimitCounts, Vec<LimitCounts>)> {
        let records = &self.links.observe.workloads;
        let mut sums: Vec<Sums> = records.iter().map(|_| Sums::default()).collect();
        self.connections().for_each(|client| self.add_lasting(client, &mut sums));
        for place in &self.programs {
            let host = &self.hosts[place.host as usize];
            for socket in
                host.program_sockets(place.number).filter(|socket| socket.stats().is_some())
            {
                let own = &mut sums[socket.owner() as usize];
                own.limits.add(&socket.tcp().limits(self.now));
                let stats = socket.tcp().stats();
                let side = usize::from(stats.acks_sent >= stats.segments_sent);
                own.note_busy(side, self.permille(host.receive_busy(socket).ps()));
            }
        }
        let outcomes = sums.into_iter().zip(records).map(|(sum, record)| {
            let mut limits = sum.limits;
            limits.add(&record.retired_limits);
            let [ack_core_permille, receive_core_permille] =
                sum.busy.map(|(permille, ends)| permille / ends.max(1));
            let limits =
                record.before.as_ref().map_or(limits, |before| limits.since(&before.limits));
            (LimitCounts { limits, receive_core_permille, ack_core_permille }, sum.lasting)
        });
        outcomes.collect()
    }

    /// Both ends of a connection that was opened for its workload.
    fn add_lasting(&self, client: u32, sums: &mut [Sums]) {
        let ends = [client, client + 1].map(|number| self.socket(number));
        if ends[0].stats().is_none() {
            return;
        }
        let workload = ends[0].owner() as usize;
        let record = &self.links.observe.workloads[workload];
        let own = &mut sums[workload];
        let mut limits = Limits::default();
        for socket in ends {
            let mut counted = socket.tcp().limits(self.now);
            if let Some(Some(finished)) = record.user_completion.get(own.lasting.len()) {
                counted.forget_idle(self.now.since(*finished));
            }
            limits.add(&counted);
        }
        own.limits.add(&limits);
        // The end that has received more is the one whose host had the work.
        let receiver = usize::from(ends[1].tcp().received() > ends[0].tcp().received());
        let busy = [1 - receiver, receiver].map(|end| {
            let host = self.sockets[client as usize + end].host as usize;
            self.permille(self.hosts[host].receive_busy(ends[end]).ps())
        });
        (0..).zip(busy).for_each(|(side, permille)| own.note_busy(side, permille));
        let [ack_core_permille, receive_core_permille] = busy;
        let before = record
            .before
            .as_ref()
            .and_then(|before| before.connection_limits.get(own.lasting.len()).copied());
        let before = before.unwrap_or_default();
        own.lasting.push(LimitCounts {
            limits: limits.since(&before),
            receive_core_permille,
            ack_core_permille,
        });
    }

    /// By workload, the limits of each lasting connection, of both ends together.
    pub(crate) fn connection_limits(&self, now: Time) -> Vec<Vec<Limits>> {
        let mut found = vec![Vec::new(); self.links.observe.workloads.len()];
        for client in self.connections() {
            let ends = [client, client + 1].map(|number| self.socket(number));
            if ends[0].stats().is_some() {
                let mut limits = ends[0].tcp().limits(now);
                limits.add(&ends[1].tcp().limits(now));
                found[ends[0].owner() as usize].push(limits);
            }
        }
        found
    }

    fn open_sockets(&self) -> impl Iterator<Item = &Socket> {
        self.all_sockets().chain(self.program_sockets()).filter(|socket| socket.stats().is_some())
    }

    /// Of the time that was counted.
    fn permille(&self, busy_ps: u64) -> u64 {
        let counted_ps = self.now.since(self.counted_from).ps().max(1);
        (u128::from(busy_ps) * u128::from(PERMILLE) / u128::from(counted_ps)) as u64
    }
}
