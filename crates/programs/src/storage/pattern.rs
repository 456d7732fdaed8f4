//! Which data the requests of a job ask for.

use tailrace_blockdev::Op;
use tailrace_units::{Distribution, Probability, RandomStream, Zipf, mix64};

/// Where requests begin.
#[derive(Clone, Debug)]
pub enum Access {
    /// Each behind the one before, of all that ask for data in order.
    Sequential,
    /// This share of them anywhere, the others in order.
    Random(Probability),
    /// Random blocks, some more often than others.
    Zipf(Zipf),
}

/// The pattern of a job's requests.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The share of requests that read.
    pub read: Probability,
    /// Where they begin.
    pub access: Access,
    /// Their bytes, rounded to sectors.
    pub block: Distribution,
    /// The least unit of the device, in bytes.
    pub sector: u64,
    /// First byte of the area of the job.
    pub first: u64,
    /// Bytes of that area, at least a block.
    pub area: u64,
}

/// A pattern, with where it is.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    pattern: Pattern,
    random: RandomStream,
    /// Where the next request in order begins, within the area.
    next: u64,
}

impl Draws {
    pub(super) fn new(pattern: Pattern, random: RandomStream) -> Draws {
        Draws { pattern, random, next: 0 }
    }

    /// Operation, first byte and length of the next request.
    pub(super) fn draw(&mut self) -> (Op, u64, u64) {
        let Pattern { ref block, sector, first, area, read, .. } = self.pattern;
        let op = if self.random.happens(read) { Op::Read } else { Op::Write };
        let sectors = block.draw(&mut self.random).saturating_add(sector / 2) / sector;
        let bytes = (sectors * sector).clamp(sector, area);
        (op, first + self.position(bytes), bytes)
    }

    fn position(&mut self, bytes: u64) -> u64 {
        let Pattern { ref access, area, .. } = self.pattern;
        let positions = area / bytes;
        match access {
            Access::Random(share) if self.random.happens(*share) => {
                self.random.below(positions) * bytes
            }
            Access::Zipf(zipf) => mix64(zipf.draw(&mut self.random)) % positions * bytes,
            Access::Sequential | Access::Random(_) => {
                let at = if self.next + bytes > area { 0 } else { self.next };
                self.next = at + bytes;
                at
            }
        }
    }
}
