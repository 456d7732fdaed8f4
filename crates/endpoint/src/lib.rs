//! The modelled host: applications, transport, receive offload and network interface. It does not
//! know the switch.
//!
//! Every part is a state machine that is handed the time; a packet passes them in the order of the
//! modules, down on the sending side and up on the receiving side.

pub mod app;
pub mod cause;
pub mod cpu;
pub mod gro;
pub mod host;
pub mod hypervisor;
pub mod ip;
pub mod nic;
mod tick;
pub mod transmit;
pub mod transport;
pub mod udp;
