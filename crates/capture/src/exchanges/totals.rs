//! Statistics of all exchanges, for each of the first services and together.

use super::conversation::Exchange;
use crate::distribution::{Distribution, Summary};
use serde::Serialize;
use std::collections::BTreeMap;

/// Services (ports of servers) that have distributions of their own; all others share one.
const SERVICES_MAX: usize = 16;

/// Exchanges of one service.
#[derive(Clone, Debug, Default)]
struct Service {
    pipelined: u64,
    unanswered: u64,
    request_bytes: Distribution,
    response_bytes: Distribution,
    server_time: Distribution,
    response_time: Distribution,
    think_time: Distribution,
}

/// All exchanges.
#[derive(Clone, Debug, Default)]
pub struct ExchangeTotals {
    all: Service,
    services: BTreeMap<u16, Service>,
    other: Service,
    unrequested_bytes: u64,
    per_connection: Distribution,
}

/// Results on the exchanges of one service.
#[derive(Debug, PartialEq, Serialize)]
pub struct ServiceSummary {
    /// Port of the servers; none for all others together.
    port: Option<u16>,
    exchanges: u64,
    pipelined: u64,
    unanswered: u64,
    request_bytes: Summary,
    response_bytes: Summary,
    /// From the last segment of a request to the first of its response, at the point of capture.
    server_time_ns: Summary,
    /// From the first segment of a request to the last of its response.
    exchange_time_ns: Summary,
    /// From the last segment of a response to the first of the next request.
    think_time_ns: Summary,
}

/// Results on exchanges.
#[derive(Debug, PartialEq, Serialize)]
pub struct ExchangesSummary {
    #[serde(flatten)]
    all: ServiceSummary,
    /// Data that servers sent before any request.
    unrequested_bytes: u64,
    exchanges_per_connection: Summary,
    services: Vec<ServiceSummary>,
}

impl Service {
    fn add(&mut self, exchange: &Exchange) {
        self.pipelined += u64::from(exchange.is_pipelined);
        self.request_bytes.add(exchange.request_bytes);
        if let Some(think_ns) = exchange.think_ns {
            self.think_time.add(think_ns);
        }
        if exchange.response_bytes == 0 {
            self.unanswered += 1;
            return;
        }
        self.response_bytes.add(exchange.response_bytes);
        self.server_time.add(exchange.response_start_ns.saturating_sub(exchange.request_end_ns));
        self.response_time.add(exchange.response_end_ns.saturating_sub(exchange.request_start_ns));
    }

    fn summary(&self, port: Option<u16>) -> ServiceSummary {
        ServiceSummary {
            port,
            exchanges: self.request_bytes.count(),
            pipelined: self.pipelined,
            unanswered: self.unanswered,
            request_bytes: self.request_bytes.summary(),
            response_bytes: self.response_bytes.summary(),
            server_time_ns: self.server_time.summary(),
            exchange_time_ns: self.response_time.summary(),
            think_time_ns: self.think_time.summary(),
        }
    }
}

impl ExchangeTotals {
    /// Counts an exchange with a server at this port.
    pub fn add(&mut self, port: u16, exchange: &Exchange) {
        self.all.add(exchange);
        let has_place = self.services.len() < SERVICES_MAX || self.services.contains_key(&port);
        if has_place { self.services.entry(port).or_default() } else { &mut self.other }
            .add(exchange);
    }

    /// Counts a connection that is over.
    pub fn connection(&mut self, exchanges: u32, unrequested_bytes: u64) {
        self.unrequested_bytes += unrequested_bytes;
        if exchanges > 0 {
            self.per_connection.add(u64::from(exchanges));
        }
    }

    /// For the results: services with most exchanges first.
    pub fn summary(&self) -> ExchangesSummary {
        let mut services: Vec<_> =
            self.services.iter().map(|(&port, service)| service.summary(Some(port))).collect();
        services.sort_by_key(|service| (u64::MAX - service.exchanges, service.port));
        if self.other.request_bytes.count() > 0 {
            services.push(self.other.summary(None));
        }
        ExchangesSummary {
            all: self.all.summary(None),
            unrequested_bytes: self.unrequested_bytes,
            exchanges_per_connection: self.per_connection.summary(),
            services,
        }
    }
}
