//! The network of a plan, for any engine: switches, the directions of links, records of observed
//! ports, control frames for hosts, and the reports of ports at the end.
//!
//! It knows no agenda and no clock. An engine decides in which order wires and switches are
//! handled; [`Medium`] is the engine's side. Frames may be the simulator's packets or headers of
//! real frames ([`NetworkFrame`]).

pub mod address;
mod build;
mod control;
mod digest_location;
mod flight;
mod frame;
mod outcome;
mod record;
mod ring;
mod switch;
mod topology;
mod wire;

pub use build::{lossless_nics, notifies};
pub use control::{ControlQueue, deliver_to, notification};
pub use digest_location::DigestLocation;
pub use flight::pace_of;
pub use frame::{Frames, NetworkFrame};
pub use outcome::{
    Counted, OnWires, deadlock, interface_summary, port_series, ports, queue_depth, switch_rows,
    switch_summaries,
};
pub use record::{PortEvent, PortRecord};
pub use switch::{Losses, Medium, Notice, SwitchNode, SwitchOutputs};
pub use tailrace_wire::address_of;
pub use topology::{HostLink, Topology};
pub use wire::{End, Origin, Wire};
