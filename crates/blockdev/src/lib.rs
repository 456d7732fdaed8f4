//! A block device as a host sees it: the block layer that splits requests and keeps them until the
//! device takes them, and the device itself with its servers, its link, its write cache and, of a
//! disk, its head.
//!
//! Like the switch it is a state machine that is handed the time: [`Device::submit`],
//! [`Device::poll_timeout`], [`Device::handle_timeout`], [`Device::poll_completion`].

mod cache;
mod config;
mod device;
mod head;
mod link;
mod requests;
mod servers;
mod shared;
#[cfg(test)]
mod tests;

pub use config::{CacheConfig, DeviceConfig, HeadConfig, Limits, LinkConfig};
pub use device::Device;
pub use requests::{Completion, Op, Request};
pub use shared::DeviceUser;
