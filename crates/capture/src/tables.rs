//! Rows of connections, exchanges, flows of datagrams, datagrams and round trips, for further
//! processing. Each table has a limit; further rows are counted.

use crate::addresses::Addresses;
use crate::exchanges::Exchange;
use crate::flows::{Flow, Key};
use tailrace_record::{Column, Table};

/// Columns with these words in their names need 64 bits; indices, ports, flags and counts of one
/// connection's segments need 32.
const WIDE: [&str; 3] = ["_ns", "_bytes", "_frames"];

/// Columns of whole numbers, filled row by row.
struct Rows<const N: usize> {
    names: [&'static str; N],
    columns: [Column; N],
    rows_max: usize,
    rows: usize,
    beyond: u64,
}

impl<const N: usize> Rows<N> {
    fn new(names: [&'static str; N], rows_max: usize) -> Rows<N> {
        let is_wide = |name: &str| {
            WIDE.iter().any(|word| name.ends_with(word)) && !name.ends_with("mss_bytes")
        };
        let column = |name: &str| {
            if is_wide(name) { Column::U64(Vec::new()) } else { Column::U32(Vec::new()) }
        };
        Rows { names, columns: names.map(column), rows_max, rows: 0, beyond: 0 }
    }

    /// An empty row, if there is room.
    fn reserve(&mut self) -> Option<u32> {
        if self.rows >= self.rows_max {
            self.beyond += 1;
            return None;
        }
        for column in &mut self.columns {
            match column {
                Column::U32(values) => values.push(0),
                Column::U64(values) => values.push(0),
                Column::F64(values) => values.push(0.0),
            }
        }
        self.rows += 1;
        Some((self.rows - 1) as u32)
    }

    fn fill(&mut self, row: u32, values: [u64; N]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            match column {
                Column::U32(values) => {
                    values[row as usize] = u32::try_from(value).unwrap_or(u32::MAX)
                }
                Column::U64(values) => values[row as usize] = value,
                Column::F64(values) => values[row as usize] = value as f64,
            }
        }
    }

    fn table(self, name: &'static str) -> Table {
        Table { name, columns: self.names.into_iter().zip(self.columns).collect() }
    }
}

const CONNECTION: [&str; 28] = [
    "client_address",
    "server_address",
    "client_port",
    "server_port",
    "is_client_known",
    "start_ns",
    "end_ns",
    "client_frames",
    "server_frames",
    "client_frame_bytes",
    "server_frame_bytes",
    "client_payload_bytes",
    "server_payload_bytes",
    "client_retransmissions",
    "server_retransmissions",
    "client_side_rtt_min_ns",
    "server_side_rtt_min_ns",
    "client_mss_bytes",
    "server_mss_bytes",
    "client_dscp",
    "server_dscp",
    "has_syn",
    "has_syn_ack",
    "has_fin",
    "has_rst",
    "has_ecn",
    "exchanges",
    "is_evicted",
];

const EXCHANGE: [&str; 8] = [
    "connection",
    "request_start_ns",
    "request_end_ns",
    "request_bytes",
    "response_start_ns",
    "response_end_ns",
    "response_bytes",
    "is_pipelined",
];

const DATAGRAM_FLOW: [&str; 13] = [
    "source_address",
    "destination_address",
    "source_port",
    "destination_port",
    "protocol",
    "start_ns",
    "end_ns",
    "sent_frames",
    "returned_frames",
    "sent_frame_bytes",
    "returned_frame_bytes",
    "sent_payload_bytes",
    "returned_payload_bytes",
];

const DATAGRAM: [&str; 4] = ["flow", "at_ns", "payload_bytes", "is_returned"];

const ROUND_TRIP: [&str; 4] = ["connection", "at_ns", "rtt_ns", "is_server_side"];

/// All tables.
pub(crate) struct Tables {
    connections: Rows<{ CONNECTION.len() }>,
    exchanges: Rows<{ EXCHANGE.len() }>,
    datagram_flows: Rows<{ DATAGRAM_FLOW.len() }>,
    datagrams: Rows<{ DATAGRAM.len() }>,
    round_trips: Rows<{ ROUND_TRIP.len() }>,
    pub(crate) addresses: Addresses,
}

impl Tables {
    pub(crate) fn new(rows_max: usize, addresses: Addresses) -> Tables {
        Tables {
            connections: Rows::new(CONNECTION, rows_max),
            exchanges: Rows::new(EXCHANGE, rows_max),
            datagram_flows: Rows::new(DATAGRAM_FLOW, rows_max),
            datagrams: Rows::new(DATAGRAM, rows_max),
            round_trips: Rows::new(ROUND_TRIP, rows_max),
            addresses,
        }
    }

    /// A row for a flow that begins, if there is room: rows are in the order of the beginnings.
    pub(crate) fn reserve(&mut self, is_tcp: bool) -> Option<u32> {
        if is_tcp { self.connections.reserve() } else { self.datagram_flows.reserve() }
    }

