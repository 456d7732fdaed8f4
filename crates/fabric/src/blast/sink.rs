//! Where frames of a workload arrive: counts them, and how long each was under way.

use crate::generator::{MARKED_BYTES, marks};
use crate::sys::packet::PacketReceiver;
use crate::sys::stopping::Stopping;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};
use tailrace_record::{Latency, Series};
use tailrace_units::{Span, Time};

/// How often arrivals are read: the kernel has noted their times, and its memory holds 131 072 of
/// them.
const RECEIVE_POLL: Duration = Duration::from_millis(1);
/// RFC 2544 section 23: after the last frame was sent, two seconds for frames on their way.
const RESIDUE: Duration = Duration::from_secs(2);
/// A frame that has not come for this long will not come: ten times the longest delay of a full
/// queue that was seen here (20 ms).
const SILENCE: Duration = Duration::from_millis(200);
const PORT_AT: usize = 36;

/// The expected frames.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catch {
    /// Interface of the calling thread's network namespace.
    interface: String,
    /// UDP port that frames go to.
    port: u16,
    /// Time zero (CLOCK_REALTIME).
    origin_ns: u64,
    /// Latencies count from then until then.
    from_ns: u64,
    until_ns: u64,
    /// Bins of the series of frames.
    bins_max: usize,
    bin_ps: u64,
    /// Frames that are reported one by one, at most.
    rows_max: usize,
}

impl Catch {
    /// Reads JSON.
    ///
    /// # Errors
    /// The fault in it.
    pub(crate) fn parse(text: &str) -> Result<Catch, String> {
        let order: Catch = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if order.bins_max < 2 || order.bin_ps == 0 {
            return Err(
                "a series has bins: bins_max must be 2 or more, and bin_ps must not be 0".into()
            );
        }
        Ok(order)
    }
}

/// Statistics of arrivals.
struct Arrivals<'a> {
    order: &'a Catch,
    received: u64,
    delays: Latency,
    series: Series,
    rows: Vec<(u64, u64)>,
}

impl Arrivals<'_> {
    fn new(order: &Catch) -> Arrivals<'_> {
        let series = Series::new(order.bins_max, Span::from_ps(order.bin_ps));
        Arrivals { order, received: 0, delays: Latency::default(), series, rows: Vec::new() }
    }

    fn take(&mut self, bytes: &[u8], arrived_ns: u64) {
        let Some(marks) =
            marks(bytes).filter(|_| bytes[PORT_AT..PORT_AT + 2] == self.order.port.to_be_bytes())
        else {
            return;
        };
        self.received += 1;
        let since_origin = |at_ns: u64| Span::from_ns(at_ns.saturating_sub(self.order.origin_ns));
        self.series.add(Time::ZERO + since_origin(arrived_ns), 1);
        if (self.order.from_ns..self.order.until_ns).contains(&arrived_ns) {
            let delay = Span::from_ns(arrived_ns.saturating_sub(marks.sent_ns));
            self.delays.record(delay);
            if self.rows.len() < self.order.rows_max {
                self.rows.push((since_origin(marks.sent_ns).ps(), delay.ps()));
            }
        }
    }

    fn json(&self, overruns: u64) -> Value {
        json!({
            "received": self.received, "latency": self.delays.summary(), "rows": self.rows, "bin_ps": self.series.width().ps(),
            "bins": self.series.bins(), "overruns": overruns,
        })
    }
}

/// Counts until the program is asked to end, and nothing more is under way. Writes `ready` when a
/// frame would be counted.
///
/// # Errors
/// For the user.
pub(crate) fn catch(order: &Catch) -> Result<Value, String> {
    let name = &order.interface;
    let stopping = Stopping::watch().map_err(|error| format!("watching signals: {error}"))?;
    let interface = nix::net::if_::if_nametoindex(name.as_str())
        .map_err(|_| format!("there is no interface '{name}'"))?;
    // The kernel answers a datagram to a port without a socket.
    let _port = UdpSocket::bind(("0.0.0.0", order.port))
        .map_err(|error| format!("port {}: {error}", order.port))?;
    let receive = || -> io::Result<Value> {
        let mut receiver = PacketReceiver::open(interface, MARKED_BYTES as u32)?;
        writeln!(io::stdout(), "ready")?;
        let mut arrivals = Arrivals::new(order);
        let (mut end, mut heard) = (None, Instant::now());
        while end.is_none_or(|end| Instant::now() < end && heard.elapsed() < SILENCE) {
            let before = arrivals.received;
            receiver.receive(|bytes, arrived_ns| arrivals.take(bytes, arrived_ns));
            if arrivals.received > before || end.is_none() {
                heard = Instant::now();
            }
            if end.is_none() && stopping.is_asked() {
                end = Some(Instant::now() + RESIDUE);
            }
            std::thread::sleep(RECEIVE_POLL);
        }
        Ok(arrivals.json(receiver.overruns()?))
    };
    receive().map_err(|error| format!("receiving at {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::mark;

    fn order() -> Catch {
        let text = r#"{"interface": "eth0", "port": 5201, "origin_ns": 1000, "from_ns": 3000, "until_ns": 9000,
                       "bins_max": 8, "bin_ps": 1000000, "rows_max": 2}"#;
        Catch::parse(text).expect("it is sound")
    }

    fn frame(port: u16, sent_ns: u64) -> Vec<u8> {
        let mut frame = vec![0; MARKED_BYTES];
        frame[23] = 17;
        frame[34..36].copy_from_slice(&49_184_u16.to_be_bytes());
        frame[PORT_AT..PORT_AT + 2].copy_from_slice(&port.to_be_bytes());
        mark(&mut frame, 0, sent_ns);
        frame
    }

    #[test]
    fn frames_are_counted_from_time_zero_and_their_delays_in_the_measured_time() {
        let order = order();
        let mut arrivals = Arrivals::new(&order);
        for (port, sent, arrived) in [
            (5201, 1500, 2000),
            (5201, 2500, 3000),
            (5202, 2500, 3100),
            (5201, 4000, 6000),
            (5201, 5000, 8999),
        ] {
            arrivals.take(&frame(port, sent), arrived);
        }
        arrivals.take(&frame(5201, 8900), 9000);
        let report = arrivals.json(7);
        assert_eq!(
            (
                report["received"].as_u64(),
                report["latency"]["count"].as_u64(),
                report["overruns"].as_u64()
            ),
            (Some(5), Some(3), Some(7))
        );
        assert_eq!(
            (&report["bins"], &report["bin_ps"]),
            (&json!([1, 1, 1, 1, 1]), &json!(2_000_000)),
            "eight of 1 us do not reach 8 us"
        );
        assert_eq!(
            report["rows"],
            json!([[1_500_000, 500_000], [3_000_000, 2_000_000]]),
            "no more than asked for"
        );
    }

    #[test]
    fn an_order_without_bins_is_refused() {
        let text = r#"{"interface": "eth0", "port": 1, "origin_ns": 0, "from_ns": 0, "until_ns": 0, "bins_max": 1, "bin_ps": 1, "rows_max": 0}"#;
        assert!(Catch::parse(text).expect_err("one bin").contains("bins_max"));
    }
}
