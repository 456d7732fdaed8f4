//! One frame after the other through all counts.

use crate::addresses::Addresses;
use crate::decode::{Decoded, Fragment, Ip, Network, Tcp, Transport, decode, is_ethernet};
use crate::error::CaptureError;
use crate::exchanges::{ExchangeTotals, SegmentChange};
use crate::flows::{Flow, FlowSizes, FlowTable, Fragments, Key, TCP};
use crate::options::Options;
use crate::reader::{Direction, Record};
use crate::tables::Tables;
use crate::tcp::{ConnectionCounts, Seen, TcpTotals};
use crate::traffic::{Classes, Concurrency, Count, FrameSizes, Hosts, Incast, Protocols, Rates};

/// A frame of Ethernet has at least these bytes without its check sequence, and this much around
/// it: preamble, check sequence, gap (IEEE 802.3 clauses 3.2.7, 4.4.2).
const ETHERNET_BYTES_MIN: u32 = 60;
const ETHERNET_OVERHEAD_BYTES: u32 = 24;
/// Round trips of one end of a connection that are written down are at least this far apart.
const ROUND_TRIP_EVERY_NS: u64 = 1_000_000;

/// Counters of frames, whatever their flow.
pub(crate) struct Profiler {
    pub(crate) options: Options,
    pub(crate) flows: FlowTable<Flow>,
    pub(crate) totals: Totals,
    pub(crate) frames: Frames,
    pub(crate) fragments: Fragments,
    pub(crate) classes: Classes,
    pub(crate) sizes: FrameSizes,
    pub(crate) rates: Option<DirectedRates>,
}

/// Frames as the capture has them.
#[derive(Default)]
pub(crate) struct Frames {
    pub(crate) all: Count,
    pub(crate) captured_bytes: u64,
    /// Of which not all was captured.
    pub(crate) cut: u64,
    pub(crate) without_time: u64,
    /// Earlier than one before.
    pub(crate) out_of_order: u64,
    /// Outside of the time that was asked for.
    pub(crate) left_out: u64,
    pub(crate) by_direction: [Count; 3],
    pub(crate) by_interface: Vec<Count>,
    /// Times of the first frame of the file, and of the earliest and latest that counts.
    pub(crate) origin_ns: Option<u64>,
    pub(crate) span_ns: Option<(u64, u64)>,
    last_ns: u64,
}

/// Rates of all frames, and of each direction if the capture names them.
pub(crate) struct DirectedRates {
    pub(crate) all: Rates,
    pub(crate) inbound: Option<Box<Rates>>,
    pub(crate) outbound: Option<Box<Rates>>,
    pub(crate) origin_ns: u64,
    pub(crate) line_bps: Option<u64>,
}

/// Counters of flows, while they last and when they are over.
pub(crate) struct Totals {
    pub(crate) tables: Tables,
    pub(crate) tcp: TcpTotals,
    pub(crate) connections: ConnectionCounts,
    pub(crate) exchanges: ExchangeTotals,
    pub(crate) protocols: Protocols,
    pub(crate) sizes: FlowSizes,
    pub(crate) incast: Incast,
    pub(crate) hosts: Hosts,
    pub(crate) open: Concurrency,
    pub(crate) waiting: Concurrency,
    pub(crate) evicted: u64,
    pub(crate) datagram_flows: u64,
    /// The largest packet of IP.
    pub(crate) packet_bytes_max: u32,
}

impl Profiler {
    pub(crate) fn new(options: Options) -> Result<Profiler, CaptureError> {
        let addresses = Addresses::new(options.key()?);
        Ok(Profiler {
            flows: FlowTable::new(options.flows_max),
            totals: Totals {
                tables: Tables::new(options.rows_max, addresses),
                tcp: TcpTotals::default(),
                connections: ConnectionCounts::default(),
                exchanges: ExchangeTotals::default(),
                protocols: Protocols::default(),
                sizes: FlowSizes::default(),
                incast: Incast::default(),
                hosts: Hosts::default(),
                open: Concurrency::default(),
                waiting: Concurrency::default(),
                evicted: 0,
                datagram_flows: 0,
                packet_bytes_max: 0,
            },
            frames: Frames::default(),
            fragments: Fragments::default(),
            classes: Classes::default(),
            sizes: FrameSizes::default(),
            rates: None,
            options,
        })
    }

    /// Counts a frame.
    #[inline]
    pub(crate) fn frame(&mut self, record: &Record<'_>) {
        let Some(now_ns) = self.frames.time(record, &self.options) else { return };
        let frame_bytes = record.wire_bytes;
        let decoded = decode(record.link, record.bytes, frame_bytes);
        let direction = match (record.direction, decoded.is_outbound) {
            (Direction::Unknown, Some(true)) => Direction::Outbound,
            (Direction::Unknown, Some(false)) => Direction::Inbound,
            (known, _) => known,
        };
        self.frames.count(record, direction, now_ns);
        self.sizes.add(frame_bytes);
        let line_bps = self.options.line_bps.or(record.speed_bps);
        let rates = self.rates.get_or_insert_with(|| DirectedRates::new(now_ns, line_bps));
        let line_bytes = if is_ethernet(record.link) {
            frame_bytes.max(ETHERNET_BYTES_MIN).saturating_add(ETHERNET_OVERHEAD_BYTES)
        } else {
            frame_bytes
        };
        rates.add(now_ns, line_bytes, direction);
        self.classes.tags(&decoded.tags, frame_bytes);
        self.totals.protocols.frame(&decoded, frame_bytes);
        self.packet(&decoded, (frame_bytes, line_bytes), now_ns);
    }

