//! Sources of frames: a real frame carries its hosts and not its workload, so those of one pair of
//! hosts count together.

use crate::frame::LiveFrame;
use tailrace_plan::Plan;

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
            for (a, b) in workload.header.pairs() {
                for pair in [a * hosts + b, b * hosts + a] {
                    if of_pair[pair].last() != Some(&number) {
                        of_pair[pair].push(number);
                    }
                }
            }
        }
        let mut workloads: Vec<Vec<usize>> =
            of_pair.iter().filter(|numbers| !numbers.is_empty()).cloned().collect();
        workloads.sort_unstable();
        workloads.dedup();
        let number_of = |numbers: &Vec<usize>| {
            workloads.iter().position(|known| known == numbers).map(|found| found as u16)
        };
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

    /// The source of a frame; none between hosts that no workload uses, and for frames that
    /// switches make.
    #[inline]
    pub(super) fn of(&self, frame: &LiveFrame) -> Option<usize> {
        let pair = usize::from(frame.from_host) * self.hosts + usize::from(frame.packet.to_host);
        self.of_pair.get(pair).copied().flatten().map(usize::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use tailrace_wire::Packet;

    fn stream(name: &str, source: &str, destination: &str) -> Value {
        let body = json!({ "stream": {
            "source": source, "destination": destination, "connections": 1, "bytes": 0, "stagger_ps": 0,
            "pin_forward": [], "pin_backward": [],
        } });
        json!({ "header": { "name": name, "priority": 0, "port": 5432 }, "body": body })
    }

    fn sources(workloads: &Value) -> Sources {
        let mut plan = crate::measured_plan::two_hosts(100_000_000, 1_500);
        plan["workloads"] = workloads.clone();
        Sources::new(&Plan::parse(&plan.to_string()).expect("a sound plan"))
    }

    fn frame(from_host: u16, to_host: u16) -> LiveFrame {
        LiveFrame { from_host, ..LiveFrame::bare(Packet { to_host, ..Packet::default() }) }
    }

    #[test]
    fn workloads_between_the_same_hosts_are_one_source_in_both_directions() {
        let hosts = crate::measured_plan::two_hosts(100_000_000, 1_500)["hosts"].clone();
        let name = |host: usize| hosts[host]["name"].as_str().expect("a name").to_owned();
        let both = sources(&json!([
            stream("out", &name(0), &name(1)),
            stream("back", &name(1), &name(0))
        ]));
        assert_eq!(both.workloads(), [vec![0, 1]]);
        assert_eq!((both.of(&frame(0, 1)), both.of(&frame(1, 0))), (Some(0), Some(0)));
        assert_eq!(both.of(&frame(0, 0)), None, "no workload has these hosts");
        assert_eq!(both.of(&frame(7, 7)), None);
    }
}
