//! Segments that the interface still holds are not lost: no probe repeats them (Linux
//! `skb_still_in_host_queue`).

use tailrace_transport::tcp::{Identity, Segment, Tcp, TcpConfig, Transmit};
use tailrace_units::{Span, Time};
use tailrace_wire::{Flags, Packet, SackBlock, Tag};

/// An interface that sends each frame so long after it was given.
struct Interface {
    sent: usize,
    departs: Time,
}

impl Transmit for Interface {
    fn send(&mut self, packet: Packet) -> Option<Time> {
        self.sent += usize::from(packet.payload_bytes > 0);
        Some(self.departs)
    }
}

/// Probes after four segments were given to an interface that sends them `held` after that, when
/// the timer has come once.
fn probes(held: Span) -> (u64, usize) {
    let identity =
        Identity { flow_hash: 0, to_endpoint: 0, to_host: 0, tag: Tag::default(), dscp: 0 };
    let mut tcp = Tcp::new(&TcpConfig::linux(1000), identity);
    let mut interface = Interface { sent: 0, departs: Time::ZERO };
    let mut syn = Packet { flags: Flags::SYN, window: 32_000, ..Packet::default() };
    syn.sack[0] = SackBlock { offset: 1000, bytes: 1 };
    tcp.handle_segment(Time::ZERO, &Segment::single(&syn), &mut interface);
    let now = Time::ZERO + Span::from_ms(100);
    let ack = Packet { seq: 1, ack: 1, window: 32_000, flags: Flags::ACK, ..Packet::default() };
    tcp.handle_segment(now, &Segment::single(&ack), &mut interface);
    interface.departs = now + held;
    tcp.write(now, 4000, &mut interface);
    // Two round trips and the slack of the timer.
    assert_eq!(tcp.poll_timeout(), now + Span::from_ms(202));
    tcp.handle_timeout(tcp.poll_timeout(), &mut interface);
    (tcp.stats().tail_loss_probes, interface.sent)
}

#[test]
fn no_probe_repeats_what_the_interface_still_holds() {
    assert_eq!(probes(Span::from_ms(201)), (1, 5));
    assert_eq!(probes(Span::from_ms(300)), (0, 4));
}
