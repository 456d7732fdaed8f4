//! Profiles of captures: pcap and pcapng files, read once from beginning to end in memory of a
//! fixed size, and statistics of their traffic: sizes, rates, flows, TCP, requests and responses,
//! concurrent senders.

mod addresses;
mod anonymise;
pub mod decode;
mod distribution;
mod error;
mod exchanges;
mod flows;
mod options;
mod profile;
mod profiler;
pub mod reader;
mod tables;
mod tcp;
mod traffic;

pub use error::CaptureError;
pub use options::Options;
pub use profile::Profile;
