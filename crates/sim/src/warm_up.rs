//! The end of the warm-up, from which the results of a trial are counted.
//!
//! Series over time keep the warm-up, so that it can be looked at, and so do the counts of frames, which must balance. A
//! workload with a number to do is counted whole: its completion is from its start, and its transactions are what it did.

use crate::world::World;
use tailrace_endpoint::app::Tallies;
use tailrace_endpoint::host::Socket;
use tailrace_endpoint::transport::TcpStats;
use tailrace_network::OnWires;
use tailrace_units::Time;

impl World {
    /// Counts from `now` on. The world must be settled.
    pub(crate) fn begin_counting(&mut self, now: Time) {
        self.counted_from = now;
        self.on_wires = OnWires::of(&self.links.wires);
        let (limits, connections) = (self.limits_by_workload(), self.connection_limits(now));
        for index in 0..self.links.observe.workloads.len() {
            if !self.links.observe.workloads[index].is_finite() {
                let (tcp, bytes) = (self.tcp_stats(index), self.received_bytes(index));
                let tallies = self.tallies(index);
                if let Some(recorder) = &mut self.links.observe.recorder {
                    recorder.begin_counting(index as u32);
                }
                let record = &mut self.links.observe.workloads[index];
                record.begin_counting(now, tcp, bytes);
                record.tallies_before = tallies;
                (record.limits_before, record.connection_limits_before) = (limits[index], connections[index].clone());
            }
        }
        self.switches.iter_mut().for_each(|node| node.begin_counting(now));
        self.hosts.iter_mut().for_each(|host| host.begin_counting(now));
        self.hypervisors.iter_mut().for_each(|node| node.model.begin_counting(now));
    }

    /// What the connections of a workload have counted since they were made, those that are gone too.
    pub(crate) fn tcp_stats(&self, workload: usize) -> TcpStats {
        let mut sum = self.links.observe.workloads[workload].retired;
        let of_programs = self.program_sockets().filter(|socket| socket.owner() as usize == workload);
        self.sockets_of(workload).chain(of_programs).filter_map(Socket::stats).for_each(|stats| sum.add(stats));
        sum
    }

    /// What the programs of a workload have counted.
    pub(crate) fn tallies(&self, workload: usize) -> Tallies {
        let mut sum = Tallies::default();
        for place in &self.programs {
            let (owner, tallies) = self.hosts[place.host as usize].tallies_of(place.number);
            if owner as usize == workload {
                sum.add(&tallies);
            }
        }
        sum
    }

    /// What the receiving end of each connection of a workload has received, in the order in which they start.
    pub(crate) fn received_bytes(&self, workload: usize) -> Vec<u64> {
        self.sockets_of(workload).filter(|socket| socket.counts_goodput()).map(|socket| socket.tcp().received()).collect()
    }

    fn sockets_of(&self, workload: usize) -> impl Iterator<Item = &Socket> {
        self.all_sockets().filter(move |socket| socket.owner() as usize == workload)
    }
}
