//! Why a plan is not run in several parts.

use std::fmt;

/// What stands against it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// All nodes would be in one part.
    OneGroup,
    /// Nothing can be said about the next moment of one part without the other.
    NoDelay {
        /// The ends of a link.
        ends: [String; 2],
    },
    /// When a flow ends at this host is not known beforehand: it is when a program has read it.
    Receiver {
        /// Name of the workload.
        name: String,
        /// A virtual machine, or a host with a processor.
        host: String,
    },
    /// Its programs open connections, and beside that something else would depend on the order in which hosts of several parts do so.
    Opening {
        /// Name of the workload.
        name: String,
        /// What else.
        beside: Beside,
    },
    /// Something that this workload does happens at two hosts at once.
    Workload {
        /// Its name.
        name: String,
    },
}

/// What programs that open connections are not run beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// Flows, which have the same numbers in all parts.
    Flows,
    /// Switches that tell senders of congestion: they know them by their sockets.
    Notification,
    /// Programs of another workload at the same host, where frames of observed ports are counted by workload.
    Others,
}

impl Refusal {
    /// What is wrong.
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
            Refusal::Opening { beside, .. } => {
                let beside = match beside {
                    Beside::Flows => "workloads of kind flows",
                    Beside::Notification => "switches with congestion notification (qcn)",
                    Beside::Others => "another workload of requests at the same host, where ports are observed",
                };
                format!("its connections open while the trial runs, which is not divided beside {beside}")
            }
            Refusal::Workload { .. } => {
                "only streams, datagrams, flows, requests, replayed requests and databases with lasting connections run on \
                 several cores so far; programs of other kinds do something at two hosts at once"
                    .to_owned()
            }
        }
    }

    /// The workload that it is about.
    pub fn workload(&self) -> Option<&str> {
        match self {
            Refusal::Workload { name } | Refusal::Receiver { name, .. } | Refusal::Opening { name, .. } => Some(name),
            Refusal::OneGroup | Refusal::NoDelay { .. } => None,
        }
    }

    /// The ends of the link that it is about.
    pub fn link(&self) -> Option<&[String; 2]> {
        if let Refusal::NoDelay { ends } = self { Some(ends) } else { None }
    }

    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Refusal::NoDelay { .. } => "one core, or a delay",
            Refusal::OneGroup | Refusal::Workload { .. } | Refusal::Receiver { .. } | Refusal::Opening { .. } => "one core",
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
