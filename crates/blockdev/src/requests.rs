//! Requests, the pieces that they are split into, and their completions.

use tailrace_units::{Span, Time};

/// The operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Data from the device.
    Read,
    /// Data to the device.
    Write,
    /// Everything that was written before is to be on the medium.
    Flush,
}

/// A request of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its operation.
    pub op: Op,
    /// Its first byte on the device.
    pub offset: u64,
    /// Its length; 0 for a flush, above 0 otherwise.
    pub bytes: u64,
    /// Chosen by the host.
    pub tag: u64,
}

/// A request is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The request's tag.
    pub tag: u64,
    /// Its operation.
    pub op: Op,
    /// When it was submitted.
    pub submitted: Time,
    /// When its last piece was complete.
    pub at: Time,
    /// How long that piece waited in the block layer and in the device.
    pub queue: Span,
    /// How long the medium and the link served it: together with `queue` the whole time.
    pub device: Span,
    /// Pieces that it was split into.
    pub pieces: u32,
    /// From the submission to the completion of each piece, added up (`await` of iostat is its
    /// mean).
    pub pieces_wait: Span,
    /// How long the device had something to do since the completion before (`%util` of iostat is
    /// its share of time).
    pub busy: Span,
}

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Underway {
    pub(crate) request: Request,
    pub(crate) submitted: Time,
    pub(crate) pieces: u32,
    pub(crate) left: u32,
    pub(crate) pieces_wait: Span,
}

/// The requests that the device is handed at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Index of its request.
    pub(crate) request: u32,
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// The number of a write; 0 for reads.
    pub(crate) serial: u64,
    /// Time in which the medium and the link serve it.
    pub(crate) served: Span,
}

/// Values under numbers that are used again.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    pub(crate) fn new() -> Slab<T> {
        Slab { values: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn add(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.values[number as usize] = value;
            return number;
        }
        self.values.push(value);
        self.values.len() as u32 - 1
    }

    pub(crate) fn at(&mut self, number: u32) -> &mut T {
        &mut self.values[number as usize]
    }

    pub(crate) fn take(&mut self, number: u32) -> T {
        self.free.push(number);
        self.values[number as usize]
    }
}