    /// Fills the row of a connection that is over; `client` is its client's direction.
    pub(crate) fn connection(&mut self, key: &Key, flow: &Flow, client: usize, is_evicted: bool) {
        let Some(row) = flow.row else { return };
        let server = 1 - client;
        let ends = [key.sender(client), key.sender(server)]
            .map(|(address, port)| (self.addresses.index(address), port));
        let (start_ns, end_ns) = flow.span_ns();
        let (ways, state) = ([flow.ways[client], flow.ways[server]], &flow.connection);
        let sides = [state.sides[client], state.sides[server]];
        self.connections.fill(
            row,
            [
                u64::from(ends[0].0),
                u64::from(ends[1].0),
                u64::from(ends[0].1),
                u64::from(ends[1].1),
                u64::from(state.is_client_known()),
                start_ns,
                end_ns,
                ways[0].frames,
                ways[1].frames,
                ways[0].frame_bytes,
                ways[1].frame_bytes,
                ways[0].payload_bytes,
                ways[1].payload_bytes,
                u64::from(sides[0].retransmissions()),
                u64::from(sides[1].retransmissions()),
                // The time to an acknowledgement by the client is that of the server's data.
                sides[1].rtt_min_ns(),
                sides[0].rtt_min_ns(),
                u64::from(sides[0].mss_bytes()),
                u64::from(sides[1].mss_bytes()),
                u64::from(ways[0].dscp),
                u64::from(ways[1].dscp),
                u64::from(state.has_syn),
                u64::from(state.has_syn_ack),
                u64::from(state.has_fin),
                u64::from(state.has_rst),
                u64::from(state.has_ecn),
                u64::from(flow.conversation.exchanges),
                u64::from(is_evicted),
            ],
        );
    }

    /// Adds an exchange of the connection in this row.
    pub(crate) fn exchange(&mut self, connection: Option<u32>, exchange: &Exchange) {
        let Some(connection) = connection else {
            self.exchanges.beyond += 1;
            return;
        };
        if let Some(row) = self.exchanges.reserve() {
            self.exchanges.fill(
                row,
                [
                    u64::from(connection),
                    exchange.request_start_ns,
                    exchange.request_end_ns,
                    exchange.request_bytes,
                    exchange.response_start_ns,
                    exchange.response_end_ns,
                    exchange.response_bytes,
                    u64::from(exchange.is_pipelined),
                ],
            );
        }
    }

    /// Fills the row of a flow of datagrams, or of another protocol, that is over.
    pub(crate) fn datagram_flow(&mut self, key: &Key, flow: &Flow) {
        let Some(row) = flow.row else { return };
        let sent = usize::from(flow.first_way);
        let ends = [key.sender(sent), key.sender(1 - sent)]
            .map(|(address, port)| (self.addresses.index(address), port));
        let (start_ns, end_ns) = flow.span_ns();
        let ways = [flow.ways[sent], flow.ways[1 - sent]];
        self.datagram_flows.fill(
            row,
            [
                u64::from(ends[0].0),
                u64::from(ends[1].0),
                u64::from(ends[0].1),
                u64::from(ends[1].1),
                u64::from(key.protocol),
                start_ns,
                end_ns,
                ways[0].frames,
                ways[1].frames,
                ways[0].frame_bytes,
                ways[1].frame_bytes,
                ways[0].payload_bytes,
                ways[1].payload_bytes,
            ],
        );
    }

    /// Adds a datagram of this flow, in the direction of `way`.
    #[inline]
    pub(crate) fn datagram(&mut self, flow: &Flow, way: usize, payload_bytes: u32, now_ns: u64) {
        let Some(of) = flow.row else {
            self.datagrams.beyond += 1;
            return;
        };
        if let Some(row) = self.datagrams.reserve() {
            let is_returned = way != usize::from(flow.first_way);
            self.datagrams.fill(
                row,
                [u64::from(of), now_ns, u64::from(payload_bytes), u64::from(is_returned)],
            );
        }
    }

    /// Adds a round trip to one end of the connection in this row.
    #[inline]
    pub(crate) fn round_trip(
        &mut self,
        connection: Option<u32>,
        now_ns: u64,
        rtt_ns: u64,
        is_server_side: bool,
    ) {
        let Some(of) = connection else {
            self.round_trips.beyond += 1;
            return;
        };
        if let Some(row) = self.round_trips.reserve() {
            self.round_trips.fill(row, [u64::from(of), now_ns, rtt_ns, u64::from(is_server_side)]);
        }
    }

    /// Rows that had no room: of connections, exchanges, flows of datagrams, datagrams and round
    /// trips.
    pub(crate) fn beyond(&self) -> [u64; 5] {
        let [flows, single] = [self.datagram_flows.beyond, self.datagrams.beyond];
        [self.connections.beyond, self.exchanges.beyond, flows, single, self.round_trips.beyond]
    }

    pub(crate) fn into_tables(self) -> Vec<Table> {
        vec![
            self.connections.table("connections"),
            self.exchanges.table("exchanges"),
            self.datagram_flows.table("datagram_flows"),
            self.datagrams.table("datagrams"),
            self.round_trips.table("round_trips"),
            self.addresses.table(),
        ]
    }
}
