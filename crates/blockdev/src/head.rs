//! The head of a disk: how long it takes to come to the data.

use crate::config::HeadConfig;
use tailrace_units::{RandomStream, Span};

/// Binary digits of the share of the disk that a seek crosses, before its root is taken.
const SHARE_BITS: u32 = 40;

/// The head, with where it is.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    config: HeadConfig,
    at: u64,
}

impl Head {
    pub(crate) fn new(config: HeadConfig) -> Head {
        Head { config, at: 0 }
    }

    /// Brings the head to `offset` and over so many bytes. Data that follows the last read or write
    /// needs neither a seek nor a part of a turn: the disk reads ahead and gathers writes of a
    /// track.
    pub(crate) fn come(&mut self, offset: u64, bytes: u64, random: &mut RandomStream) -> Span {
        let before = std::mem::replace(&mut self.at, offset + bytes);
        if before == offset {
            return Span::ZERO;
        }
        self.seek(before.abs_diff(offset))
            + Span::from_ps(random.below(self.config.turn.ps().max(1)))
    }

    /// Between the shortest seek and that over the whole disk by the root of the distance (Ruemmler
    /// and Wilkes 1994: short seeks, which accelerate and brake).
    fn seek(&self, distance: u64) -> Span {
        let HeadConfig { seek_track, seek_full, capacity, .. } = self.config;
        let share = (u128::from(distance.min(capacity)) << SHARE_BITS) / u128::from(capacity);
        let root = (share as u64).isqrt();
        let more =
            (u128::from(seek_full.less(seek_track).ps()) * u128::from(root)) >> (SHARE_BITS / 2);
        seek_track + Span::from_ps(more as u64)
    }
}
