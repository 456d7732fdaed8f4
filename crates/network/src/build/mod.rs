//! Builds the models of a plan: switches, and interfaces of data-centre bridging.

mod interface;
mod switch;

pub use interface::lossless_nics;
pub use switch::notifies;
pub(crate) use switch::switches;
