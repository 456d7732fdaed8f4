//! Observations outside of the data plane: frames lost by hosts, and the load of the machine.

use super::hosts::Host;
use super::kind::FabricKind;
use crate::machine::Machine;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tailrace_outcome::Interface;

/// Counters of hosts and of the machine during a measured interval.
#[derive(Debug)]
pub(super) struct Measurement {
    kind: FabricKind,
    at_begin: Machine,
    /// Whether the data plane runs before all ordinary threads.
    is_realtime: bool,
    /// The log of what enters.
    log: Option<PathBuf>,
    /// Hosts and the machine at the end of the interval.
    at_end: Option<(Hosts, Machine)>,
}

/// What interfaces of hosts have counted.
#[derive(Clone, Default, Debug)]
struct Hosts {
    /// Losses by host.
    losses: Map<String, Value>,
    sent_frames: u64,
    received_frames: u64,
    /// Their interfaces as `netstat -i` has them.
    rows: Vec<Interface>,
}

impl Measurement {
    /// The first interval begins.
    pub(super) fn new(kind: FabricKind, is_realtime: bool, log: Option<PathBuf>) -> Measurement {
        Measurement { kind, at_begin: Machine::now(), is_realtime, log, at_end: None }
    }

    /// An interval begins.
    ///
    /// # Errors
    /// When a host's counters cannot be read.
    pub(super) fn begin(&mut self, hosts: &mut [Host]) -> Result<(), String> {
        (self.at_begin, self.at_end) = (Machine::now(), None);
        hosts.iter_mut().try_for_each(Host::begin_counting).map_err(|error| error.to_string())
    }

    /// The interval ends.
    pub(super) fn end(&mut self, hosts: &mut [Host]) {
        self.at_end = Some((Hosts::read(hosts), Machine::now()));
    }

    /// Adds to an outcome what was lost outside the modelled queues, by host, and the machine's processor time.
    pub(super) fn complete(&mut self, mut outcome: Value, hosts: &mut [Host]) -> Value {
        let (counted, machine) = self.at_end.clone().unwrap_or_else(|| (Hosts::read(hosts), Machine::now()));
        let mut losses = counted.losses;
        let (idle, steal) = machine.idle_and_steal_since(self.at_begin);
        let fabric = &mut outcome["fabric"];
        fabric["cpu"]["idle_share"] = idle.into();
        fabric["cpu"]["steal_share"] = steal.into();
        fabric["kind"] = self.kind.name().into();
        if self.kind != FabricKind::Tap {
            fabric["frames_in"] = counted.sent_frames.into();
            fabric["frames_out"] = counted.received_frames.into();
        }
        fabric["realtime"] = self.is_realtime.into();
        fabric["replay_log"] = json!(self.log);
        if let Some(failed) = fabric.as_object_mut().and_then(|fabric| fabric.remove("write_failed")) {
            losses.iter_mut().for_each(|(host, lost)| lost["write_failed"] = failed[host].clone());
        }
        fabric["frames_lost_outside"] = Value::Object(losses);
        let mut rows: Vec<Value> = counted.rows.iter().map(|row| json!(row)).collect();
        rows.extend(outcome["netstat"].as_array().cloned().unwrap_or_default());
        outcome["netstat"] = rows.into();
        outcome
    }
}

impl Hosts {
    /// Frames that did not fit the queue of a host towards the fabric, and that a host did not take: each should be
    /// zero.
    fn read(hosts: &mut [Host]) -> Hosts {
        let mut read = Hosts::default();
        for host in hosts {
            let mut lost = json!({});
            // Counters that cannot be read are no counters: nothing is claimed.
            if let Ok(counters) = host.counters() {
                lost = json!({ "tx_dropped": counters.tx_dropped, "rx_dropped": counters.rx_dropped });
                read.sent_frames += counters.tx_packets;
                read.received_frames += counters.rx_packets;
            }
            read.rows.push(host.row());
            read.losses.insert(host.name.clone(), lost);
        }
        read
    }
}
