//! Queues of the kernel in front of an interface: a rate, a copy of what comes in to another
//! interface, and counters (tc(8), linux/pkt_sched.h, linux/pkt_cls.h).

use super::link::Link;
use super::message::{Netlink, Request, find_attribute};
use std::io;

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
const RTM_NEWTFILTER: u16 = 44;
/// Without it the answer goes to those who watch, and not to who asks.
const NLM_F_ECHO: u16 = 0x08;
const NLM_F_CREATE: u16 = 0x400;
const NLM_F_REPLACE_OR_CREATE: u16 = 0x100 | NLM_F_CREATE;

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_PKT64: u16 = 8;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_U32_SEL: u16 = 5;
const TCA_U32_ACT: u16 = 7;
const TCA_ACT_KIND: u16 = 1;
const TCA_ACT_OPTIONS: u16 = 2;
const TCA_MIRRED_PARMS: u16 = 2;

const ROOT: u32 = 0xFFFF_FFFF;
const INGRESS: u32 = 0xFFFF_FFF1;
const INGRESS_HANDLE: u32 = 0xFFFF_0000;
const OWN_HANDLE: u32 = 0x0001_0000;
/// Priority 1 and every protocol (`ETH_P_ALL`, in network order).
const EVERY_FRAME: u32 = 1 << 16 | (3_u16.to_be() as u32);
const LINKLAYER_ETHERNET: u8 = 1;
const EGRESS_MIRROR: u32 = 2;
const ACT_STOLEN: u32 = 4;
/// A selector whose first key decides.
const U32_TERMINAL: u8 = 1;
const TCMSG_BYTES: usize = 20;

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
        let header = tcmsg(link, OWN_HANDLE, ROOT, 0);
        let request = Request::new(RTM_NEWQDISC, NLM_F_REPLACE_OR_CREATE, &header)
            .text(TCA_KIND, "tbf")
            .begin(TCA_OPTIONS);
        let request = request
            .attribute(TCA_TBF_PARMS, &tbf_parameters(shape, bytes_per_s))
            .attribute(TCA_TBF_RATE64, &bytes_per_s.to_ne_bytes())
            .number(TCA_TBF_BURST, shape.burst_bytes);
        self.request(request.end()).map(drop)
    }

    /// Gives an interface one queue, first in, first out, whatever the priority, which holds so
    /// many bytes (tc-bfifo(8)).
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bound_queue(&mut self, link: Link, limit_bytes: u32) -> io::Result<()> {
        let header = tcmsg(link, OWN_HANDLE, ROOT, 0);
        let request =
            Request::new(RTM_NEWQDISC, NLM_F_REPLACE_OR_CREATE, &header).text(TCA_KIND, "bfifo");
        self.request(request.number(TCA_OPTIONS, limit_bytes)).map(drop) // struct tc_fifo_qopt
    }

    /// Sends a copy of every frame that comes in by one interface out by another, and keeps none. A
    /// copy belongs to no socket: whoever has sent the frame is done with it, as if it had left the
    /// machine.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn hand_over(&mut self, from: Link, to: Link) -> io::Result<()> {
        let header = tcmsg(from, INGRESS_HANDLE, INGRESS, 0);
        self.request(Request::new(RTM_NEWQDISC, NLM_F_CREATE, &header).text(TCA_KIND, "ingress"))?;
        let filter = Request::new(
            RTM_NEWTFILTER,
            NLM_F_CREATE,
            &tcmsg(from, 0, INGRESS_HANDLE, EVERY_FRAME),
        );
        let filter = filter
            .text(TCA_KIND, "u32")
            .begin(TCA_OPTIONS)
            .attribute(TCA_U32_SEL, &match_everything());
        let filter =
            filter.begin(TCA_U32_ACT).begin(1).text(TCA_ACT_KIND, "mirred").begin(TCA_ACT_OPTIONS);
        let filter = filter.attribute(TCA_MIRRED_PARMS, &mirred_parameters(to));
        self.request(filter.end().end().end().end()).map(drop)
    }

    /// What the queue of an interface has counted.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn queue(&mut self, link: Link) -> io::Result<QdiscCounters> {
        let answer =
            self.request(Request::new(RTM_GETQDISC, NLM_F_ECHO, &tcmsg(link, 0, ROOT, 0)))?;
        let stats = find_attribute(answer.get(TCMSG_BYTES..).unwrap_or_default(), TCA_STATS2);
        let stats = stats.ok_or_else(|| io::Error::other("the queue has no counters"))?;
        let part = |kind: u16| find_attribute(stats, kind).unwrap_or_default();
        let u32_at = |bytes: &[u8], at: usize| {
            bytes
                .get(at..at + 4)
                .and_then(|bytes| bytes.try_into().ok())
                .map_or(0, |bytes| u64::from(u32::from_ne_bytes(bytes)))
        };
        let u64_at = |bytes: &[u8], at: usize| {
            bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes)
        };
        let (basic, queue) = (part(TCA_STATS_BASIC), part(TCA_STATS_QUEUE));
        Ok(QdiscCounters {
            tx_bytes: u64_at(basic, 0).unwrap_or(0),
            // The kernel tells 64 bits where 32 are not enough.
            tx_frames: u64_at(part(TCA_STATS_PKT64), 0).unwrap_or_else(|| u32_at(basic, 8)),
            // struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits.
            depth_bytes: u32_at(queue, 4),
            drop_frames: u32_at(queue, 8),
        })
    }
}

/// struct tcmsg.
fn tcmsg(link: Link, handle: u32, parent: u32, info: u32) -> [u8; TCMSG_BYTES] {
    let mut header = [0; TCMSG_BYTES];
    for (at, number) in [(4, link.0), (8, handle), (12, parent), (16, info)] {
        header[at..at + 4].copy_from_slice(&number.to_ne_bytes());
    }
    header
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

/// struct tc_u32_sel with one key of which no bit matters.
fn match_everything() -> [u8; 32] {
    let mut selector = [0; 32];
    selector[0] = U32_TERMINAL;
    selector[2] = 1;
    selector
}

/// struct tc_mirred: index, capab, action, refcnt, bindcnt, eaction, ifindex.
fn mirred_parameters(to: Link) -> Vec<u8> {
    [0, 0, ACT_STOLEN, 0, 0, EGRESS_MIRROR, to.0]
        .iter()
        .flat_map(|number: &u32| number.to_ne_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_told_in_bytes_with_the_overhead_of_a_frame() {
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
    fn a_request_names_its_interface_and_place() {
        let header = tcmsg(Link(7), OWN_HANDLE, ROOT, 0);
        assert_eq!(header[4..8], 7_u32.to_ne_bytes());
        assert_eq!(header[12..16], [0xFF; 4]);
    }

    #[test]
    fn a_frame_is_handed_over_and_not_kept() {
        let parameters = mirred_parameters(Link(9));
        // TC_ACT_STOLEN, TCA_EGRESS_MIRROR and the interface, in a struct tc_mirred of seven words.
        assert_eq!((parameters.len(), &parameters[8..12]), (28, &4_u32.to_ne_bytes()[..]));
        assert_eq!(parameters[20..], [2_u32.to_ne_bytes(), 9_u32.to_ne_bytes()].concat());
    }
}
