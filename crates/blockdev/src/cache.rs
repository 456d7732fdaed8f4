//! The write-back cache: its contents, requests that wait for room, and writes that are on the
//! medium.

use crate::config::CacheConfig;
use std::collections::{BTreeSet, VecDeque};

/// A cache and its contents.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) config: CacheConfig,
    used: u64,
    /// Pieces whose data has come and that have no room.
    waiting: VecDeque<u32>,
}

impl Cache {
    pub(crate) fn new(config: CacheConfig) -> Cache {
        Cache { config, used: 0, waiting: VecDeque::new() }
    }

    /// The data of a piece has come.
    pub(crate) fn queue(&mut self, piece: u32) {
        self.waiting.push_back(piece);
    }

    /// The next piece, if there is room for it. One that is larger than the cache goes into an
    /// empty one.
    pub(crate) fn take(&mut self, bytes_of: impl FnOnce(u32) -> u64) -> Option<u32> {
        let &piece = self.waiting.front()?;
        let bytes = bytes_of(piece);
        if self.used > 0 && self.used + bytes > self.config.bytes {
            return None;
        }
        self.used += bytes;
        self.waiting.pop_front()
    }

    /// So much is on the medium.
    pub(crate) fn drained(&mut self, bytes: u64) {
        self.used -= bytes;
    }

    /// Whether a write waits for room.
    pub(crate) fn is_full(&self) -> bool {
        !self.waiting.is_empty()
    }
}

/// Writes by number, and the flushes that wait for them.
#[derive(Clone, Default, Debug)]
pub(crate) struct WriteOrder {
    next: u64,
    /// Contents that are not on the medium.
    missing: BTreeSet<u64>,
    /// Requests that wait until all writes below a number are there, in order.
    flushes: VecDeque<(u64, u32)>,
}

impl WriteOrder {
    /// A write is submitted. Returns its number, from 1.
    pub(crate) fn add(&mut self) -> u64 {
        self.next += 1;
        self.missing.insert(self.next);
        self.next
    }

    /// A write is on the medium.
    pub(crate) fn written(&mut self, serial: u64) {
        self.missing.remove(&serial);
    }

    /// A flush waits for all writes until now.
    pub(crate) fn flush(&mut self, request: u32) {
        self.flushes.push_back((self.next, request));
    }

    /// A flush whose writes are all there.
    pub(crate) fn poll_flushed(&mut self) -> Option<u32> {
        let first = self.missing.first().copied().unwrap_or(u64::MAX);
        let &(last, request) = self.flushes.front()?;
        (last < first).then(|| {
            self.flushes.pop_front();
            request
        })
    }

    /// Whether a flush waits.
    pub(crate) fn is_flushing(&self) -> bool {
        !self.flushes.is_empty()
    }
}
