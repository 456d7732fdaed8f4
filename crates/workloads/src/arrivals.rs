//! Arrivals, which do not depend on the network: new flows, and datagrams.

use crate::Ends;
use tailrace_programs::{App, StreamSink, StreamSource};
use tailrace_units::{Distribution, RandomStream, Span, Time};

/// The arrivals of one workload, in order. They depend on nothing else: two hosts that draw them
/// know the same.
#[derive(Clone, Debug)]
pub struct Arrivals {
    workload: u32,
    what: Arriving,
    sizes: Distribution,
    interarrival: Distribution,
    /// How many are still to come.
    left: u64,
    random: RandomStream,
    next: Time,
}

/// The arriving items.
#[derive(Clone, Debug)]
pub enum Arriving {
    /// Connections that carry a number of bytes each.
    Flows {
        /// Each comes from one of these hosts.
        sources: Vec<u32>,
        /// It goes to one of these, never to its source.
        destinations: Vec<u32>,
    },
    /// Datagrams.
    Datagrams {
        /// From where to where.
        ends: Ends,
        /// The largest payload.
        payload_max: u32,
        /// Bytes that may wait in the interface of the sender before its program waits; `None`: any
        /// amount.
        send_buffer_bytes: Option<u64>,
    },
}

/// One flow or datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// From where to where.
    pub ends: Ends,
    /// Payload.
    pub bytes: u64,
}

impl Arrivals {
    /// This many arrivals after `start`; 0 for no end.
    pub fn new(
        workload: u32,
        what: Arriving,
        sizes: Distribution,
        interarrival: Distribution,
        count: u64,
        start: Time,
        random: RandomStream,
    ) -> Arrivals {
        let left = if count == 0 { u64::MAX } else { count };
        let mut arrivals =
            Arrivals { workload, what, sizes, interarrival, left, random, next: start };
        arrivals.next = start + arrivals.gap();
        arrivals
    }

    /// The same with the first of them at this time, which is not later than the first gap has
    /// ended.
    pub fn with_first_at(self, start: Time) -> Arrivals {
        Arrivals { next: start, ..self }
    }

    /// Index of the workload.
    pub fn workload(&self) -> u32 {
        self.workload
    }

    /// The arriving items.
    pub fn what(&self) -> &Arriving {
        &self.what
    }

    /// When the next comes, or [`Time::NEVER`] after the last.
    pub fn next_at(&self) -> Time {
        self.next
    }

    /// The arrival that comes next, which must not be never.
    pub fn take(&mut self) -> Arrival {
        let at = self.next;
        let bytes = self.sizes.draw(&mut self.random).max(1);
        self.left -= 1;
        self.next = if self.left > 0 { at + self.gap() } else { Time::NEVER };
        match &self.what {
            Arriving::Flows { sources, destinations } => {
                Arrival { at, ends: draw_ends(sources, destinations, &mut self.random), bytes }
            }
            &Arriving::Datagrams { ends, payload_max, .. } => {
                Arrival { at, ends, bytes: bytes.min(u64::from(payload_max)) }
            }
        }
    }

    /// Time to the next arrival.
    fn gap(&mut self) -> Span {
        Span::from_ps(self.interarrival.draw(&mut self.random))
    }
}

/// The programs of a flow that starts at `at`: its source and its sink.
pub fn flow_programs(at: Time, bytes: u64) -> [App; 2] {
    let source = StreamSource::new(at, bytes);
    let sink = StreamSink::new(u32::MAX, at, bytes);
    [App::StreamSource(source), App::StreamSink(sink)]
}

/// A source, and a destination that is another host.
fn draw_ends(sources: &[u32], destinations: &[u32], random: &mut RandomStream) -> Ends {
    let client = sources[random.below(sources.len() as u64) as usize];
    loop {
        // Ends soon: the plan guarantees a destination other than the source.
        let server = destinations[random.below(destinations.len() as u64) as usize];
        if server != client {
            return Ends { client, server };
        }
    }
}
