//! Results of soft interrupts: segments for their connections, and the events that follow for
//! threads.

use super::{Context, ProgramEvent, Threads};
use crate::Host;
use crate::cpu::TaskId;
use crate::environment::{Environment, Timer};
use crate::event::{DiscardReason, Event};
use crate::gro::{Aggregate, Gro};
use crate::socket::UdpSocket;
use crate::uplink::Uplink;
use tailrace_programs::{App, Message};
use tailrace_transport::ip;
use tailrace_transport::tcp::{Segment, SegmentEffect};
use tailrace_transport::udp::Datagram;
use tailrace_units::Time;
use tailrace_wire::{Packet, Protocol};

/// Datagrams that wait for their program (Linux `net.core.rmem_default`, 212 992 bytes, with what
/// the kernel keeps for each).
const DATAGRAM_BYTES_MAX: u64 = 212_992;
const DATAGRAM_RECORD_BYTES: u64 = 768;

impl<P> Host<P> {
    pub(super) fn deliver_to_threads(
        &mut self,
        now: Time,
        mut gro: Gro,
        out: &mut impl Environment<Place = P>,
    ) -> Gro {
        for &Aggregate { ref packet, payload_bytes, segments, .. } in gro.aggregates() {
            match ip::protocol(packet) {
                Protocol::Tcp => {
                    out.on_event(
                        now,
                        &self.attachment,
                        Event::AggregateDelivered { packet, segments },
                    );
                    self.deliver_segment_to_thread(
                        now,
                        &Segment { packet, payload_bytes, segments },
                        out,
                    );
                }
                Protocol::Udp => {
                    out.on_event(
                        now,
                        &self.attachment,
                        Event::AggregateDelivered { packet, segments },
                    );
                    self.deliver_datagram_to_thread(now, packet, out);
                }
            }
        }
        gro.clear();
        gro
    }

    fn deliver_segment_to_thread(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        out: &mut impl Environment<Place = P>,
    ) {
        let number = segment.packet.to_endpoint;
        let Host { attachment, table, nic, threads, tcp: config, .. } = self;
        let Some(socket) = table.sockets.get_mut(number as usize) else {
            return self.admit_segment(now, segment, out);
        };
        if socket.expects != segment.packet.flow_hash {
            return self.deliver_stray(now, segment, out);
        }
        if let App::Program(program) = socket.app {
            return self.deliver_to_program(now, program, number, segment, out);
        }
        let threads = threads.as_mut().expect("the host has a processor");
        let before = socket.tcp.handed();
        let progress = socket.tcp.handle_segment(
            now,
            segment,
            &mut Uplink { nic, attachment, out, now, origin: None },
        );
        threads.charge_sent(&socket.tcp, before, config.tso_bytes);
        if socket.counts_goodput && progress.readable > 0 {
            out.on_event(
                now,
                attachment,
                Event::BytesReceived { owner: socket.owner, bytes: progress.readable },
            );
        }
        threads.tell_socket(number, &progress, now);
        if progress.acked > 0 {
            threads.unblock(number, &socket.tcp, now);
        }
        let due = socket.tcp.poll_timeout().min(threads.due_of(number, socket.app.poll_timeout()));
        out.hasten_socket(socket.timer, due);
    }

