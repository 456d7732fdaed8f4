//! One host: its interface, what receiving takes, its cores, its sockets and their programs. It is handed frames and the time, as a
//! switch is.
//!
//! A frame comes up in the order `receive` (poll, ring, merging, work), transport, program; it goes down by `uplink`.

mod cores;
mod moderation;
mod outputs;
mod ports;
mod receive;
mod socket;
mod uplink;

pub use moderation::Moderation;
pub use outputs::{Carried, Completion, Outputs, ReceiveRing};
pub use ports::FIRST_EPHEMERAL_PORT;
pub use receive::ReceivePolicy;
pub use socket::{NewSocket, Socket};

use crate::app::App;
use crate::gro::Aggregate;
use crate::nic::Nic;
use crate::transport::{Segment, Tcp, TcpConfig, Wire as _};
use cores::Cores;
use ports::EphemeralPorts;
use receive::{Polled, ReceiveStage};
use socket::SocketDesk;
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet};
use uplink::Uplink;

/// A host with few sockets grows their table one by one: a network has thousands of such hosts.
const GROW_BY_ONE_UP_TO: usize = 8;

/// What a host has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounters {
    /// Frames that polls took.
    pub rx_frames: u64,
    /// Frames that did not fit the receive ring.
    pub rx_ring_drops: u64,
    /// Frames that did not fit the queue of the interface.
    pub nic_queue_drops: u64,
    /// Work of receiving.
    pub receive_busy: Span,
    /// Work of programs.
    pub program_busy: Span,
}

/// What a host is made of.
#[derive(Debug)]
pub struct HostConfig {
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
    /// Settings of its connections.
    pub tcp: TcpConfig,
}

/// A host.
pub struct Host {
    nic: Nic,
    receive: ReceiveStage,
    sockets: Vec<Socket>,
    /// Receive merging: one slot for each socket.
    merge_slots: Vec<u32>,
    /// Sockets that were given back.
    free: Vec<u32>,
    cores: Cores,
    tcp: TcpConfig,
    ports: EphemeralPorts,
    number: u16,
}

impl Host {
    /// A host without sockets.
    pub fn new(config: HostConfig) -> Host {
        Host {
            nic: config.nic,
            receive: ReceiveStage::new(config.receive),
            sockets: Vec::new(),
            merge_slots: Vec::new(),
            free: Vec::new(),
            cores: Cores::new(config.program_cores, config.time_slice),
            tcp: config.tcp,
            ports: EphemeralPorts::new(),
            number: config.number,
        }
    }

    /// The next ephemeral port.
    pub fn take_port(&mut self) -> u16 {
        self.ports.take()
    }

    /// The number that the next socket will have.
    pub fn next_socket(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.sockets.len() as u32)
    }

    /// Opens a socket; its program is called first when it is due. Returns its number.
    pub fn open(&mut self, new: NewSocket) -> u32 {
        let NewSocket { identity, expects, app, owner, timer, counts_goodput, is_transient } = new;
        let tcp = Tcp::new(&self.tcp, identity);
        let socket = Socket { tcp, app, owner, timer, expects, counts_goodput, is_transient };
        if let Some(number) = self.free.pop() {
            self.sockets[number as usize] = socket;
            return number;
        }
        if self.sockets.len() < GROW_BY_ONE_UP_TO {
            self.sockets.reserve_exact(1);
        }
        self.sockets.push(socket);
        self.merge_slots.push(0);
        self.sockets.len() as u32 - 1
    }

    /// Gives a socket back. Late packets of its connection find that they are not expected.
    pub fn release(&mut self, socket: u32) {
        self.sockets[socket as usize].expects = 0;
        self.free.push(socket);
    }

    /// The sockets, those that were given back too.
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// The transmit side of the interface.
    pub fn nic(&self) -> &Nic {
        &self.nic
    }

    /// What it has counted.
    pub fn counters(&self) -> HostCounters {
        HostCounters {
            rx_frames: self.receive.frames,
            rx_ring_drops: self.receive.ring_drops,
            nic_queue_drops: self.nic.queue_drops(),
            receive_busy: self.receive.busy,
            program_busy: self.cores.busy,
        }
    }

    /// Counts from `now` on.
    pub fn begin_counting(&mut self, now: Time) {
        self.nic.begin_counting(now);
        self.cores.busy = Span::ZERO;
        (self.receive.frames, self.receive.ring_drops, self.receive.busy) = (0, 0, Span::ZERO);
    }
}

/// What comes to the interface.
impl Host {
    /// The receive stage is due: takes frames from the ring, or hands up those that it has worked on.
    #[inline]
    pub fn handle_poll(&mut self, now: Time, out: &mut impl Outputs) {
        if let Some(next) = self.receive.after_single(now, out) {
            let (arrival, packet) = out.ring().pop();
            self.receive.frames += 1;
            // What follows from the frame cannot change what is on the wire to this host.
            out.postpone_poll(next);
            return self.take_single(now, arrival, &packet, out);
        }
        let due = self.poll_many(now, out);
        out.arm_poll(due);
    }

    /// Hands up the only frame of a poll.
    #[inline]
    fn take_single(&mut self, now: Time, arrival: Time, packet: &Packet, out: &mut impl Outputs) {
        out.delivered(packet);
        if packet.flags.contains(Flags::UDP) {
            out.received_datagram(arrival, packet);
        } else {
            self.deliver_segment(now, &Segment::single(packet), out);
        }
    }

