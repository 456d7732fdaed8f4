//! Setting up interfaces by rtnetlink: the few requests that a lab needs.

mod link;
mod message;
mod queue;

pub use link::{Link, LinkCounters, LinkState, Metrics, find};
pub use message::Netlink;
pub use queue::{QdiscCounters, Shape};
