//! The transmit side of a network interface: a plain queue, or one that takes part in data-centre bridging.

mod lane;
mod lossless;
mod plain;
mod reaction;

pub use lossless::{LosslessNic, Storm};
pub use plain::Nic;
pub use reaction::{ReactionPoint, ReactionPolicy};
