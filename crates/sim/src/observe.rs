//! The records of a trial.

use crate::attachment::Attachment;
use crate::causes::{Connection, DatagramEnds, DroppedBy, FrameId, Recorder, Transmission};
use crate::timeline::{Sent, Timeline};
use crate::workload_events::{Log, WorkloadEvent, apply};
use tailrace_dataplane::{DropCause, Frame};
use tailrace_host::{Completion, Event, Opened, sender_of};
use tailrace_network::{DigestLocation, Frames, NetworkFrame};
use tailrace_programs::StorageDone;
use tailrace_record::Digest;
use tailrace_transport::ip::protocol;
use tailrace_transport::udp::Datagram;
use tailrace_units::Time;
use tailrace_wire::{FlowKey, Packet, Protocol};
use tailrace_workloads::WorkloadRecord;

/// All records of the running world.
#[derive(Debug)]
pub(crate) struct Observe {
    digest: Option<Digest>,
    /// The recorder of runs whose every frame is recorded, from which causes are read. It keeps
    /// their digest.
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Of such runs of which a timeline is wanted too.
    pub(crate) timeline: Option<Box<Timeline>>,
    pub(crate) packet_hops: u64,
    pub(crate) frames: Frames,
    /// Frames with payload that reached a host.
    pub(crate) packets_delivered: u64,
    pub(crate) workloads: Vec<WorkloadRecord>,
    /// In a part of a trial: the log of workload events.
    pub(crate) log: Option<Box<Log>>,
    /// Of each socket of each host, the fields that its frames leave out.
    pub(crate) endpoints: Vec<Vec<Endpoint>>,
    /// The same of sockets for datagrams.
    udp_endpoints: Vec<Vec<Endpoint>>,
    /// The ends of all flows of datagrams.
    pub(crate) datagram_flows: Vec<DatagramEnds>,
    /// Work for the world after a call of a host.
    pub(crate) host_events: Vec<HostEvent>,
    /// Finite workloads that are not complete.
    pub(crate) unfinished: usize,
    /// The run continues when they are.
    pub(crate) lasts_to_stop: bool,
    /// All finite workloads are complete, and the run ends with them: checked after every event.
    pub(crate) is_done: bool,
}

/// Fields that frames have on a real network, but not in the 64 bytes of the simulator's packet.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Endpoint {
    /// The workload that it belongs to.
    pub(crate) workload: u32,
    /// The host that sent it.
    pub(crate) source: u16,
}

/// A frame of the record with the socket that sent it.
fn of_sender(recorder: &Recorder, frame: Option<FrameId>) -> Option<Sent> {
    let id = frame?;
    Some(Sent { id, sender: recorder.frame(id)?.sender })
}

/// An event of a host that concerns more than its links.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostEvent {
    /// A flow is complete, and its sockets can be given back: host and socket of the end that
    /// noticed.
    Over { host: u32, socket: u32 },
    /// A program has connected: packets with this key come, and others with its reverse.
    Flow(FlowKey),
}

impl Endpoint {
    /// The fields that frames for a socket of a program leave out.
    pub(crate) fn of(opened: &Opened) -> Endpoint {
        Endpoint { workload: opened.owner, source: opened.peer }
    }
}

impl Observe {
    pub(crate) fn new(
        plan: &tailrace_plan::RawPlan,
        hosts: usize,
        workloads: Vec<WorkloadRecord>,
    ) -> Observe {
        let unfinished = workloads.iter().filter(|workload| workload.users_left > 0).count();
        Observe {
            digest: plan.observe.digest.then(Digest::default),
            recorder: None,
            timeline: None,
            packet_hops: 0,
            frames: Frames::default(),
            packets_delivered: 0,
            workloads,
            log: None,
            endpoints: vec![Vec::new(); hosts],
            udp_endpoints: vec![Vec::new(); hosts],
            datagram_flows: Vec::new(),
            host_events: Vec::new(),
            unfinished,
            lasts_to_stop: plan.lasts_to_stop,
            is_done: false,
        }
    }

