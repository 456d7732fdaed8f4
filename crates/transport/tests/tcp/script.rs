//! One end and a scripted peer: the form in which the kernel's own tests (packetdrill) are written.
//!
//! A line is `write N`; `+T < ACK [win W] [ece] [dsack A:B] [sack A:B ...]`, an acknowledgement T
//! milliseconds after the line before; `+T`, time passes; `> A:B [ect0]`, what must have been sent
//! since; `+T > A:B`, sent by a timer then, give or take 3 ms; or a statement about `cwnd`,
//! `ssthresh`, `lost`, `reordering` or `state`; `ignore` forgets what was sent.
//!
//! As a receiver: `+T < A:B [push]`, a segment or what GRO makes of several. `acks`,
//! acknowledgements without payload are checked from here on: `> ack A [win W] [dsack A:B] [sack
//! A:B ...]`, whose reports must be these and no others. `late`, the same, and the application
//! reads when the script says so: `read N`.

use std::collections::VecDeque;

use tailrace_transport::tcp::{Buffer, Identity, Segment, Tcp, TcpConfig, Transmit};
use tailrace_units::{Span, Time};
use tailrace_wire::{Ecn, Flags, Packet, SackBlock, Tag};

/// How much later than stated a timer may act: two ticks and what the script's round trip rounds
/// off.
const TOLERANCE: Span = Span::from_ms(3);

#[derive(Default)]
struct Sent {
    data: VecDeque<(u64, u64, Ecn)>,
    /// Segments without payload.
    acks: VecDeque<Packet>,
    are_acks_watched: bool,
}

impl Transmit for Sent {
    fn send(&mut self, packet: Packet) -> Option<Time> {
        if packet.payload_bytes > 0 {
            self.data.push_back((
                packet.seq,
                packet.seq + u64::from(packet.payload_bytes),
                packet.ecn,
            ));
        } else if self.are_acks_watched {
            self.acks.push_back(packet);
        }
        Some(Time::ZERO)
    }
}

struct Play {
    tcp: Tcp,
    now: Time,
    sent: Sent,
    window: u32,
}

/// The kernel's defaults in its tests: CUBIC, segments of 1000 bytes, a large send buffer.
pub fn linux() -> TcpConfig {
    TcpConfig {
        send_buffer: Buffer { initial: 400_000, maximum: 400_000 },
        ..TcpConfig::linux(1000)
    }
}

/// How the connection comes about.
pub struct Opening {
    /// From the first opening segment to the answer.
    pub ms: u64,
    /// Bytes that the peer takes at first.
    pub window: u32,
    /// The peer's segment size.
    pub mss: u32,
    /// The end under test opens the connection.
    pub is_active: bool,
}

/// Plays `script` against an end that was opened by the peer, `open_ms` after its SYN-ACK, and
/// whose peer takes `window` bytes.
pub fn play(config: &TcpConfig, open_ms: u64, window: u32, script: &str) {
    play_after(config, &Opening { ms: open_ms, window, mss: config.mss, is_active: false }, script);
}

/// Plays `script` after this opening.
pub fn play_after(config: &TcpConfig, opening: &Opening, script: &str) {
    let identity =
        Identity { flow_hash: 0, to_endpoint: 0, to_host: 0, tag: Tag::default(), dscp: 0 };
    let mut play = Play {
        tcp: Tcp::new(config, identity),
        now: Time::ZERO,
        sent: Sent::default(),
        window: opening.window,
    };
    if opening.is_active {
        play.open_actively(config, opening)
    } else {
        play.open_passively(config, opening)
    }
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        play.line(line);
    }
}

impl Play {
    fn open_passively(&mut self, config: &TcpConfig, opening: &Opening) {
        let flags =
            if config.ecn { Flags::SYN.with(Flags::ECE).with(Flags::CWR) } else { Flags::SYN };
        let mut syn = Packet { flags, window: opening.window.min(32_792), ..Packet::default() };
        syn.sack[0] = SackBlock { offset: opening.mss as i32, bytes: u32::from(config.sack) };
        self.deliver(&syn);
        self.pass(Span::from_ms(opening.ms));
        self.deliver(&Packet {
            seq: 1,
            ack: 1,
            window: opening.window,
            flags: Flags::ACK,
            ..Packet::default()
        });
    }

    fn open_actively(&mut self, config: &TcpConfig, opening: &Opening) {
        self.tcp.connect(self.now, &mut self.sent);
        self.pass(Span::from_ms(opening.ms));
        let flags = if config.ecn {
            Flags::SYN.with(Flags::ACK).with(Flags::ECE)
        } else {
            Flags::SYN.with(Flags::ACK)
        };
        let mut answer = Packet { ack: 1, flags, window: opening.window, ..Packet::default() };
        answer.sack[0] = SackBlock { offset: opening.mss as i32, bytes: u32::from(config.sack) };
        self.deliver(&answer);
        assert!(self.tcp.is_established());
    }

    fn deliver(&mut self, packet: &Packet) {
        let segments = packet.payload_bytes.div_ceil(self.tcp.mss() as u16).max(1);
        let segment = Segment { packet, payload_bytes: u32::from(packet.payload_bytes), segments };
        self.tcp.handle_segment(self.now, &segment, &mut self.sent);
        assert!(self.tcp.is_consistent());
    }