    #[inline]
    fn packet(&mut self, decoded: &Decoded, (frame_bytes, line_bytes): (u32, u32), now_ns: u64) {
        let Network::Ip(ip) = &decoded.network else { return };
        self.classes.ip(ip, frame_bytes);
        self.totals.packet_bytes_max = self.totals.packet_bytes_max.max(ip.packet_bytes);
        let mut ports = match ip.transport {
            Transport::Tcp(tcp) => Some(tcp.ports),
            Transport::Udp { ports, .. } => Some(ports),
            Transport::Other => Some((0, 0)),
            Transport::Fragment | Transport::Malformed | Transport::Cut => None,
        };
        if ip.fragment != Fragment::Whole {
            ports = self.fragments.ports(ip, frame_bytes, ports);
        }
        let Some((source_port, destination_port)) = ports else { return };
        let (key, way) =
            Key::of((ip.source, source_port), (ip.destination, destination_port), ip.protocol);
        let totals = &mut self.totals;
        let flow = match self.flows.find(&key) {
            Some(flow) => flow,
            None => {
                let evicted = self.flows.insert(key, totals.flow(&key, way));
                if let Some((key, flow)) = evicted {
                    totals.close(&key, flow, now_ns, true);
                }
                self.flows.find(&key).expect("it was inserted")
            }
        };
        if let Transport::Tcp(tcp) = &ip.transport
            && flow.connection.is_reopened_by(way, tcp)
        {
            let before = std::mem::replace(flow, totals.flow(&key, way));
            totals.close(&key, before, now_ns, false);
        }
        flow.ways[way].frame(now_ns, frame_bytes, ip.dscp);
        totals.hosts.add(flow.hosts[way], flow.hosts[1 - way], now_ns, line_bytes);
        totals.transport(&key, way, flow, ip, now_ns);
    }

    /// All flows are over.
    pub(crate) fn finish(&mut self) {
        let flows = std::mem::replace(&mut self.flows, FlowTable::new(1));
        let end_ns = self.frames.span_ns.map_or(0, |span| span.1);
        self.totals.incast.close();
        self.totals.open.pass(end_ns);
        self.totals.waiting.pass(end_ns);
        for (key, flow) in flows.into_flows() {
            self.totals.close(&key, flow, end_ns, false);
        }
    }
}

impl Totals {
    /// A conversation that begins.
    fn flow(&mut self, key: &Key, way: usize) -> Flow {
        let hosts = [key.sender(0).0, key.sender(1).0].map(|address| self.hosts.index(address));
        Flow::new(self.tables.reserve(key.protocol == TCP), way, hosts)
    }

    #[inline]
    fn transport(&mut self, key: &Key, way: usize, flow: &mut Flow, ip: &Ip, now_ns: u64) {
        match &ip.transport {
            Transport::Tcp(tcp) => self.segment(key, way, flow, tcp, now_ns),
            Transport::Udp { payload_bytes, .. } => {
                flow.ways[way].payload_bytes += u64::from(*payload_bytes);
                self.tables.datagram(flow, way, *payload_bytes, now_ns);
                self.incast(key, way, flow, now_ns);
            }
            Transport::Other | Transport::Fragment | Transport::Malformed | Transport::Cut => {}
        }
    }

    #[inline]
    fn segment(&mut self, key: &Key, way: usize, flow: &mut Flow, tcp: &Tcp, now_ns: u64) {
        let seen: Seen = flow.connection.segment(way, tcp, now_ns);
        let client = flow.connection.client(key.ports(), usize::from(flow.first_way));
        self.tcp.add(tcp, &seen, way == client);
        self.round_trip(flow, (way, client), tcp, &seen, now_ns);
        let is_open = !flow.connection.is_over();
        if is_open != flow.connection.is_counted {
            flow.connection.is_counted = is_open;
            if is_open { self.open.begin(now_ns) } else { self.open.end(now_ns) }
        }
        if tcp.payload_bytes > 0 {
            self.incast(key, way, flow, now_ns);
        }
        let new_bytes = seen.verdict.new_bytes;
        if new_bytes == 0 {
            return;
        }
        flow.ways[way].payload_bytes += u64::from(new_bytes);
        let step = if way == client {
            flow.conversation.request(now_ns, new_bytes, tcp.seq)
        } else {
            flow.conversation.response(now_ns, new_bytes, tcp.ack)
        };
        self.step(&step, key.sender(1 - client).1, flow.row, now_ns);
    }

