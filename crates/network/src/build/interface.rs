//! Builds the interface of a host of the plan, if it takes part in data-centre bridging.

use super::service;
use crate::pace_of;
use tailrace_dataplane::Frame;
use tailrace_host::nic::{LosslessNic, ReactionPolicy, Storm, TrafficClass};
use tailrace_plan::{Plan, RawNicClass, RawNicLossless};
use tailrace_units::{Span, Time};
use tailrace_wire::{Packet, PauseState};

/// The interfaces that take part in data-centre bridging, with their hosts.
pub fn lossless_nics(plan: &Plan) -> Vec<(u32, LosslessNic)> {
    let hosts = plan.raw.hosts.iter().enumerate();
    hosts
        .filter_map(|(host, raw)| {
            Some((host as u32, lossless_nic(plan, host, raw.nic.lossless.as_ref()?)))
        })
        .collect()
}

fn lossless_nic(plan: &Plan, host: usize, raw: &RawNicLossless) -> LosslessNic {
    let rate = plan.graph.links[plan.graph.ports[host][0].link].rate;
    let pause = PauseState::new(raw.obeys, raw.obeys_link_pause, Span::from_ps(raw.response_ps));
    let reaction = raw.qcn.map(|qcn| ReactionPolicy {
        timer: Span::from_ps(qcn.timer_ps),
        byte_counter: qcn.byte_counter,
        active_increase_bps: qcn.active_increase_bps,
        hyper_increase_bps: qcn.hyper_increase_bps,
        rate_min_bps: qcn.rate_min_bps,
    });
    let queue_bytes = plan.raw.hosts[host].nic.queue_bytes;
    let (pace, overhead_bytes) = (pace_of(plan, host, 0), plan.raw.framing.overhead_bytes);
    let mut nic = LosslessNic::new(pace, rate.bps(), overhead_bytes, queue_bytes, pause, reaction);
    let class = |raw: &RawNicClass| TrafficClass {
        priorities: raw.priorities,
        service: service(raw.service),
    };
    nic.share_among(&raw.classes.iter().map(class).collect::<Vec<_>>());
    if let Some(storm) = raw.storm {
        let (next, until) = (Time::from_ps(storm.from_ps), Time::from_ps(storm.until_ps));
        nic.storm(Storm { priorities: storm.priorities, next, until, frame: Packet::new_pause });
    }
    nic
}
