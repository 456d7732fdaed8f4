//! Segments without a socket, which are answered by a reset (RFC 9293 section 3.10.7.1). Only
//! connections of programs are known here: those of workloads with one socket for each program are
//! never closed.

use super::Host;
use super::connections::Found;
use super::environment::Environment;
use super::opening::Opener;
use super::uplink::Uplink;
use tailrace_programs::App;
use tailrace_transport::ip::{Identity, TO_PORT};
use tailrace_transport::tcp::{Segment, Transmit as _, answer};
use tailrace_units::Time;
use tailrace_wire::Flags;

impl<P> Host<P> {
    /// A segment whose socket has another connection by now, or none.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_stray(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        out: &mut impl Environment<Place = P>,
    ) {
        match self.connections.find(segment.packet.flow_hash) {
            Some(Found::Live(socket)) => {
                if let App::Program(program) = self.table.sockets[socket as usize].app {
                    self.deliver_to_program(now, program, socket, segment, out);
                }
            }
            Some(Found::Gone(identity)) => self.refuse(now, segment, identity, out),
            None => {}
        }
    }

    /// A SYN has come to a port at which no program listens.
    pub(super) fn refuse_opening(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        out: &mut impl Environment<Place = P>,
    ) {
        let (packet, origin) = (segment.packet, Opener::of(segment.packet));
        let identity = Identity {
            flow_hash: origin.remote().key_from(self.number).hash(),
            to_endpoint: origin.socket,
            to_host: origin.host,
            tag: packet.tag,
            dscp: packet.dscp,
        };
        self.refuse(now, segment, identity, out);
    }

    /// Answers by a reset.
    fn refuse(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        mut identity: Identity,
        out: &mut impl Environment<Place = P>,
    ) {
        if identity.to_endpoint == TO_PORT {
            // This end was closed before it was open: only the answer to its SYN carries the peer's
            // socket.
            if !segment.packet.flags.contains(Flags::SYN.with(Flags::ACK)) {
                return;
            }
            identity.to_endpoint = Opener::of(segment.packet).socket;
        }
        let Host { attachment, nic, tcp, .. } = self;
        if let Some(reset) =
            answer(segment, &identity, tcp.header_bytes + u32::from(identity.tag.bytes()))
        {
            Uplink { attachment, nic, out, now, origin: None }.send(reset);
        }
    }
}
