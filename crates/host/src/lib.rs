//! The modelled host, and the hypervisor that several share; a host knows no switch.
//!
//! A host has its interface ([`nic`]), the work of receiving, its cores ([`cpu`]), its sockets and
//! their programs. It is handed frames and the time, as a switch is.
//!
//! A frame comes up in the order `receive` (poll, ring, merging, work), transport, program; it goes
//! down by `uplink`.

mod connections;
mod cores;
mod counted;
pub mod cpu;
mod due;
mod environment;
mod event;
pub mod gro;
mod hosted;
mod hosted_calls;
mod hosted_events;
pub mod hypervisor;
mod moderation;
pub mod nic;
mod opening;
mod ports;
mod programs;
mod receive;
mod socket;
mod strays;
mod table;
mod threaded_calls;
mod threads;
mod uplink;

pub use crate::cpu::softirq::POLL_BUDGET;
pub use cores::Cores;
pub use counted::HostCounters;
pub use environment::{Environment, Link, ReceiveRing, Timer, Timers};
pub use event::{Carried, Completion, DiscardReason, Event, Observer, Opened};
pub use moderation::Moderation;
pub use opening::sender_of;
pub use ports::ClientPorts;
pub use programs::NewProgram;
pub use receive::ReceivePolicy;
pub use socket::{NewSocket, NewUdpSocket, Socket};
pub use threads::{KernelCosts, ProcessorPolicy, ReceiveCounters};

use crate::gro::Aggregate;
use crate::nic::Nic;
use connections::Connections;
use programs::{Hosted, Listeners};
use receive::{Polled, ReceiveStage};
use socket::{OwnSocket, UdpSocket};
use table::SocketTable;
use tailrace_programs::App;
use tailrace_transport::ip::{self, Ip, ReassemblyPolicy, TO_PORT, Ticks};
use tailrace_transport::tcp::{Segment, Tcp, TcpConfig};
use tailrace_transport::udp::{Datagram, SendBuffer, Udp};
use tailrace_units::{Span, Time};
use tailrace_wire::{Packet, Protocol};
use threads::Threads;
use uplink::Uplink;

/// A claimant of a core.
#[derive(Clone, Copy, Debug)]
enum Waiter {
    /// The program of this socket.
    Socket(u32),
    /// A thread of a program with several sockets.
    Thread { program: u32, thread: u32 },
}

/// The parts of a host.
#[derive(Debug)]
pub struct HostConfig<P> {
    /// Where it is attached; the engine's own.
    pub attachment: P,
    /// Its number, which frames for it carry.
    pub number: u16,
    /// The transmit side of its interface.
    pub nic: Nic,
    /// The receive side.
    pub receive: ReceivePolicy,
    /// Cores for programs; 0 for as many as there is work.
    pub program_cores: u32,
    /// How long a program has a core while others wait.
    pub time_slice: Span,
    /// Its processor, which does all work of kernel and programs; without one, receiving has a core
    /// and programs have others.
    pub processor: Option<ProcessorPolicy>,
    /// Settings of its connections.
    pub tcp: TcpConfig,
    /// Longest IP packet that its interface sends.
    pub mtu_bytes: u32,
    /// How it puts datagrams together.
    pub reassembly: ReassemblyPolicy,
}

/// A host.
pub struct Host<P> {
    attachment: P,
    nic: Nic,
    receive: ReceiveStage,
    table: SocketTable,
    /// Sockets for datagrams have numbers of their own.
    udp_sockets: Vec<UdpSocket>,
    /// Programs that own several sockets.
    hosted: Vec<Hosted>,
    listeners: Listeners,
    connections: Connections,
    cores: Cores<Waiter>,
    threads: Option<Box<Threads>>,
    tcp: TcpConfig,
    ports: ClientPorts,
    number: u16,
    ip: Box<Ip>,
}

impl<P> Host<P> {
    /// A host without sockets.
    pub fn new(config: HostConfig<P>) -> Host<P> {
        let clock = Ticks { tick: config.tcp.tick, phase: config.tcp.tick_phase };
        let ReceivePolicy { gro_bytes, ring_frames, .. } = config.receive;
        Host {
            attachment: config.attachment,
            nic: config.nic,
            receive: ReceiveStage::new(config.receive, config.processor.is_some()),
            table: SocketTable::default(),
            udp_sockets: Vec::new(),
            hosted: Vec::new(),
            listeners: Listeners::default(),
            connections: Connections::default(),
            cores: Cores::new(config.program_cores, config.time_slice),
            threads: config
                .processor
                .map(|policy| Box::new(Threads::new(policy, gro_bytes, ring_frames))),
            tcp: config.tcp,
            ports: ClientPorts::new(),
            number: config.number,
            ip: Box::new(Ip::new(config.mtu_bytes, config.number, config.reassembly, clock)),
        }
    }

    /// Connections that an owner opens have ports of this range, the first and the last port.
    pub fn give_ports(&mut self, owner: u32, range: (u16, u16)) {
        self.ports.give_range(owner, range);
    }