    /// From now on every frame is recorded, and the digest is the recorder's.
    pub(crate) fn record_all(&mut self, mut recorder: Recorder) {
        recorder.digest = self.digest.take();
        self.recorder = Some(Box::new(recorder));
    }

    pub(crate) fn digest(&self) -> Option<&Digest> {
        self.recorder.as_ref().map_or(self.digest.as_ref(), |recorder| recorder.digest.as_ref())
    }

    fn digest_mut(&mut self) -> Option<&mut Digest> {
        match &mut self.recorder {
            None => self.digest.as_mut(),
            Some(recorder) => recorder.digest.as_mut(),
        }
    }

    /// Whether most frames leave their part of the digest and nothing else.
    #[inline(always)]
    pub(crate) fn keeps_only_digest(&self) -> bool {
        self.digest.is_some()
    }

    /// A frame goes onto a wire. Returns whether nothing else has to be recorded; otherwise
    /// `record` records the rest.
    #[inline(always)]
    pub(crate) fn sent(&mut self, start: Time, wire: usize, fingerprint: u64) -> bool {
        self.packet_hops += 1;
        let Some(digest) = &mut self.digest else {
            return false;
        };
        digest.add(start, DigestLocation::Wire(wire as u64).number(), fingerprint);
        true
    }

    /// Records a frame that goes onto a wire, in runs of which every frame is recorded.
    pub(crate) fn record(
        &mut self,
        wire: usize,
        packet: &Packet,
        (start, end, arrival): (Time, Time, Time),
    ) {
        if self.recorder.is_none() {
            return;
        }
        let workload = self.source_of(packet);
        if let Some(recorder) = &mut self.recorder {
            if let Some(digest) = &mut recorder.digest {
                digest.add(start, DigestLocation::Wire(wire as u64).number(), packet.fingerprint());
            }
            let sent = Transmission { start, end, arrival, workload };
            let frame = recorder.sent(wire as u32, packet, &sent);
            if let Some(timeline) = &mut self.timeline {
                timeline.sent(wire as u32, packet, &sent, of_sender(recorder, frame));
            }
        }
    }

    /// The workload of a frame; none for frames that switches make.
    #[inline]
    pub(crate) fn source_of(&self, packet: &Packet) -> Option<usize> {
        if packet.is_control() {
            return None;
        }
        Some(self.endpoint(packet).workload as usize)
    }

    /// The fields that a frame of a flow leaves out.
    #[inline]
    pub(crate) fn endpoint(&self, packet: &Packet) -> Endpoint {
        let of_protocol = match protocol(packet) {
            Protocol::Tcp => &self.endpoints,
            Protocol::Udp => &self.udp_endpoints,
        };
        match of_protocol[usize::from(packet.to_host)].get(packet.to_endpoint as usize) {
            Some(&endpoint) => endpoint,
            None => self.endpoint_of_opening(packet),
        }
    }

    /// The same of a segment for a port, which carries its origin. Answers to that socket belong to
    /// the same workload.
    #[cold]
    #[inline(never)]
    fn endpoint_of_opening(&self, packet: &Packet) -> Endpoint {
        let (source, socket) =
            sender_of(packet).expect("a packet is for a socket that was opened, or for a port");
        let workload = self.endpoints[usize::from(source)][socket as usize].workload;
        Endpoint { workload, source }
    }

    /// Notes the fields that the datagrams for a socket leave out.
    pub(crate) fn note_udp_endpoint(&mut self, host: u32, endpoint: Endpoint) {
        self.udp_endpoints[host as usize].push(endpoint);
    }

    /// Notes the fields that the frames for a socket leave out.
    pub(crate) fn note_endpoint(&mut self, host: u32, socket: u32, endpoint: Endpoint) {
        let of_host = &mut self.endpoints[host as usize];
        if of_host.len() == socket as usize {
            of_host.push(endpoint);
        } else {
            of_host[socket as usize] = endpoint;
        }
    }

