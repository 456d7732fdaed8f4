//! `tailrace-fabric limits`: measures the capacity of this machine.

use super::{print_json, punctuality};
use crate::client::Client;
use crate::lab::FabricKind;
use crate::scratch::Scratch;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tailrace_lab::measured_plan::{QUEUE_BYTES, SENDER_FACTOR, two_hosts};
use tailrace_lab::options::{Words, unknown};
use tailrace_outcome::{Fabric, NetworkOutcome};

const GIGABIT: u64 = 1_000_000_000;
/// Ethernet and wire overhead, and headers of a datagram (RFC 791, RFC 768).
const FRAME_BYTES: u64 = 14 + 24;
const HEADER_BYTES: u64 = 20 + 8;
/// Rate of the port that is flooded with small frames: ten times what a core carries. Frames of one
/// wake-up are bounded by the line's rate alone, and a faster line would let a slow machine read
/// without end.
const FLOOD_GBPS: u64 = 10;
/// The source sends this much more than the port can: 110 %.
const OFFERED_PERCENT: u64 = 110;
/// Payloads of small datagrams, and of those that fill a frame of 1 514 bytes.
const SMALL_BYTES: u64 = 64;
const FULL_BYTES: u64 = 1_472;
/// Share of one core that the fabric may take, so that the programs have theirs.
const SWITCH_SHARE_MAX: f64 = 0.5;
/// The source may be slower than the fabric. The fabric's capacity is extrapolated from its share
/// of a core, up to this multiple of the measured rate.
const EXTRAPOLATION_MAX: f64 = 2.0;
/// Sources are started, queues fill.
const WARM_UP: Duration = Duration::from_millis(500);
const WARM_UP_MS: &str = "1000";

/// Ports that are measured: rate, MTU, neighbours that compute without end.
const PORTS: [(u64, u64, usize); 4] =
    [(GIGABIT / 5, 1_500, 0), (GIGABIT, 9_000, 0), (GIGABIT / 5, 1_500, 2), (GIGABIT, 9_000, 2)];

pub(super) fn run(mut words: Words) -> Result<(), String> {
    let (mut seconds, mut kind, mut ports) = (3, FabricKind::Tap, &PORTS[..]);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.value::<u64>()?.clamp(2, 600),
            "--kind" => kind = words.value()?,
            "--frames-only" => ports = &[],
            other => return unknown(other),
        }
    }
    super::end_with_starter()?;
    let program =
        std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let scratch = Scratch::new("limits")?;
    let bench = Bench { program, dir: scratch.path().to_owned(), seconds, kind, ports };
    print_json(&bench.all()?)
}

/// Ends a lab. Returns how its fabric ran, and the frames that it carried in a second.
fn end(lab: Client) -> Result<(Fabric, f64), String> {
    let outcome: NetworkOutcome = serde_json::from_value(lab.down()?)
        .map_err(|error| format!("the outcome of the lab: {error}"))?;
    let fabric = outcome.fabric.unwrap_or_default();
    let carried = fabric.frames_out.unwrap_or(0) as f64 / (outcome.end_ps as f64 * 1e-12).max(1e-9);
    Ok((fabric, carried))
}

struct Bench {
    program: PathBuf,
    dir: PathBuf,
    seconds: u64,
    kind: FabricKind,
    ports: &'static [(u64, u64, usize)],
}

impl Bench {
    fn all(&self) -> Result<Value, String> {
        let frames =
            if self.kind == FabricKind::Tap { self.frames()? } else { self.foreign_frames()? };
        let ports = self.ports.iter().filter(|&&(_, mtu, _)| {
            self.kind.mtu_bytes_max().is_none_or(|most| mtu <= u64::from(most))
        });
        let ports: Vec<Value> =
            ports.map(|&(rate, mtu, hogs)| self.port(rate, mtu, hogs)).collect::<Result<_, _>>()?;
        Ok(json!({ "kind": self.kind.name(), "frames": frames, "ports": ports }))
    }

    /// Frames per second through a foreign switch without rates: small and full frames at full
    /// speed. Its share of a core cannot be separated from that of the source, so that half of the
    /// measured rate is reserved for the programs.
    fn foreign_frames(&self) -> Result<Value, String> {
        let small = self.foreign_rate(SMALL_BYTES)?;
        let full = self.foreign_rate(FULL_BYTES)?;
        Ok(json!({
            "carried_per_s": small.round(),
            "carried_full_per_s": full.round(),
            "frames_per_second_max": (small.min(full) * SWITCH_SHARE_MAX).floor(),
        }))
    }

    fn foreign_rate(&self, payload: u64) -> Result<f64, String> {
        let mut lab = self.lab_with(100 * GIGABIT, 1_500, &["--unshaped"])?;
        lab.spawn("sink", "h0", &[self.program(), "sink", "--port", "9", "--skip-ms", WARM_UP_MS])?;
        self.source(&mut lab, payload, 1)?;
        self.measure(&mut lab)?;
        end(lab).map(|(_, carried_per_s)| carried_per_s)
    }