    /// Takes and merges what has arrived, or hands up what was worked on. Returns when the receive stage is due next.
    #[inline(never)]
    fn poll_many<O: Outputs>(&mut self, now: Time, out: &mut O) -> Time {
        let Host { receive, sockets, merge_slots, .. } = self;
        let drops_before = receive.ring_drops;
        let polled = receive.poll(now, out, |out, arrival, packet, gro| {
            out.delivered(packet);
            if packet.flags.contains(Flags::UDP) {
                out.received_datagram(arrival, packet);
            } else if sockets[packet.to_endpoint as usize].expects == packet.flow_hash {
                gro.add(packet, &mut merge_slots[packet.to_endpoint as usize]);
            }
        });
        out.ring_dropped(receive.ring_drops - drops_before);
        match polled {
            Polled::WorkUntil(done) => done,
            Polled::Deliver => {
                self.deliver(now, out);
                self.receive.next_poll(now, out)
            }
        }
    }

    /// The interface itself, for pause frames and congestion notifications, which no receive poll sees. [`Host::handle_timeout`] must
    /// follow.
    pub fn nic_mut(&mut self) -> &mut Nic {
        &mut self.nic
    }

    /// Hands up what a poll gathered.
    fn deliver(&mut self, now: Time, out: &mut impl Outputs) {
        let mut gro = std::mem::take(&mut self.receive.gro);
        for aggregate in gro.aggregates() {
            self.merge_slots[aggregate.packet.to_endpoint as usize] = 0;
        }
        for aggregate in gro.aggregates() {
            let Aggregate { packet, payload_bytes, segments, .. } = aggregate;
            self.deliver_segment(now, &Segment { packet, payload_bytes: *payload_bytes, segments: *segments }, out);
        }
        gro.clear();
        self.receive.gro = gro;
    }

    /// Hands a segment to its socket and what follows from it to the program.
    #[inline]
    fn deliver_segment(&mut self, now: Time, segment: &Segment<'_>, out: &mut impl Outputs) {
        let number = segment.packet.to_endpoint;
        let Host { sockets, nic, cores, number: host, .. } = self;
        let socket = &mut sockets[number as usize];
        if socket.expects != segment.packet.flow_hash {
            return;
        }
        let mut uplink = Uplink { nic, out, now };
        let progress = socket.tcp.handle_segment(now, segment, &mut uplink);
        if progress.connected || progress.readable > 0 {
            if socket.counts_goodput && progress.readable > 0 {
                uplink.out.received(now, socket.owner, progress.readable);
            }
            let mut desk = SocketDesk {
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
                socket.app.handle_connected(now, &mut desk);
            }
            if progress.readable > 0 {
                socket.app.handle_readable(now, progress.readable, &mut desk);
            }
            if desk.has_finished && socket.is_transient {
                return out.is_over(number);
            }
        }
        // Deadlines move later all the time; the engine hears only of earlier ones and asks again when the old one comes.
        out.hasten_socket(socket.timer, socket.poll_timeout());
    }
}

/// What is due.
impl Host {
    /// When the interface is due, or [`Time::NEVER`]. Sockets have deadlines of their own: [`Socket::poll_timeout`].
    pub fn poll_timeout(&self) -> Time {
        self.nic.poll_timeout()
    }

    /// The interface is due, or was told something: it sends what it may.
    pub fn handle_timeout(&mut self, now: Time, out: &mut impl Outputs) {
        if let Nic::Lossless(_) = self.nic {
            Uplink { nic: &mut self.nic, out, now }.send_due();
        }
    }

    /// The transport's or the program's deadline has come.
    #[inline(never)]
    pub fn handle_socket_timeout(&mut self, now: Time, number: u32, out: &mut impl Outputs) {
        let socket = &mut self.sockets[number as usize];
        if socket.tcp.poll_timeout() <= now {
            socket.tcp.handle_timeout(now, &mut Uplink { nic: &mut self.nic, out, now });
        }
        if socket.app.poll_timeout() <= now {
            return self.wake_program(now, number, out);
        }
        out.arm_socket(socket.timer, socket.poll_timeout());
    }

    /// The program's deadline has come. It may leave its core to others.
    fn wake_program<O: Outputs>(&mut self, now: Time, number: u32, out: &mut O) {
        self.call_program(now, number, out, |app, desk| app.handle_timeout(now, desk));
        while let Some(next) = self.cores.poll_granted() {
            self.call_program(now, next, out, |app, desk| app.handle_core(desk));
        }
    }

    fn call_program<O: Outputs>(
        &mut self,
        now: Time,
        number: u32,
        out: &mut O,
        call: impl FnOnce(&mut App, &mut SocketDesk<'_, O>),
    ) {
        let Host { sockets, nic, cores, number: host, .. } = self;
        let socket = &mut sockets[number as usize];
        let mut desk = SocketDesk {
            number,
            host: *host,
            owner: socket.owner,
            is_transient: socket.is_transient,
            has_finished: false,
            tcp: &mut socket.tcp,
            cores,
            uplink: Uplink { nic, out, now },
        };
        call(&mut socket.app, &mut desk);
        out.arm_socket(socket.timer, socket.poll_timeout());
    }

    /// Sends a packet that belongs to no connection.
    pub fn send(&mut self, now: Time, packet: Packet, out: &mut impl Outputs) {
        Uplink { nic: &mut self.nic, out, now }.send(packet);
    }
}
