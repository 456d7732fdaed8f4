//! The outcome of a trial as a type: what every engine writes and every reader finds, one module
//! for each part.
//!
//! An engine builds these types and nothing else; what it cannot tell is absent, which is not zero.
//! The members of each struct stand in the order of their names, as they do in files. A key that is
//! not known is refused.

mod exact;
mod fabric;
mod host;
mod hypervisor;
mod interface;
mod latency;
mod limits;
mod live;
mod mpi;
mod network;
mod nullable;
mod port;
mod processor;
mod requests;
mod storage;
mod switch;
mod tables;
mod traffic;
mod tree;
mod trial;
mod workload;

pub use exact::{Capture, Exact, ExactHost, ExactPrograms, Registers, Turns};
pub use fabric::{Cpu, Delays, Fabric, LatenessUs, LossesOutside, Stalls};
pub use host::{BondedInterface, Failure, Host, Ip, Program, Side};
pub use hypervisor::{Hypervisor, HypervisorPort, HypervisorTask, TaskKind};
pub use interface::{Interface, LosslessInterface};
pub use latency::{CutOff, Latency};
pub use limits::Limits;
pub use live::{
    Connections, CoreWait, Counters, Ends, HostSettings, Interfaces, LatenessEffect, Live,
    LivePrograms, MachineTimes, RoundTrip, SpentTimes, SwitchTimes,
};
pub use mpi::{MpiSize, MpiTimes};
pub use network::{Conservation, NetworkOutcome};
pub use nullable::Nullable;
pub use port::{Dpp, Elephants, Group, MtuDrops, Pause, Port, Qcn, Queue, SourceTraffic};
pub use processor::{ControlGroup, CoreTimes, Processor, ProcessorWorkload};
pub use requests::{BlockCounts, RequestCounts};
pub use storage::{
    BackingDisk, DiskLimits, DiskRates, StorageDevices, StorageInitiator, StorageOp,
    StorageRequests, StorageWaits,
};
pub use switch::{Dropped, Drops, SourceLosses, Switch};
pub use tables::{ColumnValues, TableColumns, Tables};
pub use traffic::{TrafficHost, TrafficOutcome};
pub use tree::{BlockedPort, Bridge, Tree};
pub use trial::{CancelledOutcome, Outcome};
pub use workload::{DatagramCounts, Tcp, Workload};
