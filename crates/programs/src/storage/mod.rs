//! Requests of storage: those of an initiator to a block device, and the waits of each.
//!
//! [`StorageClient`] is the program of an initiator. Its jobs draw requests from a [`Pattern`], pay
//! for them with time of a processor and hand them to a [`Path`], which leads to the device:
//! [`LocalPath`] to one in the same host, others over the network to the program of a target.

mod client;
mod job;
mod local;
mod network;
mod path;
mod pattern;
pub mod protocol;
mod target;
#[cfg(test)]
mod tests;
mod wires;

pub use client::{StorageClient, StorageClientConfig};
pub use job::{JobConfig, Pace};
pub use local::LocalPath;
pub use network::{NetworkPath, NetworkPathConfig};
pub use path::{Command, Done, Outcome, Path, PathWaits};
pub use pattern::{Access, Pattern};
pub use target::{StorageTarget, StorageTargetConfig};
pub use wires::Wires;
