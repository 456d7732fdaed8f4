//! The profile of a capture: a JSON document whose keys end with their units, and tables.

use crate::error::CaptureError;
use crate::exchanges::ExchangesSummary;
use crate::flows::{FlowSizesSummary, Largest};
use crate::options::Options;
use crate::profiler::Profiler;
use crate::reader::{CaptureReader, End};
use crate::tables::Tables;
use crate::tcp::{ConnectionCounts, TcpSummary};
use crate::traffic::{
    BusiestSummary, ClassesSummary, ConcurrencySummary, Count, FrameSizesSummary,
    INCAST_INTERVAL_NS, ProtocolsSummary, RatesSummary,
};
use serde::Serialize;
use std::path::Path;
use tailrace_record::Table;

/// Version of the document; a key that changes its meaning changes it.
const FORMAT: u32 = 1;
/// Interfaces that the document describes.
const INTERFACES_NAMED_MAX: usize = 64;

/// The profile of a capture.
pub struct Profile {
    document: Document,
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Document {
    format: u32,
    capture: CaptureSummary,
    frame_sizes: FrameSizesSummary,
    rates: RatesByDirection,
    busiest_hosts: Vec<BusiestSummary>,
    classes: ClassesSummary,
    protocols: ProtocolsSummary,
    fragments: FragmentsSummary,
    flow_summary: FlowsSummary,
    tcp: TcpSummary,
    exchanges: ExchangesSummary,
    concurrency: ConcurrencyByKind,
    incast: IncastSummary,
    tables: TablesSummary,
}

#[derive(Serialize)]
struct CaptureSummary {
    file_format: &'static str,
    compression: &'static str,
    read_bytes: u64,
    end: EndSummary,
    frames: u64,
    frame_bytes: u64,
    captured_bytes: u64,
    cut_frames: u64,
    frames_without_time: u64,
    frames_out_of_order: u64,
    frames_left_out: u64,
    start_ns: u64,
    end_ns: u64,
    duration_ns: u64,
    line_bps: Option<u64>,
    largest_packet_bytes: u32,
    is_anonymous: bool,
    directions: DirectionCounts,
    interfaces: Vec<InterfaceSummary>,
}

#[derive(Serialize)]
struct EndSummary {
    state: &'static str,
    what: Option<String>,
    offset_bytes: Option<u64>,
}

#[derive(Serialize)]
struct DirectionCounts {
    unknown: Count,
    inbound: Count,
    outbound: Count,
}

#[derive(Serialize)]
struct InterfaceSummary {
    name: Option<String>,
    link_type: u16,
    snap_bytes: u32,
    time_resolution: String,
    speed_bps: Option<u64>,
    #[serde(flatten)]
    count: Count,
}

#[derive(Default, Serialize)]
struct RatesByDirection {
    all: Option<RatesSummary>,
    inbound: Option<RatesSummary>,
    outbound: Option<RatesSummary>,
}

#[derive(Serialize)]
struct FragmentsSummary {
    frames: u64,
    frame_bytes: u64,
    packets: u64,
    frames_without_first: u64,
}

#[derive(Serialize)]
struct FlowsSummary {
    #[serde(flatten)]
    connections: ConnectionCounts,
    datagram_flows: u64,
    evicted: u64,
    flows_max: usize,
    sizes: FlowSizesSummary,
    largest: Vec<LargestSummary>,
}

#[derive(Serialize)]
struct LargestSummary {
    source: String,
    source_port: u16,
    destination: String,
    destination_port: u16,
    protocol: u8,
    frames: u64,
    frame_bytes: u64,
    duration_ns: u64,
}

#[derive(Serialize)]
struct ConcurrencyByKind {
    open_connections: ConcurrencySummary,
    waiting_requests: ConcurrencySummary,
}

#[derive(Serialize)]
struct IncastSummary {
    interval_ns: u64,
    senders_per_receiver: crate::distribution::Summary,
    peaks: Vec<PeakSummary>,
    pairs_left_out: u64,
}

#[derive(Serialize)]
struct PeakSummary {
    senders: u64,
    start_ns: u64,
    receiver: String,
}

#[derive(Serialize)]
struct TablesSummary {
    rows_max: usize,
    connections_left_out: u64,
    exchanges_left_out: u64,
    datagram_flows_left_out: u64,
    datagrams_left_out: u64,
    round_trips_left_out: u64,
}

impl Profile {
    /// Reads a capture and profiles it. A capture that ends early or is damaged has a profile of
    /// its readable part.
    ///
    /// # Errors
    /// When the file is no capture, or the options cannot be used.
    pub fn of_file(path: &Path, options: Options) -> Result<Profile, CaptureError> {
        Profile::of(CaptureReader::open(path)?, options)
    }

    /// Reads a capture to its end and profiles it.
    ///
    /// # Errors
    /// When the options cannot be used.
    pub fn of(mut reader: CaptureReader, options: Options) -> Result<Profile, CaptureError> {
        let mut profiler = Profiler::new(options)?;
        while let Some(record) = reader.next_record() {
            profiler.frame(&record);
        }
        profiler.finish();
        Ok(Profile::from_parts(&reader, profiler))
    }

    /// The document.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.document).expect("numbers and texts can be written")
    }

