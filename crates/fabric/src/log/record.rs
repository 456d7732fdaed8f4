//! One entry of a log, as bytes.

use std::io;
use tailrace_lab::frame::LiveFrame;
use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, FlowKey, Packet, Protocol, Tag};

/// Bytes of every record.
pub const RECORD_BYTES: usize = 72;

const FRAME: u8 = 0;
const BEGIN: u8 = 1;
const END: u8 = 2;

/// Bits of a frame's kind: a pause by priority, a pause of the link, a frame whose ports are known.
const PAUSE: u8 = 1;
const LINK_PAUSE: u8 = 2;
const HAS_KEY: u8 = 4;
/// Its tag is written on the link of its host.
const TAGGED: u8 = 8;
const FRAGMENT: u8 = 16;

/// One entry of a log.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// A frame of a host arrives at its switch.
    Frame {
        /// Until when everything had happened when it was entered.
        advanced: Time,
        /// When it arrives.
        arrival: Time,
        /// Its header, without bytes.
        frame: LiveFrame,
    },
    /// The measured interval begins.
    Begin(Time),
    /// The measured interval ends.
    End(Time),
}

impl Entry {
    /// Appends the record of this entry.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let start = to.len();
        match self {
            Entry::Begin(at) => put_times(to, BEGIN, *at, Time::ZERO),
            Entry::End(at) => put_times(to, END, *at, Time::ZERO),
            Entry::Frame { advanced, arrival, frame } => {
                put_times(to, FRAME, *arrival, *advanced);
                put_frame(to, frame);
                to.extend(late_ns(*arrival, frame.on_time).to_le_bytes());
            }
        }
        debug_assert!(to.len() - start <= RECORD_BYTES, "a record has its place");
        to.resize(start + RECORD_BYTES, 0);
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When it is none.
    pub fn decode(record: &[u8; RECORD_BYTES]) -> io::Result<Entry> {
        let mut fields = Fields(record);
        let kind = fields.byte();
        let (at, advanced) = (Time::from_ps(fields.long()), Time::from_ps(fields.long()));
        match kind {
            BEGIN => Ok(Entry::Begin(at)),
            END => Ok(Entry::End(at)),
            FRAME => {
                Ok(Entry::Frame { advanced, arrival: at, frame: take_frame(&mut fields, at)? })
            }
            other => Err(io::Error::other(format!("a record has the unknown kind {other}"))),
        }
    }
}

fn put_times(to: &mut Vec<u8>, kind: u8, at: Time, advanced: Time) {
    to.push(kind);
    to.extend(at.ps().to_le_bytes());
    to.extend(advanced.ps().to_le_bytes());
}

fn put_frame(to: &mut Vec<u8>, frame: &LiveFrame) {
    let packet = &frame.packet;
    let key = frame.key.unwrap_or(NO_KEY);
    let kind =
        [(Flags::PAUSE, PAUSE), (Flags::LINK_PAUSE, LINK_PAUSE), (Flags::FRAGMENT, FRAGMENT)];
    let kind = kind
        .iter()
        .filter(|(flag, _)| packet.flags.contains(*flag))
        .fold(0, |kind, (_, bit)| kind | bit);
    let kind = if frame.key.is_some() { kind | HAS_KEY } else { kind };
    let kind = if packet.tag.bytes() > 0 { kind | TAGGED } else { kind };
    to.extend([kind, packet.dscp, packet.tag.priority(), packet.ecn as u8, key.protocol as u8]);
    [packet.frame_bytes, packet.to_host, frame.from_host, key.source_port, key.destination_port]
        .iter()
        .for_each(|number| to.extend(number.to_le_bytes()));
    // A window is a pause's, and an offset a fragment's.
    let window = if packet.flags.contains(Flags::FRAGMENT) {
        packet.sack[0].offset as u32
    } else {
        packet.window
    };
    [packet.flow_hash, window, key.source, key.destination]
        .iter()
        .for_each(|number| to.extend(number.to_le_bytes()));
    [packet.seq, packet.ack].iter().for_each(|number| to.extend(number.to_le_bytes()));
    to.extend(packet.tag.vlan().to_le_bytes());
}

/// By how many nanoseconds a frame arrives later than on a fabric without lateness; negative when
/// it is earlier.
fn late_ns(arrival: Time, on_time: Time) -> i32 {
    let ns = |span: Span| i32::try_from(span.ns()).unwrap_or(i32::MAX);
    if arrival >= on_time { ns(arrival.since(on_time)) } else { -ns(on_time.since(arrival)) }
}

