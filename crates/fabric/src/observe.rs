//! Observes an interface for a time: the beginnings of all frames as a capture (pcapng) for the
//! program that profiles them, which never reach a file; see docs/how-to/profile-traffic.md.

use crate::sys::observed::{HANDED_OVER_MS, Observer, Seen};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tailrace_record::pcapng::{
    INBOUND, Interface, LINKTYPE_ETHERNET, LINKTYPE_RAW, OUTBOUND, Packet, Section,
};

/// Kept of each frame: two tags, IPv6 with an extension header and TCP with all options, and room
/// for a tunnel.
const KEPT_BYTES: u32 = 256;
/// An hour.
const LENGTH_NS_MAX: u64 = 3_600_000_000_000;
/// How often the program checks whether its time is over.
const STOP_POLL_MS: u16 = 10;
/// Destination and source, which stand before a tag, and the tag (802.1Q clause 9.3).
const ADDRESSES_BYTES: usize = 12;
const TAG_BYTES: u32 = 4;

/// The observed interface and its options.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchSpec {
    /// Network namespace of the interface; the caller's where there is none.
    namespace: Option<PathBuf>,
    /// Name of the interface there.
    interface: String,
    /// The interface may be one of the machine.
    is_machine_allowed: bool,
    /// For how long.
    length_ns: u64,
}

/// Counts of the observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    /// Frames that were handed on.
    pub(crate) frames: u64,
    /// Frames that the kernel dropped, as the ring had no room.
    pub(crate) dropped_frames: u64,
    /// From the first to the last moment.
    pub(crate) length_ns: u64,
}

impl WatchSpec {
    /// An order from its JSON.
    ///
    /// # Errors
    /// When a key is unknown or out of its range.
    pub(crate) fn parse(json: &str) -> Result<WatchSpec, String> {
        let order: WatchSpec =
            serde_json::from_str(json).map_err(|error| format!("the order: {error}"))?;
        if order.length_ns == 0 || order.length_ns > LENGTH_NS_MAX {
            return Err("the order: `length_ns` must be from 1 to 3600000000000 (an hour)".into());
        }
        Ok(order)
    }
}

/// Writes the capture of an interface, until its time is over or `is_over` says so.
///
/// # Errors
/// For the user.
pub(crate) fn observe(
    order: &WatchSpec,
    output: &mut impl Write,
    is_over: impl Fn() -> bool,
) -> Result<Report, String> {
    let name = &order.interface;
    let refusal = (!order.is_machine_allowed)
        .then_some("name it if its traffic is meant (hint: --interface)");
    let number = crate::namespace_interface::enter(order.namespace.as_deref(), name, refusal)?;
    let mut observer = Observer::open(number, KEPT_BYTES).map_err(|error| refused(name, &error))?;
    let link = link_type(name, observer.hardware())?;
    let failed = |error: io::Error| format!("{name}: {error}");
    let interface = Interface {
        name,
        description: "",
        speed_bps: None,
        link_type: link,
        snap_bytes: KEPT_BYTES,
    };
    let handed = output
        .write_all(&Section::default().block())
        .and_then(|()| output.write_all(&interface.block()));
    handed.map_err(failed)?;
    let (begin, length) = (Instant::now(), Duration::from_nanos(order.length_ns));
    let mut report = Report::default();
    while begin.elapsed() < length && !is_over() {
        observer.wait(STOP_POLL_MS).map_err(failed)?;
        observer.receive(|seen| hand_on(output, seen, &mut report)).map_err(failed)?;
    }
    report.length_ns = begin.elapsed().as_nanos() as u64;
    let last_ns = now_ns();
    report.dropped_frames = observer.dropped().map_err(failed)?;
    // The kernel hands over its last block a little later, with frames that came after the end.
    std::thread::sleep(Duration::from_millis(2 * u64::from(HANDED_OVER_MS)));
    let mut rest = |seen: &Seen<'_>| {
        if seen.at_ns <= last_ns { hand_on(output, seen, &mut report) } else { Ok(()) }
    };
    observer.receive(&mut rest).map_err(failed)?;
    output.flush().map_err(failed)?;
    Ok(report)
}

fn hand_on(output: &mut impl Write, seen: &Seen<'_>, report: &mut Report) -> io::Result<()> {
    let mut with_tag = Vec::new();
    let (mut frame, mut wire_bytes) = (seen.bytes, seen.wire_bytes);
    if let Some((kind, control)) = seen.tag {
        let (addresses, rest) = frame.split_at(ADDRESSES_BYTES.min(frame.len()));
        with_tag.extend([addresses, &kind.to_be_bytes(), &control.to_be_bytes(), rest].concat());
        (frame, wire_bytes) = (&with_tag, wire_bytes + TAG_BYTES);
    }
    let direction = if seen.is_outbound { OUTBOUND } else { INBOUND };
    report.frames += 1;
    let packet = Packet {
        interface: 0,
        at_ns: seen.at_ns,
        direction: Some(direction),
        frame,
        wire_bytes,
        comment: "",
    };
    output.write_all(&packet.block())
}

fn now_ns() -> u64 {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64
}

/// How frames of this kind of interface begin (linux/if_arp.h).
fn link_type(name: &str, hardware: u16) -> Result<u16, String> {
    match hardware {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Ok(LINKTYPE_ETHERNET),
        libc::ARPHRD_NONE => Ok(LINKTYPE_RAW),
        other => Err(format!(
            "{name}: interfaces of kind {other} are not read (hint: an Ethernet or a tun interface)"
        )),
    }
}

fn refused(name: &str, error: &io::Error) -> String {
    let hint = if error.kind() == io::ErrorKind::PermissionDenied {
        " (hint: observing an interface needs root)"
    } else {
        ""
    };
    format!("{name}: {error}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_the_kernel_has_taken_out_stands_in_the_frame_again() {
        let (mut output, mut report) = (Vec::new(), Report::default());
        let bytes = [&[1; ADDRESSES_BYTES][..], &[8, 0, 7, 7]].concat();
        let seen = Seen {
            at_ns: 1,
            bytes: &bytes,
            wire_bytes: 100,
            is_outbound: true,
            tag: Some((0x8100, 0xA00A)),
        };
        hand_on(&mut output, &seen, &mut report).expect("memory takes it");
        // Behind the head of the block: interface, time, and both lengths.
        assert_eq!(output[20..28], [20_u32.to_ne_bytes(), 104_u32.to_ne_bytes()].concat());
        assert_eq!(
            output[28..48],
            [&[1; ADDRESSES_BYTES][..], &[0x81, 0, 0xA0, 0x0A, 8, 0, 7, 7]].concat()
        );
        assert_eq!(report.frames, 1);
    }

    #[test]
    fn an_order_ends_within_an_hour() {
        let order = |length_ns: u64| {
            let json = serde_json::json!({
                "namespace": null, "interface": "eth0", "is_machine_allowed": false, "length_ns": length_ns
            });
            WatchSpec::parse(&json.to_string()).map(|order| order.length_ns)
        };
        assert_eq!(order(LENGTH_NS_MAX), Ok(LENGTH_NS_MAX));
        assert!(order(LENGTH_NS_MAX + 1).is_err() && order(0).is_err());
    }
}
