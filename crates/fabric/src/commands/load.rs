//! `tailrace-fabric source` and `sink`: send and receive datagrams at a rate. They load a fabric
//! that is measured; the clock of both is the machine's, so that one-way delays are true.

use super::print_json;
use crate::sys::thread::use_exact_timers;
use hdrhistogram::Histogram;
use nix::sys::socket::{setsockopt, sockopt};
use nix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};
use tailrace_lab::options::{Words, required, unknown};

/// A source that came late makes up for it in bursts of at most this length, and sleeps for as long
/// between them.
const BURST: Duration = Duration::from_micros(500);
/// A datagram begins with its number and the time of sending.
const HEADER_BYTES: usize = 16;
/// Largest payload of a datagram (RFC 768).
const PAYLOAD_BYTES_MAX: usize = 65_507;
/// The sink ends when nothing has come for this long after the first datagram. A machine that is
/// full with work was seen to stop programs for more than a second.
const SILENCE: Duration = Duration::from_secs(2);
/// How long the sink waits for the first one.
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// Delays are kept to within 0.01 %: 7 us of those behind a full queue of 1 MB at 200 Mbit/s.
const SIGNIFICANT_DIGITS: u8 = 4;
/// Datagrams that wait for the sink, in bytes of the kernel's: 4 000 of the largest frames, 30 ms
/// at 10 Gbit/s. The usual 212 992 are a dozen of them, and would be full when the sink comes a
/// millisecond late.
const RECEIVE_BUFFER_BYTES: usize = 64 << 20;
/// Datagrams that the source may have waiting, in bytes of the kernel's: some hundred of the
/// largest frames, so that it need not be woken for every few of them. The usual 212 992 bytes are
/// a dozen.
const SEND_BUFFER_BYTES: usize = 4 << 20;
const NS_PER_S: u64 = 1_000_000_000;

/// Sends datagrams: `--to ADDRESS:PORT --payload-bytes N --interval-ns N --seconds N --count N`.
/// Without an interval it sends as fast as it can.
pub(super) fn source(mut words: Words) -> Result<(), String> {
    let (mut to, mut payload_bytes, mut interval_ns) = (None, 1_400_usize, 0_u64);
    let (mut seconds, mut count) = (1_u64, u64::MAX);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--to" => to = Some(words.value::<SocketAddrV4>()?),
            "--payload-bytes" => payload_bytes = words.value()?,
            "--interval-ns" => interval_ns = words.value()?,
            "--count" => count = words.value()?,
            "--seconds" => seconds = words.value()?,
            other => return unknown(other),
        }
    }
    if !(HEADER_BYTES..=PAYLOAD_BYTES_MAX).contains(&payload_bytes) {
        return Err(format!("--payload-bytes must be {HEADER_BYTES} to {PAYLOAD_BYTES_MAX}"));
    }
    let to = required(to, "--to")?;
    let most = Most { count, length: Duration::from_secs(seconds) };
    let (sent, refused) =
        send(to, payload_bytes, interval_ns, most).map_err(|error| error.to_string())?;
    print_json(&json!({ "sent": sent, "refused": refused }))
}

/// When a source ends: whichever comes first.
#[derive(Clone, Copy)]
struct Most {
    count: u64,
    length: Duration,
}

