//! The modelled TCP, two ends at a time, against what Linux and the RFCs do.

mod congestion;
mod harness;
mod kernel;
mod opening;
mod output;
mod properties;
mod receiver;
mod recovery;
mod script;
mod stories;
