//! The modelled TCP, two ends at a time, against what Linux and the RFCs do.

mod bbr;
mod closing;
mod congestion;
mod giving_up;
mod harness;
mod held_by_interface;
mod kernel_growth;
mod kernel_held;
mod kernel_receiver;
mod kernel_recovery;
mod kernel_slow_start;
mod kernel_sockets;
mod limits;
mod opening;
mod output;
mod pipe;
mod properties;
mod reading;
mod receiver;
mod recovery;
mod resets;
mod script;
mod stories;
