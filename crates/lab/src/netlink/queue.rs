//! Queues of the kernel in front of an interface: a rate, a copy of what comes in to another
//! interface, and counters (tc(8), linux/pkt_sched.h, linux/pkt_cls.h).

use super::link::Link;
use super::message::Netlink;
use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_ECHO, NLM_F_REPLACE, Nla};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{
    TcAction, TcActionAttribute, TcActionGeneric, TcActionMirror, TcActionMirrorOption,
    TcActionOption, TcActionType, TcAttribute, TcFilterU32, TcFilterU32Option, TcHandle, TcHeader,
    TcMessage, TcMirror, TcMirrorActionType, TcOption, TcStats2, TcU32Key, TcU32Selector,
    TcU32SelectorFlags,
};
use std::io;

const REPLACE: u16 = NLM_F_REPLACE | NLM_F_CREATE;

/// The queue of an interface's own, and the one of what comes in.
const OWN: TcHandle = TcHandle { major: 1, minor: 0 };
const INGRESS: TcHandle = TcHandle { major: u16::MAX, minor: 0 };
/// Options of a queue (linux/rtnetlink.h), where they are not attributes but a struct.
const TCA_OPTIONS: u16 = 2;
/// Counted frames where 32 bits are not enough (linux/gen_stats.h).
const TCA_STATS_PKT64: u16 = 8;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
/// Priority 1 and every protocol (`ETH_P_ALL`, in network order).
const EVERY_FRAME: u32 = 1 << 16 | (3_u16.to_be() as u32);
const LINKLAYER_ETHERNET: u8 = 1;

/// A line of a constant rate behind a queue that drops what does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rate of the line, bits per second.
    pub rate_bps: u64,
    /// What every frame costs on the line besides its own bytes.
    pub overhead_bytes: u16,
    /// What may be sent at once after silence, or when the kernel comes late; at least one frame.
    pub burst_bytes: u32,
    /// What waits at most.
    pub limit_bytes: u32,
}

/// What a queue has counted.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct QdiscCounters {
    /// Frames sent.
    pub tx_frames: u64,
    /// Their bytes, with the Ethernet header.
    pub tx_bytes: u64,
    /// Frames that did not fit.
    pub drop_frames: u64,
    /// Bytes that wait now.
    pub depth_bytes: u64,
}

impl Netlink {
    /// Gives an interface a rate, by a token bucket (tc-tbf(8)).
    ///
    /// # Errors
    /// What the kernel says; `NotFound` when it has no token buckets.
    pub fn shape(&mut self, link: Link, shape: &Shape) -> io::Result<()> {
        let bytes_per_s = shape.rate_bps / 8;
        let option = |kind, value| TcOption::Other(DefaultNla::new(kind, value));
        let options = vec![
            option(TCA_TBF_PARMS, tbf_parameters(shape, bytes_per_s).to_vec()),
            option(TCA_TBF_RATE64, bytes_per_s.to_ne_bytes().to_vec()),
            option(TCA_TBF_BURST, shape.burst_bytes.to_ne_bytes().to_vec()),
        ];
        let mut message = queue_of(link);
        message.header.handle = OWN;
        message.attributes = vec![kind("tbf"), TcAttribute::Options(options)];
        self.set(RouteNetlinkMessage::NewQueueDiscipline(message), REPLACE)
    }

    /// Gives an interface one queue, first in, first out, whatever the priority, which holds so
    /// many bytes (tc-bfifo(8)).
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bound_queue(&mut self, link: Link, limit_bytes: u32) -> io::Result<()> {
        // struct tc_fifo_qopt
        let limit = DefaultNla::new(TCA_OPTIONS, limit_bytes.to_ne_bytes().to_vec());
        let mut message = queue_of(link);
        message.header.handle = OWN;
        message.attributes = vec![kind("bfifo"), TcAttribute::Other(limit)];
        self.set(RouteNetlinkMessage::NewQueueDiscipline(message), REPLACE)
    }

