//! Whose frames they are: a real frame tells its hosts and not its workload, so those of one pair of hosts count together.

use crate::frame::LiveFrame;
use tailrace_plan::{Plan, Workload};

/// Sources of traffic by sending and receiving host.
#[derive(Debug)]
pub(super) struct Sources {
    hosts: usize,
    /// Number of the source of each pair of hosts, the sender first.
    of_pair: Vec<Option<u16>>,
    /// Numbers of the workloads of each source.
    workloads: Vec<Vec<usize>>,
}

impl Sources {
    /// Workloads between the same hosts, in either direction, are one source.
    pub(super) fn new(plan: &Plan) -> Sources {
        let hosts = plan.graph.hosts;
        let mut of_pair = vec![Vec::new(); hosts * hosts];
        for (number, workload) in plan.workloads.iter().enumerate() {
            for (a, b) in pairs(workload) {
                for pair in [a * hosts + b, b * hosts + a] {
                    if of_pair[pair].last() != Some(&number) {
                        of_pair[pair].push(number);
                    }
                }
            }
        }
        let mut workloads: Vec<Vec<usize>> = of_pair.iter().filter(|numbers| !numbers.is_empty()).cloned().collect();
        workloads.sort_unstable();
        workloads.dedup();
        let number_of = |numbers: &Vec<usize>| workloads.iter().position(|known| known == numbers).map(|found| found as u16);
        let of_pair = of_pair.iter().map(number_of).collect();
        Sources { hosts, of_pair, workloads }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.workloads.len()
    }

    /// The numbers of the workloads of each.
    pub(super) fn workloads(&self) -> &[Vec<usize>] {
        &self.workloads
    }

    /// The source of a frame; none between hosts that no workload uses, and for frames that switches make.
    #[inline]
    pub(super) fn of(&self, frame: &LiveFrame) -> Option<usize> {
        let pair = usize::from(frame.from_host) * self.hosts + usize::from(frame.packet.to_host);
        self.of_pair.get(pair).copied().flatten().map(usize::from)
    }
}

/// The hosts of a workload.
fn pairs(workload: &Workload) -> Vec<(usize, usize)> {
    match workload {
        Workload::Oltp(oltp) => vec![(oltp.client, oltp.server)],
        Workload::Stream { source, destination, .. } | Workload::Datagrams { source, destination, .. } => {
            vec![(*source, *destination)]
        }
        Workload::Flows { sources, destinations, .. } => {
            sources.iter().flat_map(|&from| destinations.iter().map(move |&to| (from, to))).collect()
        }
    }
}