    fn pass(&mut self, span: Span) {
        let end = self.now + span;
        while self.tcp.poll_timeout() <= end {
            self.now = self.tcp.poll_timeout();
            self.tcp.handle_timeout(self.now, &mut self.sent);
        }
        self.now = end;
    }

    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["write", bytes] => self.tcp.write(self.now, number(bytes), &mut self.sent),
            [">", "ack", ack, rest @ ..] => self.expect_ack(number(ack), rest, line),
            [">", range] => self.expect(range, None, line),
            [">", range, "ect0"] => self.expect(range, Some(Ecn::Ect0), line),
            ["cwnd", n] => assert_eq!(u64::from(self.tcp.cwnd()), number(n), "{line}"),
            ["ssthresh", n] => assert_eq!(u64::from(self.tcp.ssthresh()), number(n), "{line}"),
            ["lost", n] => assert_eq!(u64::from(self.tcp.lost()), number(n), "{line}"),
            ["reordering", n] => assert_eq!(u64::from(self.tcp.reordering()), number(n), "{line}"),
            ["state", state] => assert_eq!(format!("{:?}", self.tcp.state()), *state, "{line}"),
            ["ignore"] => self.sent.data.clear(),
            ["acks"] => self.sent.are_acks_watched = true,
            ["late"] => {
                self.tcp.leave_unread();
                self.sent.are_acks_watched = true;
            }
            ["read", bytes] => self.tcp.read(self.now, number(bytes), &mut self.sent),
            [after] => {
                self.silence(line);
                self.pass(milliseconds(after));
            }
            [after, ">", expected @ ..] => {
                self.silence(line);
                let at = self.now + milliseconds(after);
                self.pass(self.tcp.poll_timeout().since(self.now));
                assert!(
                    self.now >= at && self.now <= at + TOLERANCE,
                    "{line}: at {:?}, not at {at:?}",
                    self.now
                );
                self.line(&format!("> {}", expected.join(" ")));
            }
            [after, "<", range, rest @ ..] if range.contains(':') => {
                self.silence(line);
                self.pass(milliseconds(after));
                self.silence(line);
                self.arrive(range_of(range), rest.contains(&"push"));
            }
            [after, "<", ack, rest @ ..] => {
                self.silence(line);
                self.pass(milliseconds(after));
                self.silence(line);
                self.acknowledge(number(ack), rest);
            }
            _ => panic!("not understood: {line}"),
        }
    }

    fn acknowledge(&mut self, ack: u64, mut rest: &[&str]) {
        let mut packet = Packet { seq: 1, ack, flags: Flags::ACK, ..Packet::default() };
        if let ["win", window, after @ ..] = rest {
            self.window = number(window) as u32;
            rest = after;
        }
        packet.window = self.window;
        if let ["ece", after @ ..] = rest {
            packet.flags = packet.flags.with(Flags::ECE);
            rest = after;
        }
        if rest.first() == Some(&"dsack") {
            packet.flags = packet.flags.with(Flags::DSACK);
        }
        let blocks = rest.iter().filter(|word| !word.ends_with("sack"));
        for (slot, block) in packet.sack.iter_mut().zip(blocks) {
            let (start, end) = range_of(block);
            *slot = SackBlock {
                offset: (start as i64 - ack as i64) as i32,
                bytes: (end - start) as u32,
            };
        }
        self.deliver(&packet);
    }

    /// A segment of the peer, which has heard of everything that was sent.
    fn arrive(&mut self, (seq, end): (u64, u64), is_push: bool) {
        let flags = if is_push { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let payload_bytes = (end - seq) as u16;
        self.deliver(&Packet {
            seq,
            ack: 1,
            window: self.window,
            flags,
            payload_bytes,
            ..Packet::default()
        });
    }

    fn expect_ack(&mut self, ack: u64, mut rest: &[&str], line: &str) {
        let sent = self.sent.acks.pop_front().unwrap_or_else(|| panic!("{line}: nothing was sent"));
        assert_eq!(sent.ack, ack, "{line}");
        if let ["win", window, after @ ..] = rest {
            assert_eq!(u64::from(sent.window), number(window), "{line}");
            rest = after;
        }
        assert_eq!(sent.flags.contains(Flags::DSACK), rest.contains(&"dsack"), "{line}");
        let expected: Vec<(u64, u64)> =
            rest.iter().filter(|word| word.contains(':')).map(|word| range_of(word)).collect();
        let blocks = sent.sack.iter().filter(|block| block.bytes != 0);
        let reported: Vec<(u64, u64)> = blocks.map(|block| edges(ack, block)).collect();
        assert_eq!(reported, expected, "{line}");
    }

    /// Takes the segments that make up `range`, in order.
    fn expect(&mut self, range: &str, ecn: Option<Ecn>, line: &str) {
        let (start, end) = range_of(range);
        let mut next = start;
        while next < end {
            let segment = self.sent.data.pop_front();
            assert!(
                segment.is_some_and(|s| s.0 == next && s.1 <= end),
                "{line}: sent {segment:?} where {next} was expected"
            );
            let (_, sent, mark) = segment.expect("checked");
            assert!(ecn.is_none_or(|ecn| ecn == mark), "{line}: sent {mark:?}");
            next = sent;
        }
    }

    fn silence(&self, line: &str) {
        assert!(self.sent.data.is_empty(), "before {line}: unexpected {:?}", self.sent.data);
        assert!(
            self.sent.acks.is_empty(),
            "before {line}: unexpected acknowledgements {:?}",
            self.sent.acks
        );
    }
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|_| panic!("not a number: {word}"))
}

fn milliseconds(word: &str) -> Span {
    Span::from_ms(number(word.strip_prefix('+').expect("+T")))
}

fn range_of(word: &str) -> (u64, u64) {
    let (start, end) = word.split_once(':').expect("A:B");
    (number(start), number(end))
}

fn edges(ack: u64, block: &SackBlock) -> (u64, u64) {
    let start = ack.saturating_add_signed(i64::from(block.offset));
    (start, start + u64::from(block.bytes))
}