    /// The tables `connections`, `exchanges`, `datagram_flows`, `datagrams` and `addresses`.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn from_parts(reader: &CaptureReader, profiler: Profiler) -> Profile {
        let capture = capture(reader, &profiler);
        let Profiler { options, totals, fragments, classes, sizes, rates, .. } = profiler;
        let addresses = &totals.tables.addresses;
        let largest = totals
            .sizes
            .largest()
            .iter()
            .map(|one| largest(one, |address| addresses.text(address)))
            .collect();
        let peaks = totals.incast.peaks.iter().map(|peak| PeakSummary {
            senders: peak.senders,
            start_ns: peak.start_ns,
            receiver: addresses.text(peak.receiver),
        });
        let incast = IncastSummary {
            interval_ns: INCAST_INTERVAL_NS,
            senders_per_receiver: totals.incast.degree.summary(),
            peaks: peaks.collect(),
            pairs_left_out: totals.incast.pairs_left_out,
        };
        let document = Document {
            format: FORMAT,
            capture,
            frame_sizes: sizes.summary(),
            rates: rates.map_or(RatesByDirection::default(), |rates| RatesByDirection {
                all: Some(rates.all.summary()),
                inbound: rates.inbound.map(|rates| rates.summary()),
                outbound: rates.outbound.map(|rates| rates.summary()),
            }),
            busiest_hosts: totals.hosts.summary(),
            classes: classes.summary(),
            protocols: totals.protocols.summary(),
            fragments: FragmentsSummary {
                frames: fragments.frames,
                frame_bytes: fragments.frame_bytes,
                packets: fragments.packets,
                frames_without_first: fragments.orphans,
            },
            flow_summary: FlowsSummary {
                connections: totals.connections,
                datagram_flows: totals.datagram_flows,
                evicted: totals.evicted,
                flows_max: options.flows_max,
                sizes: totals.sizes.summary(),
                largest,
            },
            tcp: totals.tcp.summary(),
            exchanges: totals.exchanges.summary(),
            concurrency: ConcurrencyByKind {
                open_connections: totals.open.summary(),
                waiting_requests: totals.waiting.summary(),
            },
            incast,
            tables: left_out(options.rows_max, &totals.tables),
        };
        Profile { document, tables: totals.tables.into_tables() }
    }
}

fn capture(reader: &CaptureReader, profiler: &Profiler) -> CaptureSummary {
    let frames = &profiler.frames;
    let (start_ns, end_ns) = frames.span_ns.unwrap_or_default();
    let [unknown, inbound, outbound] = frames.by_direction;
    let is_anonymous = profiler.options.key_hex.is_some();
    let interfaces = reader.interfaces().iter().enumerate().take(INTERFACES_NAMED_MAX);
    let interfaces = interfaces.map(|(number, interface)| InterfaceSummary {
        name: interface.name.clone().filter(|_| !is_anonymous),
        link_type: interface.link,
        snap_bytes: interface.snap_bytes,
        time_resolution: interface.resolution.clone(),
        speed_bps: interface.speed_bps,
        count: frames.by_interface.get(number).copied().unwrap_or_default(),
    });
    CaptureSummary {
        file_format: reader.format(),
        compression: reader.compression().name(),
        read_bytes: reader.offset_bytes(),
        end: end(reader.end().unwrap_or(&End::Complete)),
        frames: frames.all.frames,
        frame_bytes: frames.all.frame_bytes,
        captured_bytes: frames.captured_bytes,
        cut_frames: frames.cut,
        frames_without_time: frames.without_time,
        frames_out_of_order: frames.out_of_order,
        frames_left_out: frames.left_out,
        start_ns,
        end_ns,
        duration_ns: end_ns - start_ns,
        line_bps: profiler.rates.as_ref().and_then(|rates| rates.line_bps),
        largest_packet_bytes: profiler.totals.packet_bytes_max,
        is_anonymous,
        directions: DirectionCounts { unknown, inbound, outbound },
        interfaces: interfaces.collect(),
    }
}

fn end(end: &End) -> EndSummary {
    let state = end.name();
    match end {
        End::Complete => EndSummary { state, what: None, offset_bytes: None },
        End::Truncated { within, offset_bytes } => EndSummary {
            state,
            what: Some((*within).to_owned()),
            offset_bytes: Some(*offset_bytes),
        },
        End::Damaged { what, offset_bytes } => {
            EndSummary { state, what: Some(what.clone()), offset_bytes: Some(*offset_bytes) }
        }
    }
}

fn largest(one: &Largest, text: impl Fn(u128) -> String) -> LargestSummary {
    let (source, destination) = (one.key.sender(one.way), one.key.sender(1 - one.way));
    LargestSummary {
        source: text(source.0),
        source_port: source.1,
        destination: text(destination.0),
        destination_port: destination.1,
        protocol: one.key.protocol,
        frames: one.frames,
        frame_bytes: one.frame_bytes,
        duration_ns: one.duration_ns,
    }
}

fn left_out(rows_max: usize, tables: &Tables) -> TablesSummary {
    let [
        connections_left_out,
        exchanges_left_out,
        datagram_flows_left_out,
        datagrams_left_out,
        round_trips_left_out,
    ] = tables.beyond();
    TablesSummary {
        rows_max,
        connections_left_out,
        exchanges_left_out,
        datagram_flows_left_out,
        datagrams_left_out,
        round_trips_left_out,
    }
}