/// Sends one datagram every `interval_ns`, in bursts. Returns how many were sent, and how many the
/// kernel refused.
fn send(
    to: SocketAddrV4,
    payload_bytes: usize,
    interval_ns: u64,
    most: Most,
) -> io::Result<(u64, u64)> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect(to)?;
    // Without the right to it the usual size remains, and the source is woken more often.
    let _ = setsockopt(&socket, sockopt::SndBufForce, &SEND_BUFFER_BYTES);
    use_exact_timers();
    // A burst would wait in its own host, which is no delay of the network.
    let pause = BURST.min(Duration::from_nanos(interval_ns));
    let mut datagram = vec![0; payload_bytes];
    let (mut number, mut refused) = (0_u64, 0);
    let start = Instant::now();
    while start.elapsed() < most.length && number < most.count {
        let due = (start.elapsed().as_nanos() as u64)
            .checked_div(interval_ns)
            .unwrap_or(u64::MAX)
            .min(most.count);
        let burst_end = Instant::now() + BURST;
        while number < due && Instant::now() < burst_end {
            datagram[..8].copy_from_slice(&number.to_le_bytes());
            datagram[8..16].copy_from_slice(&now_ns().to_le_bytes());
            // A full socket buffer: the datagram is lost, as it would be to any program.
            refused += u64::from(socket.send(&datagram).is_err());
            number += 1;
        }
        if number >= due {
            std::thread::sleep(pause);
        }
    }
    Ok((number, refused))
}

/// Receives datagrams: `--port N --skip-ms N`. Datagrams of the first `skip-ms` milliseconds are
/// not counted.
pub(super) fn sink(mut words: Words) -> Result<(), String> {
    let (mut port, mut skip_ms) = (None, 0_u64);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--port" => port = Some(words.value::<u16>()?),
            "--skip-ms" => skip_ms = words.value()?,
            other => return unknown(other),
        }
    }
    let port = required(port, "--port")?;
    let received = receive(port, Duration::from_millis(skip_ms))
        .map_err(|error| format!("port {port}: {error}"))?;
    let us = |percent: f64| received.delays_ns.value_at_percentile(percent) as f64 / 1e3;
    print_json(&json!({
        "datagrams": received.datagrams,
        "payload_bytes": received.payload_bytes,
        "span_ns": received.last_ns.saturating_sub(received.first_ns),
        "numbers": received.last_number.saturating_sub(received.first_number) + 1,
        "delay_us": {
            "p1": us(1.0), "p50": us(50.0), "p99": us(99.0), "p99_9": us(99.9),
            "max": received.delays_ns.max() as f64 / 1e3,
        },
    }))
}

/// Datagrams after the first one, which only starts the clock.
struct Received {
    datagrams: u64,
    payload_bytes: u64,
    first_ns: u64,
    last_ns: u64,
    first_number: u64,
    last_number: u64,
    delays_ns: Histogram<u64>,
}

fn receive(port: u16, skip: Duration) -> io::Result<Received> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
    // Without the right to it the usual size remains, and datagrams that were lost there are
    // missing from the count.
    let _ = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES);
    let mut buffer = vec![0; PAYLOAD_BYTES_MAX];
    let delays_ns = Histogram::new(SIGNIFICANT_DIGITS).map_err(io::Error::other)?;
    let mut received = Received {
        datagrams: 0,
        payload_bytes: 0,
        first_ns: 0,
        last_ns: 0,
        first_number: 0,
        last_number: 0,
        delays_ns,
    };
    socket.set_read_timeout(Some(FIRST_WAIT))?;
    let length = socket.recv(&mut buffer)?;
    socket.set_read_timeout(Some(SILENCE))?;
    let from_ns = now_ns() + skip.as_nanos() as u64;
    (received.first_ns, received.first_number) = (now_ns(), number_at(&buffer[..length], 0));
    while let Ok(length) = socket.recv(&mut buffer) {
        let now = now_ns();
        let number = number_at(&buffer[..length], 0);
        if now < from_ns {
            (received.first_ns, received.first_number) = (now, number);
            continue;
        }
        received.datagrams += 1;
        received.payload_bytes += length as u64;
        (received.last_ns, received.last_number) = (now, number);
        received
            .delays_ns
            .record(now.saturating_sub(number_at(&buffer[..length], 8)))
            .map_err(io::Error::other)?;
    }
    Ok(received)
}

fn number_at(datagram: &[u8], at: usize) -> u64 {
    datagram.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has this clock");
    time.tv_sec() as u64 * NS_PER_S + time.tv_nsec() as u64
}
