//! The common part of live and exact runs: real frames in the network of a plan, and the settings
//! of the kernels that send them.
//!
//! The path of a frame: [`frame`] parses it, [`network`] has the switches and links of the plan and
//! knows no clock, [`network::outcome`] has the counters, and [`capture`] writes it to a file.
//! [`kernel`] gives a host its settings and addresses through [`netlink`].

pub mod capture;
pub mod frame;
pub mod kernel;
pub mod measured_plan;
pub mod netlink;
pub mod network;
pub mod options;

pub mod vhost_user;
pub mod vlans;

pub use tailrace_network::address;