    /// Sends a copy of every frame that comes in by one interface out by another, and keeps none. A
    /// copy belongs to no socket: the sender of the frame is done with it, as if it had left the
    /// machine.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn hand_over(&mut self, from: Link, to: Link) -> io::Result<()> {
        let mut queue = queue_of(from);
        queue.header.handle = INGRESS;
        queue.header.parent = TcHandle::INGRESS;
        queue.attributes = vec![kind("ingress")];
        self.set(RouteNetlinkMessage::NewQueueDiscipline(queue), NLM_F_CREATE)?;
        let mut filter = queue_of(from);
        filter.header.parent = INGRESS;
        filter.header.info = EVERY_FRAME;
        let options = vec![
            TcOption::U32(TcFilterU32Option::Selector(match_everything())),
            TcOption::U32(TcFilterU32Option::Action(vec![send_out(to)])),
        ];
        filter.attributes = vec![kind(TcFilterU32::KIND), TcAttribute::Options(options)];
        self.set(RouteNetlinkMessage::NewTrafficFilter(filter), NLM_F_CREATE)
    }

    /// What the queue of an interface has counted.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn queue(&mut self, link: Link) -> io::Result<QdiscCounters> {
        // Without ECHO the answer goes to the observers, and not to the sender of the request.
        let request = RouteNetlinkMessage::GetQueueDiscipline(queue_of(link));
        let Some(RouteNetlinkMessage::NewQueueDiscipline(answer)) =
            self.request(request, NLM_F_ECHO)?
        else {
            return Err(io::Error::other("the kernel did not describe the queue"));
        };
        let stats = |attribute: &TcAttribute| match attribute {
            TcAttribute::Stats2(stats) => Some(counters(stats)),
            _ => None,
        };
        let stats = answer.attributes.iter().find_map(stats);
        stats.ok_or_else(|| io::Error::other("the queue has no counters"))
    }
}

/// Counters of a queue. Where 32 bits are not enough for frames, the kernel has 64 beside them.
fn counters(stats: &[TcStats2]) -> QdiscCounters {
    let mut counters = QdiscCounters::default();
    let mut long = None;
    for part in stats {
        match part {
            TcStats2::Basic(basic) => {
                counters.tx_bytes = basic.bytes;
                counters.tx_frames = basic.packets.into();
            }
            TcStats2::Queue(queue) => {
                counters.depth_bytes = queue.backlog.into();
                counters.drop_frames = queue.drops.into();
            }
            TcStats2::Other(other) if other.kind() == TCA_STATS_PKT64 => {
                let mut value = [0; 8];
                if other.value_len() == value.len() {
                    other.emit_value(&mut value);
                    long = Some(u64::from_ne_bytes(value));
                }
            }
            _ => {}
        }
    }
    QdiscCounters { tx_frames: long.unwrap_or(counters.tx_frames), ..counters }
}

/// The queue before an interface.
fn queue_of(link: Link) -> TcMessage {
    let header = TcHeader { index: link.0 as i32, parent: TcHandle::ROOT, ..TcHeader::default() };
    TcMessage::from_parts(header, Vec::new())
}

fn kind(name: &str) -> TcAttribute {
    TcAttribute::Kind(name.to_owned())
}

/// struct tc_tbf_qopt: two rates of 12 bytes, of which only the first is used, then limit, buffer
/// and MTU.
fn tbf_parameters(shape: &Shape, bytes_per_s: u64) -> [u8; 36] {
    let mut parameters = [0; 36];
    parameters[1] = LINKLAYER_ETHERNET;
    parameters[2..4].copy_from_slice(&shape.overhead_bytes.to_ne_bytes());
    parameters[8..12]
        .copy_from_slice(&u32::try_from(bytes_per_s).unwrap_or(u32::MAX).to_ne_bytes());
    parameters[24..28].copy_from_slice(&shape.limit_bytes.to_ne_bytes());
    parameters
}

