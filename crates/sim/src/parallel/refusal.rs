//! Refusals: reasons for which a plan cannot run in several parts.

use std::fmt;

/// The obstacle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// All nodes would be in one part.
    OneGroup,
    /// The link has no delay: without lookahead neither part can advance before the other.
    NoDelay {
        /// The ends of a link.
        ends: [String; 2],
    },
    /// The end of a flow at this host is not known beforehand: it is when a program has read it.
    Receiver {
        /// Name of the workload.
        name: String,
        /// A virtual machine, or a host with a processor.
        host: String,
    },
    /// Its programs open connections, and switches notify senders of congestion, which they know by
    /// their sockets.
    Opening {
        /// Name of the workload.
        name: String,
    },
    /// An act of this workload happens at two hosts at once.
    Workload {
        /// Its name.
        name: String,
    },
}

impl Refusal {
    /// The fault.
    pub fn what(&self) -> String {
        match self {
            Refusal::OneGroup => {
                "all hosts are at one switch, or joined by hosts with several links: such a network is not divided".to_owned()
            }
            Refusal::NoDelay { ends: [a, b] } => {
                format!(
                    "the link from {a} to {b} has no delay, and neither links at which a network is divided nor those to receivers of flows may be without"
                )
            }
            Refusal::Receiver { host, .. } => {
                format!(
                    "its flows can end at {host}, a virtual machine or a host with cpu.cores, and when is not known beforehand"
                )
            }
            Refusal::Opening { .. } => {
                "its connections open while the trial runs, which is not divided beside switches with congestion notification (qcn)"
                    .to_owned()
            }
            Refusal::Workload { .. } => {
                "only streams, datagrams, flows, requests, replayed requests and databases with lasting connections run on \
                 several cores so far; programs of other kinds do something at two hosts at once"
                    .to_owned()
            }
        }
    }

    /// The workload of the refusal.
    pub fn workload(&self) -> Option<&str> {
        match self {
            Refusal::Workload { name }
            | Refusal::Receiver { name, .. }
            | Refusal::Opening { name } => Some(name),
            Refusal::OneGroup | Refusal::NoDelay { .. } => None,
        }
    }

    /// The ends of the link of the refusal.
    pub fn link(&self) -> Option<&[String; 2]> {
        if let Refusal::NoDelay { ends } = self { Some(ends) } else { None }
    }

    /// The fix.
    pub fn hint(&self) -> &'static str {
        match self {
            Refusal::NoDelay { .. } => "one core, or a delay",
            Refusal::OneGroup
            | Refusal::Workload { .. }
            | Refusal::Receiver { .. }
            | Refusal::Opening { .. } => "one core",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.workload() {
            write!(f, "workload {name}: ")?;
        }
        write!(f, "{} (hint: {})", self.what(), self.hint())
    }
}

impl std::error::Error for Refusal {}
