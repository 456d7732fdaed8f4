//! Bulk TCP connections.

use super::{Place, SimulatedKind, arm_socket};
use crate::observe::WorkloadRecord;
use crate::world::World;
use crate::world::connection::{Connection, Ends};
use tailrace_endpoint::app::{App, Offer, StreamSink, StreamSource};
use tailrace_plan::{RawObserve, RawStream, Stream};
use tailrace_units::Time;

impl SimulatedKind for Stream {
    fn record(&self, observe: &RawObserve) -> WorkloadRecord {
        let connections = u64::from(self.raw.connections);
        let finite = if self.raw.bytes > 0 { connections } else { 0 };
        WorkloadRecord::new(observe, connections as usize, finite, finite)
    }

    fn open(&self, place: &Place<'_>, world: &mut World) {
        let ends = Ends { client: self.source as u32, server: self.destination as u32 };
        for i in 0..self.raw.connections {
            let start = Time::from_ps(place.header.start_ps + u64::from(i) * self.raw.stagger_ps);
            let source = App::StreamSource(source(&self.raw, start));
            let sink = App::StreamSink(StreamSink::new(i, start, self.raw.bytes));
            let (tag, dscp, workload, apps) = (place.tag(), place.header.dscp, place.number, [source, sink]);
            let connection = Connection { ends, workload, tag, dscp, apps, goodput_at: 1, is_transient: false };
            let (client, server) = world.connect(connection);
            world.pin(place.plan, client, &self.pins[0]);
            world.pin(place.plan, server, &self.pins[1]);
            arm_socket(world, client);
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
        _ => StreamSource::paced(start, raw.bytes, Offer { rate_bps, connections: u64::from(connections), write_bytes }),
    }
}