/// One key of which no bit matters.
fn match_everything() -> TcU32Selector {
    let mut selector = TcU32Selector::default();
    selector.flags = TcU32SelectorFlags::Terminal;
    selector.nkeys = 1;
    selector.keys = vec![TcU32Key::default()];
    selector
}

/// Sends a copy out by an interface, and keeps no frame.
fn send_out(to: Link) -> TcAction {
    let mut generic = TcActionGeneric::default();
    generic.action = TcActionType::Stolen;
    let mut mirror = TcMirror::default();
    mirror.generic = generic;
    mirror.eaction = TcMirrorActionType::EgressMirror;
    mirror.ifindex = to.0;
    let options = vec![TcActionOption::Mirror(TcActionMirrorOption::Parms(mirror))];
    let mut action = TcAction::default();
    action.tab = 1;
    action.attributes = vec![
        TcActionAttribute::Kind(TcActionMirror::KIND.to_owned()),
        TcActionAttribute::Options(options),
    ];
    action
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::Emitable;
    use netlink_packet_route::tc::{TcStatsBasic, TcStatsQueue};

    fn bytes(of: &impl Emitable) -> Vec<u8> {
        let mut bytes = vec![0; of.buffer_len()];
        of.emit(&mut bytes);
        bytes
    }

    #[test]
    fn a_rate_is_in_bytes_with_the_overhead_of_a_frame() {
        let shape = Shape {
            rate_bps: 100_000_000,
            overhead_bytes: 24,
            burst_bytes: 12_500,
            limit_bytes: 1_000_000,
        };
        let parameters = tbf_parameters(&shape, shape.rate_bps / 8);
        assert_eq!(parameters[1..4], [1, 24, 0]);
        assert_eq!(parameters[8..12], 12_500_000_u32.to_ne_bytes());
        assert_eq!(parameters[24..28], 1_000_000_u32.to_ne_bytes());
        assert_eq!(
            tbf_parameters(&shape, 1 << 40)[8..12],
            [0xFF; 4],
            "the 64 bits stand in an attribute of their own"
        );
    }

    #[test]
    fn a_request_names_its_interface_and_its_parent() {
        let header = bytes(&queue_of(Link(7)));
        assert_eq!(header[4..8], 7_u32.to_ne_bytes());
        assert_eq!(header[12..16], [0xFF; 4]);
    }

    #[test]
    fn a_frame_is_handed_over_and_not_kept() {
        let action = bytes(&send_out(Link(9)));
        // TC_ACT_STOLEN, TCA_EGRESS_MIRROR and the interface, in a struct tc_mirred of seven words.
        let words = [0_u32, 0, 4, 0, 0, 2, 9].map(u32::to_ne_bytes).concat();
        assert_eq!(action[action.len() - words.len()..], words);
        assert_eq!(action[..4], [52, 0, 1, 0], "the first action");
        // struct tc_u32_sel with one key.
        assert_eq!(bytes(&match_everything()), [&[1, 0, 1][..], &[0; 29]].concat());
    }

    #[test]
    fn frames_beyond_32_bits_are_counted() {
        let mut basic = TcStatsBasic::default();
        (basic.bytes, basic.packets) = (5_000, 7);
        let mut queue = TcStatsQueue::default();
        (queue.backlog, queue.drops) = (300, 2);
        let long = TcStats2::Other(DefaultNla::new(8, (1_u64 << 32 | 7).to_ne_bytes().to_vec()));
        let short = counters(&[TcStats2::Basic(basic), TcStats2::Queue(queue)]);
        let expected =
            QdiscCounters { tx_frames: 7, tx_bytes: 5_000, drop_frames: 2, depth_bytes: 300 };
        assert_eq!(short, expected);
        let long = counters(&[TcStats2::Basic(basic), long, TcStats2::Queue(queue)]);
        assert_eq!(long, QdiscCounters { tx_frames: 1 << 32 | 7, ..expected });
    }
}