    /// An event of a host: all its records follow from this.
    #[inline(always)]
    pub(crate) fn on_event(&mut self, now: Time, attachment: &Attachment, event: Event<'_>) {
        match event {
            Event::FrameSent => self.frames.sent += 1,
            Event::FrameDropped { packet } => {
                self.dropped(now, attachment.wire_out.into(), packet, None)
            }
            Event::FrameDelivered { packet } => {
                self.frames.delivered += 1;
                self.packets_delivered += u64::from(packet.payload_bytes > 0);
            }
            Event::RingDropped { frames, .. } => self.frames.dropped += frames,
            Event::DatagramReceived { owner, datagram, .. } => {
                self.received_datagram(now, owner, datagram)
            }
            Event::BytesReceived { owner, bytes } => {
                self.workloads[owner as usize].received(now, bytes)
            }
            Event::CoreGranted { waiter } => self.core_granted(attachment.index as u16, waiter),
            Event::ConnectionOpened(opened) => {
                self.note_endpoint(attachment.index, opened.socket, Endpoint::of(opened));
                self.host_events.push(HostEvent::Flow(opened.key));
            }
            Event::ConnectionClosed { owner, stats, limits } => {
                let record = &mut self.workloads[owner as usize];
                record.retired.add(stats);
                record.retired_limits.add(limits);
            }
            Event::TransactionCompleted(completion) => self.completed(now, completion),
            Event::PartCompleted { owner, since } => {
                self.part_completed(now, owner as usize, since)
            }
            Event::StorageCompleted { owner, done } => self.storage_done(now, owner as usize, done),
            Event::UserFinished { owner, user } => {
                self.note_workload_event(now, owner as usize, WorkloadEvent::Finished(user))
            }
            Event::FlowFinished { socket } => {
                self.host_events.push(HostEvent::Over { host: attachment.index, socket })
            }
            Event::FrameQueued { .. }
            | Event::AggregateDelivered { .. }
            | Event::DatagramDiscarded { .. }
            | Event::DatagramSent { .. }
            | Event::BytesWritten { .. }
            | Event::CoreRequested { .. } => {}
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_event(attachment.index as u16, event);
        }
    }

    /// A program has the core for which it has waited.
    fn core_granted(&mut self, host: u16, waiter: u64) {
        let waited =
            self.recorder.as_ref().and_then(|recorder| recorder.waits_for_core(host, waiter));
        if let (Some((socket, since)), Some(timeline)) = (waited, &mut self.timeline) {
            timeline.waited_for_core(socket, since);
        }
    }

    /// A connection was made whose both ends are there.
    pub(crate) fn connected(&mut self, connection: &Connection) {
        if let Some(recorder) = &mut self.recorder {
            recorder.connected(connection);
        }
    }

    /// A frame was dropped before a wire; without a cause by a host's interface.
    pub(crate) fn dropped(
        &mut self,
        at: Time,
        wire: u64,
        packet: &Packet,
        cause: Option<DropCause>,
    ) {
        self.frames.dropped += 1;
        if let Some(digest) = self.digest_mut() {
            digest.add(at, DigestLocation::Drop(wire).number(), packet.fingerprint());
        }
        if let Some(recorder) = &mut self.recorder {
            let frame = recorder.dropped(
                at,
                wire as u32,
                packet,
                cause.map_or(DroppedBy::Interface, DroppedBy::Switch),
            );
            if self.timeline.is_some() {
                let frame = of_sender(recorder, frame);
                let workload = self.source_of(packet);
                if let Some(timeline) = &mut self.timeline {
                    timeline.dropped((at, wire as u32), packet, (frame, workload), cause);
                }
            }
        }
    }

    /// A hypervisor hands a frame to its switch.
    pub(crate) fn switched(&mut self, hypervisor: u32, switch: u32, packet: &Packet) {
        if let Some(recorder) = &mut self.recorder {
            recorder.switched(hypervisor, switch, packet);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.entered(switch, packet);
        }
    }

    /// A frame found no room inside a hypervisor.
    #[cold]
    pub(crate) fn overran(&mut self, at: Time, hypervisor: u32, wire: u64, packet: &Packet) {
        self.frames.dropped += 1;
        if let Some(digest) = self.digest_mut() {
            digest.add(at, DigestLocation::Drop(wire).number(), packet.fingerprint());
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.overran(hypervisor, packet);
        }
    }

