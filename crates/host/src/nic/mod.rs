//! The transmit side of a network interface: a plain queue, or one that takes part in data-centre
//! bridging.

mod bonded;
mod classes;
mod lane;
mod lossless;
mod plain;
mod reaction;

pub use bonded::{BondPolicy, BondedInterface, BondedNic};
pub use classes::TrafficClass;
pub use lossless::{LosslessNic, Storm};
pub use plain::PlainNic;
pub use reaction::{ReactionPoint, ReactionPolicy};

use tailrace_units::Time;

/// The transmit side of an interface.
#[derive(Debug)]
pub enum Nic {
    /// Sends in order and ignores control frames.
    Plain(PlainNic),
    /// Obeys pauses and notifications.
    Lossless(Box<LosslessNic>),
    /// Several plain ones.
    Bonded(Box<BondedNic>),
}

impl Nic {
    /// When it must be called, or [`Time::NEVER`].
    pub fn poll_timeout(&self) -> Time {
        match self {
            Nic::Plain(_) | Nic::Bonded(_) => Time::NEVER,
            Nic::Lossless(nic) => nic.poll_timeout(),
        }
    }

    /// The interface that takes part in data-centre bridging, if it is one.
    pub fn lossless(&self) -> Option<&LosslessNic> {
        match self {
            Nic::Plain(_) | Nic::Bonded(_) => None,
            Nic::Lossless(nic) => Some(nic),
        }
    }

    /// The same, for pause frames and congestion notifications that have come. A plain interface
    /// ignores them.
    pub fn lossless_mut(&mut self) -> Option<&mut LosslessNic> {
        match self {
            Nic::Plain(_) | Nic::Bonded(_) => None,
            Nic::Lossless(nic) => Some(nic),
        }
    }

    /// The bond, if it is one.
    pub fn bonded(&self) -> Option<&BondedNic> {
        match self {
            Nic::Plain(_) | Nic::Lossless(_) => None,
            Nic::Bonded(nic) => Some(nic),
        }
    }

    /// The same for writing, to count arrivals at its interfaces.
    pub fn bonded_mut(&mut self) -> Option<&mut BondedNic> {
        match self {
            Nic::Plain(_) | Nic::Lossless(_) => None,
            Nic::Bonded(nic) => Some(nic),
        }
    }

    /// Frames that wait for their transmission to be chosen. A plain interface has chosen when it
    /// is handed a frame.
    pub fn waiting_frames(&self) -> u64 {
        self.lossless().map_or(0, LosslessNic::waiting_frames)
    }

    /// Frames that it has sent, or whose departure is decided.
    pub fn sent_frames(&self) -> u64 {
        match self {
            Nic::Plain(nic) => nic.sent_frames,
            Nic::Lossless(nic) => nic.sent_frames,
            Nic::Bonded(nic) => {
                nic.interfaces().iter().map(|interface| interface.sent_frames).sum()
            }
        }
    }

    /// Frames that did not fit its queue.
    pub fn queue_drops(&self) -> u64 {
        match self {
            Nic::Plain(nic) => nic.queue_drops,
            Nic::Lossless(nic) => nic.queue_drops,
            Nic::Bonded(nic) => nic.queue_drops(),
        }
    }

    /// Counts from `now` on.
    pub fn begin_counting(&mut self, now: Time) {
        match self {
            Nic::Plain(nic) => (nic.queue_drops, nic.sent_frames) = (0, 0),
            Nic::Lossless(nic) => nic.begin_counting(now),
            Nic::Bonded(nic) => nic.begin_counting(),
        }
    }
}
