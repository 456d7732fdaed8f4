//! Bulk TCP connections.

use crate::{
    Ends, Engine, Followed, Kind, LastingConnection, Unfollowed, WorkloadContext, WorkloadRecord,
};
use tailrace_plan::{RawObserve, RawStream, Stream};
use tailrace_programs::{App, Offer, StreamSink, StreamSource};
use tailrace_units::Time;

impl Kind for Stream {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        let connections = u64::from(self.raw.connections);
        let finite = if self.raw.bytes > 0 { connections } else { 0 };
        WorkloadRecord::new(observe, connections as usize, finite, finite)
    }

    fn followed(&self) -> Followed {
        if self.raw.bytes > 0 { Followed::Asking } else { Followed::Not(Unfollowed::Endless) }
    }

    fn open(&self, context: &WorkloadContext<'_>, engine: &mut dyn Engine) {
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        let pins = [self.pins[0].as_slice(), &self.pins[1]];
        for user in 0..self.raw.connections {
            let start =
                Time::from_ps(context.header.start_ps + u64::from(user) * self.raw.stagger_ps);
            let source = App::StreamSource(source(&self.raw, start));
            let sink = App::StreamSink(StreamSink::new(user, start, self.raw.bytes));
            engine.connect(LastingConnection {
                workload: context.number,
                user,
                ends,
                apps: [source, sink],
                goodput_at: 1,
                pins,
            });
        }
    }

    fn tells_connections(&self) -> bool {
        true
    }
}

fn source(raw: &RawStream, start: Time) -> StreamSource {
    let RawStream { rate_bps, connections, write_bytes, .. } = *raw;
    match rate_bps {
        0 => StreamSource::new(start, raw.bytes),
        _ => StreamSource::paced(
            start,
            raw.bytes,
            Offer { rate_bps, connections: u64::from(connections), write_bytes },
        ),
    }
}