    /// Frames per second of small datagrams, as fast as they come.
    fn frames(&self) -> Result<Value, String> {
        let (rate, payload) = (FLOOD_GBPS * GIGABIT, SMALL_BYTES);
        let mut lab = self.lab(rate, 1_500)?;
        lab.spawn("sink", "h0", &[self.program(), "sink", "--port", "9", "--skip-ms", WARM_UP_MS])?;
        self.source(&mut lab, payload, 1)?;
        self.measure(&mut lab)?;
        let (fabric, carried) = end(lab)?;
        let share = fabric.cpu.switch_share.unwrap_or(1.0).max(1e-9);
        Ok(json!({
            "carried_per_s": carried.round(),
            "switch_share": share,
            "frames_per_second_max": (carried * (SWITCH_SHARE_MAX / share).min(EXTRAPOLATION_MAX)).floor(),
            "lateness_us": fabric.lateness_us,
            "max_gap_us": fabric.max_gap_us,
        }))
    }

    /// A port that is offered more than it can send; before it, how late the machine is beside the
    /// same neighbours.
    fn port(&self, rate: u64, mtu: u64, neighbours: usize) -> Result<Value, String> {
        let (payload, wire_bits) = (mtu - HEADER_BYTES, (mtu + FRAME_BYTES) * 8);
        let mut lab = self.lab(rate, mtu)?;
        let hogs = Hogs::start(&self.program, neighbours)?;
        let machine = punctuality::measure(Duration::from_secs(self.seconds))?;
        lab.spawn("sink", "h0", &[self.program(), "sink", "--port", "9", "--skip-ms", WARM_UP_MS])?;
        self.source(&mut lab, payload, wire_bits * GIGABIT * 100 / (rate * OFFERED_PERCENT))?;
        self.measure(&mut lab)?;
        let (_, text) = lab.wait("sink")?;
        drop(hogs);
        let sink: Value = serde_json::from_str(&text)
            .map_err(|error| format!("unexpected output of the sink {text:?}: {error}"))?;
        let (fabric, _) = end(lab)?;
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let received_bps =
            number(&sink["datagrams"]) * wire_bits as f64 / (number(&sink["span_ns"]) * 1e-9);
        let frame_us = wire_bits as f64 / rate as f64 * 1e6;
        // A frame passes the line of its host, comes to a full queue, waits for the frames before
        // it, and is sent itself.
        let ideal_us =
            (QUEUE_BYTES / (mtu + 14)) as f64 * frame_us + frame_us / SENDER_FACTOR as f64;
        Ok(json!({
            "rate_bps": rate,
            "mtu_bytes": mtu,
            "neighbours": neighbours,
            "rate_error_ppm": fabric.rate_error_ppm.as_ref().and_then(|errors| errors.get("sw>h0")),
            "received_error_ppm": (received_bps / rate as f64 - 1.0) * 1e6,
            "delay_us": sink["delay_us"],
            "delay_full_queue_us": ideal_us,
            "lateness_us": fabric.lateness_us,
            "own_lateness_us": fabric.own_lateness_us,
            "stalls": fabric.stalls,
            "machine": machine,
            "max_gap_us": fabric.max_gap_us,
            "cpu": fabric.cpu,
            "frames_lost_outside": fabric.frames_lost_outside,
        }))
    }

    fn lab(&self, rate: u64, mtu: u64) -> Result<Client, String> {
        self.lab_with(rate, mtu, &[])
    }

    fn lab_with(&self, rate: u64, mtu: u64, options: &[&str]) -> Result<Client, String> {
        let most = u64::MAX.to_string();
        let usual = ["--frames-per-second-max", &most, "--kind", self.kind.name()];
        Client::start(&self.program, &two_hosts(rate, mtu), &self.dir, &[&usual, options].concat())
    }

    fn source(&self, lab: &mut Client, payload_bytes: u64, interval_ns: u64) -> Result<(), String> {
        let (payload, interval, seconds) =
            (payload_bytes.to_string(), interval_ns.to_string(), (self.seconds + 2).to_string());
        let options =
            ["--payload-bytes", &payload, "--interval-ns", &interval, "--seconds", &seconds];
        lab.spawn(
            "source",
            "h1",
            &[&[self.program(), "source", "--to", "10.77.0.1:9"][..], &options].concat(),
        )
    }

    fn measure(&self, lab: &mut Client) -> Result<(), String> {
        sleep(WARM_UP);
        lab.ask(json!({ "op": "begin" }))?;
        sleep(Duration::from_secs(self.seconds));
        lab.ask(json!({ "op": "end" })).map(drop)
    }

    fn program(&self) -> &str {
        self.program.to_str().unwrap_or("tailrace-fabric")
    }
}

/// Neighbours that compute. They end with their value, and with this process, however that ends.
struct Hogs(Vec<Child>);

impl Hogs {
    fn start(program: &Path, count: usize) -> Result<Hogs, String> {
        let mut hogs = Hogs(Vec::new()); // those already started end if a later one cannot be started
        for _ in 0..count {
            let mut command = Command::new(program);
            command.arg("compute").stdin(Stdio::piped()).stdout(Stdio::null());
            hogs.0.push(command.spawn().map_err(|error| format!("starting a neighbour: {error}"))?);
        }
        Ok(hogs)
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill(); // it ends by nothing else
            let _ = hog.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plans_of_the_measurement_are_sound() {
        for (rate, mtu, _) in PORTS {
            tailrace_plan::Plan::parse(&two_hosts(rate, mtu).to_string()).expect("a sound plan");
        }
    }
}