    /// Writes down a round trip to the end that has acknowledged, if there is time since the last:
    /// the program's time is part of one that data answer.
    #[inline]
    fn round_trip(
        &mut self,
        flow: &mut Flow,
        (way, client): (usize, usize),
        tcp: &Tcp,
        seen: &Seen,
        now_ns: u64,
    ) {
        let Some(rtt_ns) =
            seen.handshake_part_ns.or(seen.rtt_ns.filter(|_| tcp.payload_bytes == 0))
        else {
            return;
        };
        let before_ns = &mut flow.round_trip_at_ns[way];
        if *before_ns == 0 || now_ns.saturating_sub(*before_ns) >= ROUND_TRIP_EVERY_NS {
            *before_ns = now_ns;
            self.tables.round_trip(flow.row, now_ns, rtt_ns, way != client);
        }
    }

    #[inline]
    fn step(&mut self, step: &SegmentChange, port: u16, row: Option<u32>, now_ns: u64) {
        if step.is_asked {
            self.waiting.begin(now_ns);
        }
        if step.is_answered {
            self.waiting.end(now_ns);
        }
        if let Some(exchange) = &step.complete {
            self.exchanges.add(port, exchange);
            self.tables.exchange(row, exchange);
        }
    }

    #[inline]
    fn incast(&mut self, key: &Key, way: usize, flow: &mut Flow, now_ns: u64) {
        let (sender, receiver) = (key.sender(way).0, key.sender(1 - way).0);
        self.incast.add(now_ns, &mut flow.ways[way].incast_interval, sender, receiver);
    }

    /// A conversation is over, or its entry is needed for another one.
    fn close(&mut self, key: &Key, mut flow: Flow, now_ns: u64, is_evicted: bool) {
        self.evicted += u64::from(is_evicted);
        for way in 0..2 {
            self.sizes.add(key, way, &flow.ways[way]);
        }
        let count = flow.ways.iter().fold(Count::default(), |sum, way| Count {
            frames: sum.frames + way.frames,
            frame_bytes: sum.frame_bytes + way.frame_bytes,
        });
        let client = flow.connection.client(key.ports(), usize::from(flow.first_way));
        let port = key.sender(1 - client).1;
        if key.protocol != TCP {
            self.datagram_flows += 1;
            if key.protocol == crate::flows::UDP {
                self.protocols.conversation(false, port, count);
            }
            self.tables.datagram_flow(key, &flow);
            return;
        }
        self.protocols.conversation(true, port, count);
        if flow.connection.is_counted {
            self.open.end(now_ns);
        }
        for exchange in flow.conversation.finish().into_iter().flatten() {
            if exchange.response_bytes == 0 {
                self.waiting.end(now_ns);
            }
            self.exchanges.add(port, &exchange);
            self.tables.exchange(flow.row, &exchange);
        }
        self.exchanges.connection(flow.conversation.exchanges, flow.conversation.unrequested_bytes);
        self.connections.add(&flow.connection);
        self.tables.connection(key, &flow, client, is_evicted);
    }
}

impl Frames {
    /// The time of a frame, unless it is outside of the requested interval.
    #[inline]
    fn time(&mut self, record: &Record<'_>, options: &Options) -> Option<u64> {
        let now_ns = record.time_ns.unwrap_or(self.last_ns);
        let origin_ns = *self.origin_ns.get_or_insert(now_ns);
        let since_ns = now_ns.saturating_sub(origin_ns);
        if since_ns < options.from_ns
            || options.until_ns.is_some_and(|until_ns| since_ns >= until_ns)
        {
            self.left_out += 1;
            return None;
        }
        Some(now_ns)
    }

    #[inline]
    fn count(&mut self, record: &Record<'_>, direction: Direction, now_ns: u64) {
        self.all.add(record.wire_bytes);
        self.captured_bytes += record.bytes.len() as u64;
        self.cut += u64::from((record.bytes.len() as u32) < record.wire_bytes);
        self.without_time += u64::from(record.time_ns.is_none());
        self.out_of_order += u64::from(now_ns < self.last_ns);
        self.last_ns = self.last_ns.max(now_ns);
        let (first_ns, last_ns) = self.span_ns.unwrap_or((now_ns, now_ns));
        self.span_ns = Some((first_ns.min(now_ns), last_ns.max(now_ns)));
        self.by_direction[direction as usize].add(record.wire_bytes);
        let interface = record.interface as usize;
        if interface >= self.by_interface.len() {
            self.by_interface.resize(interface + 1, Count::default());
        }
        self.by_interface[interface].add(record.wire_bytes);
    }
}

impl DirectedRates {
    fn new(origin_ns: u64, line_bps: Option<u64>) -> DirectedRates {
        DirectedRates {
            all: Rates::new(origin_ns, line_bps),
            inbound: None,
            outbound: None,
            origin_ns,
            line_bps,
        }
    }

    #[inline]
    fn add(&mut self, now_ns: u64, line_bytes: u32, direction: Direction) {
        self.all.add(now_ns, line_bytes);
        let rates = match direction {
            Direction::Unknown => return,
            Direction::Inbound => &mut self.inbound,
            Direction::Outbound => &mut self.outbound,
        };
        rates
            .get_or_insert_with(|| Box::new(Rates::new(self.origin_ns, self.line_bps)))
            .add(now_ns, line_bytes);
    }
}
