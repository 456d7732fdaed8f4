//! Requests and responses of a connection, from the order in which its ends send data.
//!
//! A request is what the client sends until the server sends data, and the response what the server
//! sends until the client sends again. What the client sends while a response is under way is the
//! next request; data of the server belong to the earlier one as long as they do not acknowledge
//! the new request.

mod conversation;
mod totals;

pub use conversation::{Conversation, Exchange, SegmentChange};
pub use totals::{ExchangeTotals, ExchangesSummary};
