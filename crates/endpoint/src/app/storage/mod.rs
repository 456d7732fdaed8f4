//! Requests of storage: what an initiator asks of a block device, and what each request waited for.
//!
//! [`StorageClient`] is the program of an initiator. Its jobs draw requests from a [`Pattern`], pay for them with time of a processor and
//! hand them to a [`Path`], which leads to the device: [`LocalPath`] to one in the same host, others over the network to the program of
//! a target.

mod client;
mod job;
mod local;
mod path;
mod pattern;
#[cfg(test)]
mod tests;

pub use client::{StorageClient, StorageClientConfig};
pub use job::{JobConfig, Pace};
pub use local::LocalPath;
pub use path::{Command, Done, Outcome, Path, PathWaits};
pub use pattern::{Access, Pattern};
