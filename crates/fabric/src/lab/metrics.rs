//! The outcome so far in the text format of OpenMetrics 1.0, served by HTTP on the machine's
//! loopback.

use std::fmt::{self, Write as _};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;
use tailrace_outcome::{NetworkOutcome, Port, Queue};

/// How long a request may take: the lab serves one at a time.
const REQUEST_WAIT: Duration = Duration::from_millis(500);
/// A request is read up to this length; its content does not matter.
const REQUEST_BYTES_MAX: usize = 8_192;

/// Answers the request that waits at a listener. One that fails is the asker's loss.
pub(super) fn serve(listener: &TcpListener, outcome: &NetworkOutcome) {
    let Ok((mut stream, _)) = listener.accept() else { return };
    let limits = stream
        .set_read_timeout(Some(REQUEST_WAIT))
        .and_then(|()| stream.set_write_timeout(Some(REQUEST_WAIT)));
    if limits.is_err() || stream.read(&mut [0; REQUEST_BYTES_MAX]).is_err() {
        return;
    }
    let body = text(outcome);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes()); // the asker may be gone
}

/// The counters of each queue.
struct OfQueue {
    what: &'static str,
    unit: &'static str,
    help: &'static str,
    count: fn(&Queue) -> Option<u64>,
}

const OF_QUEUE: [OfQueue; 3] = [
    OfQueue {
        what: "tailrace_tx",
        unit: "frames",
        help: "Frames sent",
        count: |queue| Some(queue.tx_frames),
    },
    OfQueue {
        what: "tailrace_tx",
        unit: "bytes",
        help: "Bytes sent, without wire overhead",
        count: |queue| Some(queue.tx_bytes),
    },
    OfQueue {
        what: "tailrace_marked",
        unit: "frames",
        help: "Frames marked congestion experienced",
        count: |queue| queue.marked_frames,
    },
];
const US_PER_S: f64 = 1e6;

fn text(outcome: &NetworkOutcome) -> String {
    let mut out = String::new();
    let queues =
        || outcome.ports.iter().flat_map(|port| port.queues.iter().map(move |queue| (port, queue)));
    for OfQueue { what, unit, help, count } in OF_QUEUE {
        let name = head(&mut out, what, unit, "counter", help);
        queues().for_each(|(port, queue)| {
            sample(&mut out, &format!("{name}_total"), &labels(port, queue), count(queue))
        });
    }
    let dropped =
        head(&mut out, "tailrace_dropped", "frames", "counter", "Frames dropped, by cause");
    for (port, queue) in queues() {
        for (cause, drops) in &queue.drops {
            let labels = format!("{},cause={}", labels(port, queue), quoted(cause));
            sample(&mut out, &format!("{dropped}_total"), &labels, Some(drops.frames));
        }
    }
    let depth = head(&mut out, "tailrace_queue_depth_max", "bytes", "gauge", "Largest queue depth");
    queues().for_each(|(port, queue)| {
        sample(&mut out, &depth, &labels(port, queue), queue.depth_max_bytes)
    });
    let name = head(
        &mut out,
        "tailrace_lateness",
        "seconds",
        "summary",
        "Time from when a frame was due until it was delivered",
    );
    // Where there is none, it is no fabric of ours.
    if let Some(late) = outcome.fabric.as_ref().and_then(|fabric| fabric.lateness_us) {
        for (quantile, us) in
            [("0.5", late.p50), ("0.9", late.p90), ("0.99", late.p99), ("0.999", late.p99_9)]
        {
            sample(&mut out, &name, &format!("quantile={}", quoted(quantile)), Some(us / US_PER_S));
        }
    }
    out.push_str("# EOF\n");
    out
}

/// The lines before the samples of a metric. Returns its name, which ends with its unit.
fn head(out: &mut String, what: &str, unit: &str, kind: &str, help: &str) -> String {
    let name = format!("{what}_{unit}");
    writeln!(out, "# TYPE {name} {kind}\n# UNIT {name} {unit}\n# HELP {name} {help}.")
        .expect("a string takes everything");
    name
}

/// A line for a value; none for a figure that is not counted.
fn sample(out: &mut String, name: &str, labels: &str, value: Option<impl fmt::Display>) {
    if let Some(value) = value {
        writeln!(out, "{name}{{{labels}}} {value}").expect("a string takes everything");
    }
}

fn labels(port: &Port, queue: &Queue) -> String {
    format!(
        "node={},towards={},queue={}",
        quoted(&port.node),
        quoted(&port.towards),
        quoted(&queue.name)
    )
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_outcome::{Dropped, Fabric, LatenessUs};

    fn port(queue: Queue) -> NetworkOutcome {
        let port = Port {
            node: "sw".to_owned(),
            towards: "db1".to_owned(),
            queues: vec![queue],
            ..Port::default()
        };
        NetworkOutcome { ports: vec![port], ..NetworkOutcome::default() }
    }

    #[test]
    fn an_outcome_becomes_lines_that_a_collector_reads() {
        let lost = Dropped { frames: 2, bytes: Some(3_000) };
        let queue = Queue {
            name: "q\"1".to_owned(),
            tx_frames: 3,
            tx_bytes: 4_500,
            marked_frames: Some(0),
            depth_max_bytes: Some(9),
            drops: [("tail-drop".to_owned(), lost)].into(),
            ..Queue::default()
        };
        let late = LatenessUs {
            p50: 250_000.0,
            p90: 300_000.0,
            p99: 300_000.0,
            p99_9: 1_000_000.0,
            max: 1_000_000.0,
        };
        let fabric = Some(Fabric { lateness_us: Some(late), ..Fabric::default() });
        let text = text(&NetworkOutcome { fabric, ..port(queue) });
        let labels = r#"{node="sw",towards="db1",queue="q\"1""#;
        for line in [
            format!("tailrace_tx_bytes_total{labels}}} 4500"),
            format!("tailrace_dropped_frames_total{labels},cause=\"tail-drop\"}} 2"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        let foreign = super::text(&port(Queue::default()));
        assert!(!foreign.contains("tailrace_marked_frames_total{"), "no count, no line: {foreign}");
        assert!(text.contains("\ntailrace_lateness_seconds{quantile=\"0.5\"} 0.25\n"), "{text}");
        assert!(
            text.ends_with("\ntailrace_lateness_seconds{quantile=\"0.999\"} 1\n# EOF\n"),
            "{text}"
        );
    }
}