    /// The next port for a connection of an owner that is not in use. Where all are, connections
    /// share ports.
    pub fn take_port(&mut self, owner: u32) -> u16 {
        self.ports.take(owner)
    }

    /// Ports of clients in use.
    pub fn ports_in_use(&self) -> u32 {
        self.ports.used()
    }

    /// The number that the next socket of this owner will have.
    pub fn next_socket(&self, owner: u32) -> u32 {
        self.table.next(owner)
    }

    /// Opens a socket; its program is called first when it is due. Returns its number.
    pub fn open(&mut self, new: NewSocket) -> u32 {
        let NewSocket { identity, expects, app, owner, timer, port, counts_goodput, is_transient } =
            new;
        let mut tcp = Tcp::new(&self.tcp, identity);
        if let Some(threads) = &mut self.threads {
            threads.add_socket(self.table.next(owner), owner);
            tcp.leave_unread();
        }
        self.table.add(Socket {
            tcp,
            app,
            owner,
            timer,
            expects,
            port,
            counts_goodput,
            is_transient,
        })
    }

    /// The number that the next socket for datagrams will have.
    pub fn next_udp_socket(&self) -> u32 {
        self.udp_sockets.len() as u32
    }

    /// Opens a socket for datagrams. Returns its number.
    pub fn open_udp(&mut self, new: NewUdpSocket) -> u32 {
        let NewUdpSocket { identity, expects, owner, header_bytes, program } = new;
        let number = self.udp_sockets.len() as u32;
        let program = program
            .map(|program| (program, self.hosted[program as usize].own.add_datagrams(number)));
        self.udp_sockets.push(UdpSocket {
            udp: Udp::new(identity, header_bytes),
            send_buffer: None,
            owner,
            expects,
            program,
        });
        if program.is_none()
            && let Some(threads) = &mut self.threads
        {
            threads.add_datagrams(number, owner);
        }
        number
    }

    /// Gives a socket for datagrams a send buffer: while so many bytes of its frames wait in the
    /// interface, its program waits too.
    pub fn limit_datagrams(&mut self, number: u32, send_buffer_bytes: u64) {
        self.udp_sockets[number as usize].send_buffer = Some(SendBuffer::new(send_buffer_bytes));
    }

    /// Gives a socket back, with its port. Late packets of its connection find that they are not
    /// expected.
    pub fn release(&mut self, now: Time, socket: u32, out: &mut impl Environment<Place = P>) {
        self.catch_up(now, out);
        if let Some(threads) = &mut self.threads {
            threads.remove_socket(socket);
        }
        let port = self.table.release(socket);
        self.ports.give_back(port);
    }

    /// Where it is attached.
    pub fn attachment(&self) -> &P {
        &self.attachment
    }

    /// The same for writing, for an engine whose hosts receive at several places.
    pub fn attachment_mut(&mut self) -> &mut P {
        &mut self.attachment
    }

    /// The sockets, those that were given back too.
    pub fn sockets(&self) -> &[Socket] {
        &self.table.sockets
    }

    /// Whether arriving frames are processed before they are read.
    pub fn receives_at_a_cost(&self) -> bool {
        self.receive.has_costs()
    }

    /// The transmit side of the interface.
    pub fn nic(&self) -> &Nic {
        &self.nic
    }
}

/// Inputs of the interface.
impl<P> Host<P> {
    /// The receive stage is due: takes frames from the ring, or hands up those that it has worked
    /// on.
    #[inline(always)]
    pub fn handle_poll(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        if let Some(next) = self.receive.after_single(now, &self.attachment, out) {
            let mut packet = Packet::default();
            out.ring(&self.attachment).pop_to(&mut packet);
            self.receive.frames += 1;
            // The consequences of the frame cannot change what is on the wire to this host.
            out.postpone_poll(&self.attachment, next);
            return self.handle_frame(now, &packet, out);
        }
        let due = self.poll_many(now, out);
        out.arm(&self.attachment, Timer::Poll, due);
    }

    /// Hands up one frame that needs no work: the only one of a poll.
    #[inline]
    pub fn handle_frame(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut impl Environment<Place = P>,
    ) {
        out.on_event(now, &self.attachment, Event::FrameDelivered { packet });
        match ip::protocol(packet) {
            Protocol::Tcp => self.deliver_segment(now, &Segment::single(packet), out),
            Protocol::Udp => self.deliver_datagram(now, packet, out),
        }
    }

