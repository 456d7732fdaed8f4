//! Plans that are no more than a drawing.

use serde_json::{Value, json};
use tailrace_plan::{Plan, PortRole};
use tailrace_units::RandomStream;

pub const RATE_BPS: u64 = 10_000_000_000;
/// Tree, VLAN of its own.
pub const FIRST_VLAN: u16 = 100;

/// Switches and the links between them; what decides the shape of the trees.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub switches: usize,
    /// Ends and path cost.
    pub links: Vec<(usize, usize, u32)>,
    pub bridge_priority: Vec<u16>,
    pub port_priority: Vec<(u8, u8)>,
    /// Switches with a host.
    pub hosts: Vec<usize>,
}

impl Drawing {
    /// The standard's default priorities, and a host at every switch.
    pub fn new(switches: usize, links: &[(usize, usize, u32)]) -> Drawing {
        Drawing {
            switches,
            links: links.to_vec(),
            bridge_priority: vec![32_768; switches],
            port_priority: vec![(128, 128); links.len()],
            hosts: (0..switches).collect(),
        }
    }

    /// The tree of frames without VLAN.
    pub fn common(&self) -> Plan {
        Plan::parse(&self.plan(1, false).to_string()).expect("the drawing is sound")
    }

    /// Trees for so many VLANs that share no link unless they must, as the links that each has.
    pub fn apart(&self, vlans: usize) -> Vec<Vec<usize>> {
        let plan =
            Plan::parse(&self.plan(1 + vlans, true).to_string()).expect("the drawing is sound");
        let of = |forwards: &[bool]| (0..self.links.len()).filter(|&link| forwards[link]).collect();
        plan.trees[1..].iter().map(|tree| of(&tree.forwards)).collect()
    }

    /// A plan with links between switches first. Hosts have two at least, of which one may be at a
    /// switch of its own.
    pub fn plan(&self, trees: usize, disjoint: bool) -> Value {
        let mut links: Vec<Value> =
            self.links.iter().map(|&(a, b, _)| link(&format!("s{a}"), &format!("s{b}"))).collect();
        links.extend(self.hosts.iter().map(|at| link(&format!("h{at}"), &format!("s{at}"))));
        let all = |value: Vec<Value>, usual: Value| {
            value.into_iter().chain(self.hosts.iter().map(|_| usual.clone())).collect::<Vec<_>>()
        };
        let tree = |instance: usize| {
            json!({
                "instance": instance,
                "vlans": if instance == 0 { vec![] } else { vec![FIRST_VLAN + instance as u16] },
                "bridge_priority": self.bridge_priority,
                "path_cost": all(self.links.iter().map(|link| json!(link.2)).collect(), json!(2_000)),
                "port_priority": all(self.port_priority.iter().map(|ports| json!(ports)).collect(), json!((128, 128))),
            })
        };
        let queue = json!({"name": "default", "service": {"dwrr": 1000}, "limit": {"bytes": 1000}, "aqm": "none"});
        let switch = |at: usize| {
            json!({
                "name": format!("s{at}"), "switching": "store-and-forward", "latency_ps": 0, "buffer_bytes": 1_000,
                "policy": {"queues": [queue], "queue_of_priority": [0, 0, 0, 0, 0, 0, 0, 0], "dpp": null},
                "port_policies": [],
            })
        };
        json!({
            "version": 2, "name": "test", "seed": 1, "stop_at_ps": 1, "clock_offset_ppb": 0,
            "framing": {"header_bytes": 14, "overhead_bytes": 24},
            "hosts": self.hosts.iter().map(|at| host(&format!("h{at}"))).collect::<Vec<_>>(),
            "switches": (0..self.switches).map(switch).collect::<Vec<_>>(),
            "links": links,
            "spanning_tree": {"trees": (0..trees).map(tree).collect::<Vec<_>>(), "disjoint": disjoint},
            "workloads": [{"header": {"name": "w", "priority": 0, "port": 5432}, "body": {"stream": {
                "source": format!("h{}", self.hosts[0]), "destination": format!("h{}", self.hosts[1]),
                "connections": 1, "bytes": 1, "stagger_ps": 0, "pin_forward": [], "pin_backward": [],
            }}}],
            "observe": {"ports": [], "series_bins": 0, "series_bin_ps": 1, "transactions_max": 0, "digest": false},
        })
    }
}

fn link(a: &str, b: &str) -> Value {
    json!({"a": a, "b": b, "rate_bps": RATE_BPS, "delay_ps": 0})
}

fn host(name: &str) -> Value {
    let buffer = json!({"initial_bytes": 10_000, "maximum_bytes": 10_000});
    json!({
        "name": name, "mtu_bytes": 1500,
        "nic": {
            "queue_bytes": 10_000, "tso_bytes": 0, "gro_bytes": 0, "rx_coalesce_ps": 0, "rx_jitter": {"constant": 0},
            "rx_ring_frames": 1,
        },
        "cpu": {"per_packet_ps": 0, "per_byte_fs": 0},
        "tcp": {
            "congestion_control": "cubic", "slow_start_exit": "none", "initial_window_segments": 1, "window_cap_bytes": 0,
            "ecn": false, "sack": true, "tail_loss_probe": true, "rto_min_ps": 1, "rto_max_ps": 1, "delayed_ack_ps": 0,
            "slow_start_after_idle": true, "small_queue_ps": 0, "send_buffer": buffer, "receive_buffer": buffer,
        },
    })
}

/// Roles of a switch's ports to other switches: `R`oot, `D`esignated, `A`lternate.
pub fn roles(plan: &Plan, switch: usize) -> String {
    let ends = &plan.graph.ports[plan.graph.hosts + switch];
    let between = plan.trees[0].bridges[switch]
        .roles
        .iter()
        .zip(ends)
        .filter(|(_, end)| end.peer >= plan.graph.hosts);
    let letter = |role: &PortRole| match role {
        PortRole::Root => 'R',
        PortRole::Designated => 'D',
        PortRole::Alternate => 'A',
    };
    between.map(|(role, _)| letter(role)).collect()
}

/// A connected graph: a tree with `extra` links more, between any two switches, twice if it comes
/// to that.
pub fn any_links(random: &mut RandomStream, switches: usize, extra: usize) -> Vec<(usize, usize)> {
    let mut links: Vec<(usize, usize)> =
        (1..switches).map(|node| (random.below(node as u64) as usize, node)).collect();
    for _ in 0..extra {
        let a = random.below(switches as u64) as usize;
        let b = (a + 1 + random.below(switches as u64 - 1) as usize) % switches;
        links.push((a, b));
    }
    links
}