fn on_time(arrival: Time, late_ns: i32) -> Time {
    let span = Span::from_ns(u64::from(late_ns.unsigned_abs()));
    if late_ns < 0 { arrival + span } else { arrival - span }
}

const NO_KEY: FlowKey = FlowKey {
    source: 0,
    destination: 0,
    source_port: 0,
    destination_port: 0,
    protocol: Protocol::Udp,
};

fn take_frame(fields: &mut Fields, arrival: Time) -> io::Result<LiveFrame> {
    let [kind, dscp, priority, ecn, protocol] = std::array::from_fn(|_| fields.byte());
    let [frame_bytes, to_host, from_host, source_port, destination_port] =
        std::array::from_fn(|_| fields.short());
    let [flow_hash, window, source, destination] = std::array::from_fn(|_| fields.word());
    let [seq, ack] = std::array::from_fn(|_| fields.long());
    let vlan = fields.short();
    let on_time = on_time(arrival, i32::from_le_bytes(fields.take()));
    let unknown = |what: &str| io::Error::other(format!("a frame has unknown {what}"));
    let protocol =
        [Protocol::Tcp, Protocol::Udp].into_iter().find(|&known| known as u8 == protocol);
    let protocol = protocol.ok_or_else(|| unknown("protocols"))?;
    let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce].into_iter().find(|&known| known as u8 == ecn);
    let flag = |bit: u8, flag: Flags| if kind & bit != 0 { flag } else { Flags::NONE };
    let mut packet = Packet {
        seq,
        ack,
        window,
        flow_hash,
        to_host,
        dscp,
        frame_bytes,
        flags: flag(PAUSE, Flags::PAUSE)
            .with(flag(LINK_PAUSE, Flags::LINK_PAUSE))
            .with(flag(FRAGMENT, Flags::FRAGMENT)),
        ecn: ecn.ok_or_else(|| unknown("congestion bits"))?,
        tag: Tag::new(priority, vlan).written(kind & TAGGED != 0),
        ..Packet::default()
    };
    if kind & FRAGMENT != 0 {
        packet.sack[0].offset = std::mem::take(&mut packet.window) as i32;
    }
    let key = FlowKey { source, destination, source_port, destination_port, protocol };
    Ok(LiveFrame {
        packet,
        key: (kind & HAS_KEY != 0).then_some(key),
        from_host,
        slot: None,
        on_time,
    })
}

/// Fields that were not read yet.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        let (first, rest) = self.0.split_first_chunk().expect("a record is longer than its fields");
        self.0 = rest;
        *first
    }
    fn byte(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }
    fn short(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }
    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_dataplane::Frame;
    use tailrace_lab::frame::sample::{self, parse_plain};
    use tailrace_wire::Pause;

    fn again(entry: Entry) -> Entry {
        let mut bytes = Vec::new();
        entry.encode(&mut bytes);
        Entry::decode(bytes.as_slice().try_into().expect("one record"))
            .expect("it was written by us")
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = sample::bytes(2, 0, 6, (40_000, 5_432), 0xBB);
        let mut icmp = sample::bytes(2, 0, 1, (8, 0), 0);
        icmp.truncate(42);
        let pause = LiveFrame::new_pause(Pause::new(0b1000, 77, true));
        let mut tagged = parse_plain(&bytes, 2, 3, 9, None).expect("a frame of the lab");
        tagged.packet.tag = Tag::new(3, 4094).written(true);
        let plain =
            [parse_plain(&bytes, 2, 3, 9, None), parse_plain(&icmp, 2, 3, 1 << 40, Some(4))];
        let mut later = sample::bytes(2, 0, 17, (0, 0), 0);
        later[21] = 185; // 1480 bytes
        let later = parse_plain(&later, 2, 3, 10, None);
        for frame in plain.into_iter().chain([Ok(tagged), Ok(pause), later]) {
            let mut frame = frame.expect("a frame of the lab");
            let (advanced, arrival) = (Time::from_ps(5), Time::from_ps(1 << 60));
            frame.on_time = arrival - Span::from_us(3);
            let Entry::Frame { advanced: a, arrival: b, frame: read } =
                again(Entry::Frame { advanced, arrival, frame })
            else {
                panic!("a frame")
            };
            assert_eq!(
                (a, b, read.packet, read.key, read.from_host, read.on_time),
                (advanced, arrival, frame.packet, frame.key, frame.from_host, frame.on_time)
            );
        }
        assert!(matches!(again(Entry::Begin(Time::from_ps(3))), Entry::Begin(at) if at.ps() == 3));
        assert!(Entry::decode(&[9; RECORD_BYTES]).is_err());
    }
}