    fn deliver_datagram_to_thread(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut impl Environment<Place = P>,
    ) {
        let UdpSocket { expects, program, .. } = self.udp_sockets[packet.to_endpoint as usize];
        if expects != packet.flow_hash {
            if let Some(whole) = self.ip.put_together(now, packet) {
                self.deliver_datagram_to_thread(now, &whole, out);
            } else if self.ip.has_refused() {
                out.on_event(
                    now,
                    &self.attachment,
                    Event::DatagramDiscarded { packet, reason: DiscardReason::Reassembly },
                );
            }
            return;
        }
        let threads = self.threads.as_mut().expect("the host has a processor");
        let datagram = Datagram::of(packet);
        let (task, program_event) = match program {
            None => (
                threads.of_datagrams[packet.to_endpoint as usize],
                ProgramEvent::Datagram(datagram),
            ),
            Some((program, socket)) => {
                let message =
                    Message { socket, number: datagram.number, bytes: datagram.payload_bytes };
                (threads.programs[program as usize].main, ProgramEvent::Message(message))
            }
        };
        if !threads.tell_datagram(task, program_event, now) {
            out.on_event(
                now,
                &self.attachment,
                Event::DatagramDiscarded { packet, reason: DiscardReason::SocketBuffer },
            );
        }
    }

    /// Something of a socket with a program of its own is due: its transport acts in a soft
    /// interrupt, its program is woken.
    #[cold]
    #[inline(never)]
    pub(crate) fn interrupt_socket(
        &mut self,
        now: Time,
        number: u32,
        out: &mut impl Environment<Place = P>,
    ) {
        self.catch_up(now, out);
        let Host { attachment, table, nic, threads, tcp: config, .. } = self;
        let threads = threads.as_mut().expect("the host has a processor");
        let socket = &mut table.sockets[number as usize];
        threads.context = Context::Softirq(threads.core_of_flow(socket.expects));
        if socket.tcp.poll_timeout() <= now {
            let before = socket.tcp.handed();
            socket.tcp.handle_timeout(now, &mut Uplink { nic, attachment, out, now, origin: None });
            threads.charge_sent(&socket.tcp, before, config.tso_bytes);
        }
        if socket.app.poll_timeout() <= now {
            threads.tell_due(number, now);
        }
        let due = socket.tcp.poll_timeout().min(threads.due_of(number, socket.app.poll_timeout()));
        out.arm(attachment, Timer::Socket(socket.timer), due);
        self.run_processor(now, out);
    }

    /// The soft interrupt of a core carries out what follows, if the host has a processor: a timer
    /// has expired.
    pub(crate) fn begin_interrupt(&mut self, program: u32) {
        if let Some(threads) = &mut self.threads {
            let core = threads.processor.core_of(threads.programs[program as usize].main);
            threads.context = Context::Softirq(core);
        }
    }
}

impl Threads {
    fn tell_socket(&mut self, socket: u32, progress: &SegmentEffect, now: Time) {
        let Some(task) = self.task_of(socket) else { return };
        if progress.connected {
            self.post(task, ProgramEvent::Connected { socket }, now);
        }
        if progress.readable > 0 {
            self.post(task, ProgramEvent::Readable { socket, bytes: progress.readable }, now);
        }
    }

    fn tell_due(&mut self, socket: u32, now: Time) {
        let Some(task) = self.task_of(socket) else { return };
        if !std::mem::replace(&mut self.thread(task).is_due_reported, true) {
            self.post(task, ProgramEvent::Due, now);
        }
    }

    /// Posts an event to the thread of a program that waits for it.
    pub(crate) fn tell_program(&mut self, program: u32, program_event: ProgramEvent, now: Time) {
        let task = self.waiting_for(program, program_event.socket());
        self.post(task, program_event, now);
    }

    /// Returns whether its socket had room for it.
    fn tell_datagram(&mut self, task: TaskId, program_event: ProgramEvent, now: Time) -> bool {
        let held = |program_event: &ProgramEvent| match program_event {
            ProgramEvent::Datagram(Datagram { payload_bytes: bytes, .. })
            | ProgramEvent::Message(Message { bytes, .. }) => {
                u64::from(*bytes) + DATAGRAM_RECORD_BYTES
            }
            _ => 0,
        };
        let waiting: u64 = self.thread(task).inbox.iter().map(held).sum();
        if waiting > DATAGRAM_BYTES_MAX {
            self.counted.datagram_drops += 1;
            return false;
        }
        self.post(task, program_event, now);
        true
    }
}
