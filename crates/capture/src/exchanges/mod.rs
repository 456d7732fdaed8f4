//! Requests and responses of a connection, from the order in which its ends send data.
//!
//! A request is the client's data until the server sends data, and the response is the server's
//! data until the client sends again. Data of the client during a response are the next request;
//! data of the server belong to the earlier one as long as they do not acknowledge the new request.

mod conversation;
mod totals;

pub use conversation::{Conversation, Exchange, SegmentChange};
pub use totals::{ExchangeTotals, ExchangesSummary};