    /// Takes and merges the frames that have arrived, or hands up those that were processed.
    /// Returns when the receive stage is due next.
    #[inline(never)]
    fn poll_many<O: Environment<Place = P>>(&mut self, now: Time, out: &mut O) -> Time {
        if self.threads.is_some() {
            return self.interrupt(now, out);
        }
        let Host {
            attachment,
            receive,
            table: SocketTable { sockets, merge_slots, .. },
            connections,
            ..
        } = self;
        let drops_before = receive.ring_drops;
        let polled = receive.poll(now, attachment, out, |out, packet, gro| {
            out.on_event(now, attachment, Event::FrameDelivered { packet });
            let to = packet.to_endpoint as usize;
            match ip::protocol(packet) {
                Protocol::Tcp if packet.to_endpoint == TO_PORT => gro.add_alone(packet),
                Protocol::Tcp if sockets[to].expects == packet.flow_hash => {
                    gro.add(packet, &mut merge_slots[to])
                }
                Protocol::Tcp if connections.find(packet.flow_hash).is_some() => {
                    gro.add_alone(packet)
                }
                Protocol::Tcp => {}
                Protocol::Udp => gro.add_alone(packet),
            }
        });
        let frames = receive.ring_drops - drops_before;
        if frames > 0 {
            out.on_event(now, attachment, Event::RingDropped { frames, packet: None });
        }
        match polled {
            Polled::WorkUntil(done) => done,
            Polled::Deliver => {
                self.deliver(now, out);
                self.receive.next_poll(now, &self.attachment, out)
            }
        }
    }

    /// The interface itself, for pause frames and congestion notifications, which no receive poll
    /// sees. [`Host::handle_timeout`] must follow.
    pub fn nic_mut(&mut self) -> &mut Nic {
        &mut self.nic
    }

    /// Hands up the aggregates of a poll.
    fn deliver(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        let mut gro = std::mem::take(&mut self.receive.gro);
        let of_tcp = |aggregate: &&Aggregate| ip::protocol(&aggregate.packet) == Protocol::Tcp;
        for aggregate in gro.aggregates().iter().filter(of_tcp) {
            if let Some(slot) =
                self.table.merge_slots.get_mut(aggregate.packet.to_endpoint as usize)
            {
                *slot = 0;
            }
        }
        for aggregate in gro.aggregates() {
            let &Aggregate { ref packet, payload_bytes, segments, .. } = aggregate;
            match ip::protocol(packet) {
                Protocol::Tcp => {
                    self.deliver_segment(now, &Segment { packet, payload_bytes, segments }, out)
                }
                Protocol::Udp => self.deliver_datagram(now, packet, out),
            }
        }
        gro.clear();
        self.receive.gro = gro;
    }

    /// Hands on a datagram that a fragment completes.
    #[cold]
    fn deliver_fragment(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut impl Environment<Place = P>,
    ) {
        if let Some(whole) = self.ip.put_together(now, packet) {
            self.deliver_datagram(now, &whole, out);
        } else if self.ip.has_refused() {
            out.on_event(
                now,
                &self.attachment,
                Event::DatagramDiscarded { packet, reason: DiscardReason::Reassembly },
            );
        }
    }

    /// Hands a datagram to its socket's program.
    #[inline(never)]
    fn deliver_datagram(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut impl Environment<Place = P>,
    ) {
        let socket = &self.udp_sockets[packet.to_endpoint as usize];
        if socket.expects != packet.flow_hash {
            return self.deliver_fragment(now, packet, out);
        }
        let datagram = Datagram::of(packet);
        match socket.program {
            None => {
                let event = Event::DatagramReceived {
                    owner: socket.owner,
                    datagram: &datagram,
                    core_wait: Span::ZERO,
                };
                out.on_event(now, &self.attachment, event);
            }
            Some((program, socket)) => self.deliver_message(now, program, socket, &datagram, out),
        }
    }

    /// Hands a segment to its socket, and the resulting events to the program.
    #[inline]
    fn deliver_segment(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        out: &mut impl Environment<Place = P>,
    ) {
        let number = segment.packet.to_endpoint;
        let Host { attachment, table, nic, cores, number: host, .. } = self;
        let Some(socket) = table.sockets.get_mut(number as usize) else {
            return self.admit_segment(now, segment, out);
        };
        if socket.expects != segment.packet.flow_hash {
            return self.deliver_stray(now, segment, out);
        }
        if let App::Program(program) = socket.app {
            return self.deliver_to_program(now, program, number, segment, out);
        }
        let mut uplink = Uplink { nic, attachment, out, now, origin: None };
        let progress = socket.tcp.handle_segment_here(now, segment, &mut uplink);
        if progress.connected || progress.readable > 0 {
            if socket.counts_goodput && progress.readable > 0 {
                uplink.tell(Event::BytesReceived { owner: socket.owner, bytes: progress.readable });
            }
            let mut calls = OwnSocket {
                number,
                host: *host,
                owner: socket.owner,
                is_transient: socket.is_transient,
                has_finished: false,
                tcp: &mut socket.tcp,
                cores,
                uplink,
            };
            if progress.connected {
                socket.app.handle_connected(now, &mut calls);
            }
            if progress.readable > 0 {
                socket.app.handle_readable(now, progress.readable, &mut calls);
            }
            if calls.has_finished && socket.is_transient {
                return out.on_event(now, attachment, Event::FlowFinished { socket: number });
            }
        }
        // Deadlines move later all the time; the engine hears only of earlier ones and asks again
        // when the old one comes.
        out.hasten_socket(socket.timer, socket.poll_timeout());
    }
}