    pub(crate) fn marked(&mut self, at: Time, wire: u64, packet: &Packet) {
        if let Some(digest) = self.digest_mut() {
            digest.add(at, DigestLocation::Mark(wire).number(), packet.fingerprint());
        }
        if self.timeline.is_some() {
            let workload = self.source_of(packet);
            let recorder = self.recorder.as_ref();
            let frame = recorder
                .and_then(|recorder| of_sender(recorder, recorder.inside(wire as u32, packet)));
            if let Some(timeline) = &mut self.timeline {
                timeline.marked((at, wire as u32), packet, (frame, workload));
            }
        }
    }

    /// An application got bytes or finished something: the results themselves are part of the
    /// digest.
    fn completed(&mut self, now: Time, completion: &Completion) {
        let &Completion { owner, user, intended, carried, .. } = completion;
        let workload = owner as usize;
        if let Some(digest) = self.digest_mut() {
            digest.add(
                now,
                DigestLocation::Delivery(workload as u64).number(),
                u64::from(user) ^ intended.ps().rotate_left(20),
            );
        }
        self.note_workload_event(
            now,
            workload,
            WorkloadEvent::Completed { user, intended, carried },
        );
    }

    /// A part of a transaction is complete.
    fn part_completed(&mut self, now: Time, workload: usize, since: Time) {
        if let Some(digest) = self.digest_mut() {
            digest.add(
                now,
                DigestLocation::Delivery(workload as u64).number(),
                since.ps().rotate_left(40),
            );
        }
        self.note_workload_event(now, workload, WorkloadEvent::Part(since));
    }

    /// A datagram's delay is from program to program.
    #[inline(never)]
    fn received_datagram(&mut self, now: Time, workload: u32, datagram: &Datagram) {
        self.workloads[workload as usize].received(now, u64::from(datagram.payload_bytes));
        self.note_workload_event(now, workload as usize, WorkloadEvent::Datagram(datagram.sent));
    }

    fn storage_done(&mut self, now: Time, workload: usize, done: &StorageDone) {
        debug_assert!(self.log.is_none(), "a trial with storage is not divided");
        self.workloads[workload].storage_done(now, done);
    }

    /// Adds an event to the record of its workload, or in a part of a trial to the log of such
    /// events.
    #[inline]
    fn note_workload_event(&mut self, now: Time, workload: usize, event: WorkloadEvent) {
        match &mut self.log {
            None => self.apply_workload_event(now, workload, &event),
            Some(log) => log.note(now, workload, event),
        }
    }

    #[inline]
    pub(crate) fn apply_workload_event(
        &mut self,
        now: Time,
        workload: usize,
        event: &WorkloadEvent,
    ) {
        if apply(&mut self.workloads[workload], now, event) {
            self.unfinished -= 1;
            self.is_done = self.unfinished == 0 && !self.lasts_to_stop;
        }
    }

    /// Adds the counts of another part, which begin anew there.
    pub(crate) fn absorb(&mut self, other: &mut Observe) {
        if let (Some(own), Some(others)) = (&mut self.digest, &mut other.digest) {
            own.absorb(&std::mem::take(others));
        }
        self.packet_hops += std::mem::take(&mut other.packet_hops);
        self.packets_delivered += std::mem::take(&mut other.packets_delivered);
        let frames = std::mem::take(&mut other.frames);
        self.frames.sent += frames.sent;
        self.frames.delivered += frames.delivered;
        self.frames.dropped += frames.dropped;
        for (own, others) in self.workloads.iter_mut().zip(&mut other.workloads) {
            own.absorb(others);
        }
    }

    /// The completed share of the slowest finite workload; `None` when there is none.
    pub(crate) fn progress(&self) -> Option<f64> {
        let finite = self.workloads.iter().filter(|workload| workload.transactions_total > 0);
        finite
            .map(|workload| workload.transactions as f64 / workload.transactions_total as f64)
            .reduce(f64::min)
    }
}
