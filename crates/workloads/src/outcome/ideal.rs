//! The ideal time of a flow: on an empty path, at the rate of its slowest link, without handshake
//! or hosts.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use tailrace_host::Carried;
use tailrace_plan::{Graph, Plan, RawSwitching};
use tailrace_units::{BitRate, Span};
use tailrace_wire::{IPV4_HEADER_BYTES, TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, tcp_mss};

/// One link of a path, in the direction of the data.
#[derive(Clone, Copy)]
struct Hop {
    rate: BitRate,
    delay: Span,
    /// The switch at its end forwards frames before they have arrived whole.
    is_cut_through: bool,
}

impl Hop {
    /// A frame for a faster link is stored.
    fn is_cut_through_to(&self, next: &Hop) -> bool {
        self.is_cut_through && next.rate <= self.rate
    }
}

/// Remembers, for each destination, the next link of every node.
pub(crate) struct Ideal<'a> {
    plan: &'a Plan,
    next: BTreeMap<u16, Vec<Option<usize>>>,
}

impl<'a> Ideal<'a> {
    pub(super) fn new(plan: &'a Plan) -> Ideal<'a> {
        Ideal { plan, next: BTreeMap::new() }
    }

    /// From the first bit that leaves to the last that arrives: all bytes at the slowest link, one
    /// frame at each of the others, and the delays on the way.
    pub(super) fn time(&mut self, flow: &Carried) -> Span {
        let mtu = |host: u16| self.plan.raw.hosts[usize::from(host)].mtu_bytes;
        let mss = u64::from(tcp_mss(mtu(flow.source).min(mtu(flow.destination))));
        let framing = &self.plan.raw.framing;
        let headers = framing.header_bytes
            + framing.overhead_bytes
            + IPV4_HEADER_BYTES
            + TCP_HEADER_BYTES
            + TCP_TIMESTAMP_BYTES;
        let frame = |payload: u64| payload + u64::from(headers);
        let frames = flow.bytes.div_ceil(mss);
        let first = frame(flow.bytes.min(mss));
        let last = frame(flow.bytes - (frames - 1) * mss);
        let path = self.path(flow);
        let slowest = (0..path.len()).min_by_key(|&at| path[at].rate).expect("a path has a link");
        let mut time = Span::ZERO;
        for (at, hop) in path.iter().enumerate() {
            let bytes = match at.cmp(&slowest) {
                Ordering::Less if hop.is_cut_through_to(&path[at + 1]) => 0,
                Ordering::Less => first,
                Ordering::Equal => flow.bytes + frames * u64::from(headers),
                Ordering::Greater if path[at - 1].is_cut_through_to(hop) => 0,
                Ordering::Greater => last,
            };
            time = time + hop.delay + hop.rate.pace(0).time_to_send(bytes);
        }
        time
    }

    fn path(&mut self, flow: &Carried) -> Vec<Hop> {
        let plan = self.plan;
        let next = self
            .next
            .entry(flow.destination)
            .or_insert_with(|| towards(&plan.graph, usize::from(flow.destination)));
        let mut node = usize::from(flow.source);
        let mut path = Vec::new();
        while let Some(link) = next[node] {
            let link = plan.graph.links[link];
            node = if link.a == node { link.b } else { link.a };
            let switch = node.checked_sub(plan.graph.hosts).map(|at| &plan.raw.switches[at]);
            path.push(Hop {
                rate: link.rate,
                delay: link.delay
                    + switch.map_or(Span::ZERO, |switch| Span::from_ps(switch.latency_ps)),
                is_cut_through: switch
                    .is_some_and(|switch| matches!(switch.switching, RawSwitching::CutThrough)),
            });
        }
        path
    }
}

/// The link of each node that is next on a shortest path to `host`. Hosts do not forward.
fn towards(graph: &Graph, host: usize) -> Vec<Option<usize>> {
    let mut next = vec![None; graph.names.len()];
    let mut open = VecDeque::from([host]);
    while let Some(node) = open.pop_front() {
        for end in &graph.ports[node] {
            if end.peer != host && next[end.peer].is_none() {
                next[end.peer] = Some(end.link);
                if end.peer >= graph.hosts {
                    open.push_back(end.peer);
                }
            }
        }
    }
    next
}
