//! Both ends of a flow of datagrams. A datagram carries its number, as many bytes of it as it has
//! payload; the receiver draws the same arrivals and so knows when it was meant to be sent.

use std::collections::VecDeque;
use tailrace_units::Time;
use tailrace_workloads::Arrivals;

/// Bytes of a number.
const NUMBER_BYTES: usize = 8;
/// Datagrams whose time is remembered: one that is overtaken by more than these is not measured.
const REMEMBERED: usize = 1 << 16;

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    arrivals: Arrivals,
    number: u64,
    payload: Vec<u8>,
}

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    /// Times of the latest that were drawn, and the number behind the last of them.
    times: VecDeque<Time>,
    drawn: u64,
    /// The number behind the highest that has come.
    expected: u64,
}

impl Sender {
    pub fn new(arrivals: Arrivals) -> Sender {
        Sender { arrivals, number: 0, payload: Vec::new() }
    }

    /// When the next is sent.
    pub fn next_at(&self) -> Time {
        self.arrivals.next_at()
    }

    /// The payload of the next.
    pub fn take(&mut self) -> &[u8] {
        let bytes = self.arrivals.take().bytes as usize;
        self.payload.clear();
        self.payload.resize(bytes, 0);
        let number = self.number.to_le_bytes();
        let carried = bytes.min(NUMBER_BYTES);
        self.payload[..carried].copy_from_slice(&number[..carried]);
        self.number += 1;
        &self.payload
    }
}

impl Receiver {
    pub fn new(arrivals: Arrivals) -> Receiver {
        Receiver { arrivals, times: VecDeque::new(), drawn: 0, expected: 0 }
    }

    /// When the datagram whose payload begins so, of so many bytes, was meant to be sent; `None`
    /// where that is not known any more.
    pub fn intended(&mut self, start: &[u8], bytes: usize) -> Option<Time> {
        let number = self.number_of(&start[..bytes.min(NUMBER_BYTES)]);
        self.expected = self.expected.max(number + 1);
        while self.drawn <= number && !self.arrivals.next_at().is_never() {
            self.times.push_back(self.arrivals.take().at);
            self.drawn += 1;
            if self.times.len() > REMEMBERED {
                self.times.pop_front();
            }
        }
        let behind = self.drawn.checked_sub(number)?;
        let place = (self.times.len() as u64).checked_sub(behind)?;
        self.times.get(place as usize).copied()
    }

    /// The number that is nearest to the expected one among those with these low bytes.
    fn number_of(&self, carried: &[u8]) -> u64 {
        let mut low = [0; NUMBER_BYTES];
        low[..carried.len()].copy_from_slice(carried);
        let low = u64::from_le_bytes(low);
        if carried.len() == NUMBER_BYTES {
            return low;
        }
        let round = 1_u64 << (8 * carried.len());
        let same = self.expected - self.expected % round + low;
        let near = [same.checked_sub(round), Some(same), Some(same + round)];
        near.into_iter()
            .flatten()
            .min_by_key(|number| number.abs_diff(self.expected))
            .expect("the second is one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::{Distribution, RandomStream};
    use tailrace_workloads::{Arriving, Ends};

    fn ends(bytes: u64) -> (Sender, Receiver) {
        let ends = Ends { client: 0, server: 1 };
        let what = Arriving::Datagrams { ends, payload_max: 1_472, send_buffer_bytes: None };
        let gap = Distribution::Exponential { mean: 1_000_000 };
        let random = RandomStream::new(1, "pings/arrivals");
        let arrivals =
            Arrivals::new(0, what, Distribution::Constant(bytes), gap, 0, Time::ZERO, random);
        (Sender::new(arrivals.clone()), Receiver::new(arrivals))
    }

    /// Of `sent` datagrams of this size, those for which `comes` holds arrive: whether each is
    /// identified by its time.
    fn known(bytes: u64, sent: u64, comes: impl Fn(u64) -> bool) -> bool {
        let (mut sender, mut receiver) = ends(bytes);
        (0..sent).all(|number| {
            let at = sender.next_at();
            let payload = sender.take().to_vec();
            !comes(number) || receiver.intended(&payload, payload.len()) == Some(at)
        })
    }

    #[test]
    fn a_datagram_is_known_by_the_bytes_of_its_number_that_it_carries() {
        for bytes in [1, 2, 7, 8, 1_400] {
            assert!(known(bytes, 2_000, |_| true), "{bytes} bytes");
            assert!(known(bytes, 2_000, |number| number % 100 == 3), "{bytes} bytes with losses");
        }
        assert!(known(2, 200_000, |number| number % 20_000 == 3), "long gaps need two bytes");
        assert!(!known(1, 2_000, |number| number % 300 == 3), "one byte tells of gaps up to 128");
    }

    #[test]
    fn a_datagram_that_was_overtaken_is_known() {
        let (mut sender, mut receiver) = ends(1);
        let sent: Vec<(Time, Vec<u8>)> =
            (0..300).map(|_| (sender.next_at(), sender.take().to_vec())).collect();
        for (at, payload) in sent.chunks(2).flat_map(|pair| pair.iter().rev()) {
            assert_eq!(receiver.intended(payload, 1), Some(*at));
        }
    }
}
