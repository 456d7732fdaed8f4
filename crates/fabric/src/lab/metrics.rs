//! The outcome so far in the text format of OpenMetrics 1.0, served by HTTP on the machine's loopback.

use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

/// How long a request may take: the lab serves one at a time.
const REQUEST_WAIT: Duration = Duration::from_millis(500);
/// A request is read as far as this; what it asks does not matter.
const REQUEST_BYTES_MAX: usize = 8_192;

/// Answers the request that waits at a listener. One that fails is the asker's loss.
pub(super) fn serve(listener: &TcpListener, outcome: &Value) {
    let Ok((mut stream, _)) = listener.accept() else { return };
    let limits = stream.set_read_timeout(Some(REQUEST_WAIT)).and_then(|()| stream.set_write_timeout(Some(REQUEST_WAIT)));
    if limits.is_err() || stream.read(&mut [0; REQUEST_BYTES_MAX]).is_err() {
        return;
    }
    let body = text(outcome);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let length = body.len();
    let answer =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let _ = stream.write_all(answer.as_bytes()); // the asker may be gone
}

/// What is counted for each queue: what, unit, key in the outcome, help.
const OF_QUEUE: [(&str, &str, &str, &str); 3] = [
    ("tailrace_tx", "frames", "tx_frames", "Frames sent"),
    ("tailrace_tx", "bytes", "tx_bytes", "Bytes sent, without wire overhead"),
    ("tailrace_marked", "frames", "marked_frames", "Frames marked congestion experienced"),
];
/// Percentiles of the outcome as quantiles.
const QUANTILES: [(&str, &str); 4] = [("p50", "0.5"), ("p90", "0.9"), ("p99", "0.99"), ("p99_9", "0.999")];
const US_PER_S: f64 = 1e6;

fn text(outcome: &Value) -> String {
    let mut out = String::new();
    let ports = outcome["ports"].as_array().map_or(&[][..], Vec::as_slice);
    let queues = || ports.iter().flat_map(|port| port["queues"].as_array().into_iter().flatten().map(move |queue| (port, queue)));
    for (what, unit, key, help) in OF_QUEUE {
        let name = head(&mut out, what, unit, "counter", help);
        queues().for_each(|(port, queue)| sample(&mut out, &format!("{name}_total"), &labels(port, queue), &queue[key]));
    }
    let dropped = head(&mut out, "tailrace_dropped", "frames", "counter", "Frames dropped, by cause");
    for (port, queue) in queues() {
        for (cause, drops) in queue["drops"].as_object().into_iter().flatten() {
            let labels = format!("{},cause={}", labels(port, queue), quoted(cause));
            sample(&mut out, &format!("{dropped}_total"), &labels, &drops["frames"]);
        }
    }
    let depth = head(&mut out, "tailrace_queue_depth_max", "bytes", "gauge", "Largest queue depth");
    queues().for_each(|(port, queue)| sample(&mut out, &depth, &labels(port, queue), &queue["depth_max_bytes"]));
    let lateness =
        head(&mut out, "tailrace_lateness", "seconds", "summary", "Time from when a frame was due until it was delivered");
    for (percentile, quantile) in QUANTILES {
        // Where there is no number, nothing was delivered yet.
        if let Some(us) = outcome["fabric"]["lateness_us"][percentile].as_f64() {
            let value = (us / US_PER_S).into();
            sample(&mut out, &lateness, &format!("quantile={}", quoted(quantile)), &value);
        }
    }
    out.push_str("# EOF\n");
    out
}

/// What is told of a metric before its samples. Returns its name, which ends with its unit.
fn head(out: &mut String, what: &str, unit: &str, kind: &str, help: &str) -> String {
    let name = format!("{what}_{unit}");
    writeln!(out, "# TYPE {name} {kind}\n# UNIT {name} {unit}\n# HELP {name} {help}.").expect("a string takes everything");
    name
}

/// A line for a value; none for what nobody counts.
fn sample(out: &mut String, name: &str, labels: &str, value: &Value) {
    if value.is_null() {
        return;
    }
    writeln!(out, "{name}{{{labels}}} {value}").expect("a string takes everything");
}

fn labels(port: &Value, queue: &Value) -> String {
    let text = |value: &Value| quoted(value.as_str().unwrap_or_default());
    format!("node={},towards={},queue={}", text(&port["node"]), text(&port["towards"]), text(&queue["name"]))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_outcome_becomes_lines_that_a_collector_reads() {
        let queue = json!({ "name": "q\"1", "tx_frames": 3, "tx_bytes": 4500, "marked_frames": 0, "depth_max_bytes": 9,
                            "drops": { "tail-drop": { "frames": 2, "bytes": 3000 } } });
        let text = text(&json!({ "ports": [{ "node": "sw", "towards": "db1", "queues": [queue] }],
                                 "fabric": { "lateness_us": { "p50": 250000.0 } } }));
        let labels = r#"{node="sw",towards="db1",queue="q\"1""#;
        for line in [
            format!("tailrace_tx_bytes_total{labels}}} 4500"),
            format!("tailrace_dropped_frames_total{labels},cause=\"tail-drop\"}} 2"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert!(!super::text(&json!({ "ports": [{ "queues": [{ "tx_frames": 1 }] }] })).contains("null"), "no count, no line");
        assert!(text.contains("\ntailrace_lateness_seconds{quantile=\"0.5\"} 0.25\n# EOF\n"), "{text}");
    }
}
