//! The end of the warm-up, from which the results of a trial are counted.
//!
//! Series over time keep the warm-up, so that it can be inspected, and so do the counts of frames,
//! which must balance. A workload with a finite amount of work is counted whole: its completion
//! time counts from its start, and all its transactions count.

use crate::world::World;
use tailrace_network::OnWires;
use tailrace_programs::Tallies;
use tailrace_transport::tcp::TcpStats;
use tailrace_units::Time;
use tailrace_workloads::Before;

impl World {
    /// Counts from `now` on. The world must be settled.
    pub(crate) fn begin_counting(&mut self, now: Time) {
        self.counted_from = now;
        self.on_wires = OnWires::of(&self.links.wires, &self.switches, now);
        let (limits, mut connections) = (self.limits_by_workload(), self.connection_limits(now));
        let (tcp, mut received, tallies) =
            (self.tcp_stats(), self.received_bytes(), self.tallies());
        for index in 0..self.links.observe.workloads.len() {
            if !self.links.observe.workloads[index].is_finite() {
                if let Some(recorder) = &mut self.links.observe.recorder {
                    recorder.begin_counting(index as u32);
                }
                let record = &mut self.links.observe.workloads[index];
                let before = Before {
                    tcp: tcp[index],
                    limits: limits[index],
                    connection_limits: std::mem::take(&mut connections[index]),
                    tallies: tallies[index],
                    bytes: std::mem::take(&mut received[index]),
                };
                record.begin_counting(now, before);
            }
        }
        self.switches.iter_mut().for_each(|node| node.begin_counting(now));
        self.hosts.iter_mut().for_each(|host| host.begin_counting(now));
        self.hypervisors.iter_mut().for_each(|node| node.model.begin_counting(now));
    }

    /// By workload, the counters of its connections since they were made, including closed ones.
    pub(crate) fn tcp_stats(&self) -> Vec<TcpStats> {
        let mut sums: Vec<TcpStats> =
            self.links.observe.workloads.iter().map(|record| record.retired).collect();
        for socket in self.all_sockets().chain(self.program_sockets()) {
            if let (Some(sum), Some(stats)) =
                (sums.get_mut(socket.owner() as usize), socket.stats())
            {
                sum.add(stats);
            }
        }
        sums
    }

    /// By workload, the counters of its programs.
    pub(crate) fn tallies(&self) -> Vec<Tallies> {
        let mut sums = vec![Tallies::default(); self.links.observe.workloads.len()];
        for place in &self.programs {
            let (owner, tallies) = self.hosts[place.host as usize].tallies_of(place.number);
            if let Some(sum) = sums.get_mut(owner as usize) {
                sum.add(&tallies);
            }
        }
        sums
    }

    /// By workload, the bytes at the receiving end of each of its connections, in the order in
    /// which they start.
    pub(crate) fn received_bytes(&self) -> Vec<Vec<u64>> {
        let mut received = vec![Vec::new(); self.links.observe.workloads.len()];
        for socket in self.all_sockets().filter(|socket| socket.counts_goodput()) {
            if let Some(of_workload) = received.get_mut(socket.owner() as usize) {
                of_workload.push(socket.tcp().received());
            }
        }
        received
    }
}
