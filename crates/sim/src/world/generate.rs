//! What arrives by itself, whatever the network does: new flows, and datagrams.

use super::World;
use super::connection::{Connection, Ends};
use crate::generator::GeneratorKind;
use tailrace_endpoint::app::{App, StreamSink, StreamSource};
use tailrace_units::{RandomStream, Time};
use tailrace_wire::Tag;

/// A flow to be opened.
struct NewFlow {
    workload: u32,
    tag: Tag,
    dscp: u8,
    ends: Ends,
}

impl World {
    /// A generator is due: makes one flow or datagram and draws when the next comes.
    #[inline(never)]
    pub(crate) fn generate(&mut self, now: Time, index: usize) {
        let generator = &mut self.generators[index];
        let size = generator.sizes.draw(&mut generator.random).max(1);
        generator.left -= 1;
        let next = if generator.left > 0 { now + generator.gap() } else { Time::NEVER };
        self.links.agenda.arm(self.first_generator_source + index as u32, next);
        let generator = &mut self.generators[index];
        match &generator.kind {
            GeneratorKind::Flows { sources, destinations } => {
                let ends = draw_ends(sources, destinations, &mut generator.random);
                let flow = NewFlow { workload: generator.workload, tag: generator.tag, dscp: generator.dscp, ends };
                self.open_flow(now, flow, size);
            }
            &GeneratorKind::Datagrams { host, socket, payload_max } => {
                let payload = u32::try_from(size).unwrap_or(u32::MAX).min(payload_max);
                let (host, out) = self.host_and_links(host);
                host.send_datagram(now, socket, payload, out);
            }
        }
    }

    fn open_flow(&mut self, now: Time, flow: NewFlow, bytes: u64) {
        let NewFlow { workload, tag, dscp, ends } = flow;
        let source = App::StreamSource(StreamSource::new(now, bytes));
        let sink = App::StreamSink(StreamSink::new(u32::MAX, now, bytes));
        let connection = Connection { ends, workload, tag, dscp, apps: [source, sink], goodput_at: 1, is_transient: true };
        let (client, _) = self.connect(connection);
        self.wake_socket(now, client);
    }
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
