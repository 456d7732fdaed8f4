//! Flows: the state of each conversation, and the table that holds them.

mod flow;
mod fragments;
mod key;
mod sizes;
mod table;

pub use flow::{Flow, Way};
pub use fragments::Fragments;
pub use key::Key;
pub use sizes::{FlowSizes, FlowSizesSummary, Largest};
pub use table::FlowTable;

/// TCP's number (IANA).
pub const TCP: u8 = 6;
/// UDP's number (IANA).
pub const UDP: u8 = 17;
