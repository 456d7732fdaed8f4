//! Setting up interfaces by rtnetlink: the few requests that a lab needs.

mod link;
mod message;

pub use link::{Link, LinkCounters, Metrics, find};
pub use message::Netlink;
