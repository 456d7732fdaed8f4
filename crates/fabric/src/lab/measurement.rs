//! Observations outside of the data plane: frames lost by hosts, and the load of the machine.

use super::hosts::Host;
use super::kind::FabricKind;
use crate::machine::Machine;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tailrace_outcome::{Cpu, Fabric, Interface, LossesOutside, NetworkOutcome};

/// Counters of hosts and of the machine during a measured interval.
#[derive(Debug)]
pub(super) struct Measurement {
    kind: FabricKind,
    at_begin: Machine,
    /// Whether the data plane runs before all ordinary threads.
    is_realtime: bool,
    /// The log of entering frames.
    log: Option<PathBuf>,
    /// Hosts and the machine at the end of the interval.
    at_end: Option<(Hosts, Machine)>,
}

/// Counters of the interfaces of hosts.
#[derive(Clone, Default, Debug)]
struct Hosts {
    /// Losses by host.
    losses: BTreeMap<String, LossesOutside>,
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

    /// Adds to an outcome the losses outside the modelled queues, by host, and the machine's
    /// processor time.
    pub(super) fn complete(&self, outcome: NetworkOutcome, hosts: &mut [Host]) -> NetworkOutcome {
        let (counted, machine) =
            self.at_end.clone().unwrap_or_else(|| (Hosts::read(hosts), Machine::now()));
        let Hosts { mut losses, sent_frames, received_frames, rows } = counted;
        let (idle, steal) = machine.idle_and_steal_since(self.at_begin);
        let reported = outcome.fabric.unwrap_or_default();
        for (host, failed) in reported.write_failed.iter().flatten() {
            losses.entry(host.clone()).or_default().write_failed = Some(*failed);
        }
        let is_own = self.kind == FabricKind::Tap;
        let fabric = Fabric {
            cpu: Cpu { idle_share: Some(idle), steal_share: Some(steal), ..reported.cpu },
            kind: Some(self.kind.name().to_owned()),
            frames_in: if is_own { reported.frames_in } else { Some(sent_frames) },
            frames_out: if is_own { reported.frames_out } else { Some(received_frames) },
            realtime: Some(self.is_realtime),
            replay_log: Some(self.log.as_ref().map(|log| log.to_string_lossy().into_owned())),
            frames_lost_outside: Some(losses),
            write_failed: None,
            ..reported
        };
        let netstat = rows.into_iter().chain(outcome.netstat).collect();
        NetworkOutcome { fabric: Some(fabric), netstat, ..outcome }
    }
}

impl Hosts {
    /// Frames that did not fit the queue of a host towards the fabric, and that a host did not
    /// take: each should be zero.
    fn read(hosts: &mut [Host]) -> Hosts {
        let mut read = Hosts::default();
        for host in hosts {
            let mut lost = LossesOutside::default();
            // Counters that cannot be read are no counters: nothing is claimed.
            if let Ok(counters) = host.counters() {
                (lost.tx_dropped, lost.rx_dropped) =
                    (Some(counters.tx_dropped), Some(counters.rx_dropped));
                read.sent_frames += counters.tx_packets;
                read.received_frames += counters.rx_packets;
            }
            read.rows.push(host.row());
            read.losses.insert(host.name.clone(), lost);
        }
        read
    }
}
