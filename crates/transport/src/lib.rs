//! The transports of a host: TCP and UDP over IP, without the host. Nothing else of the project is
//! needed to run one end of a connection.
//!
//! Every part is a state machine that is handed segments and the time, and hands frames to
//! [`transmit::Transmit`].

pub mod ip;
pub mod tcp;
mod tick;
pub mod transmit;
pub mod udp;
