//! Transit times of frames, and the oscillators that pace them.

use tailrace_plan::{Plan, RawSwitching};
use tailrace_units::{BitRate, Pace, RandomStream, Span, Time};

/// Bytes of a frame after which a cut-through switch forwards it.
const CUT_THROUGH_BYTES: u64 = 64;

/// The pace of a node's port with the node's own oscillator.
pub fn pace_of(plan: &Plan, node: usize, port: usize) -> Pace {
    let link = plan.graph.ports[node][port].link;
    pace_at(plan, node, plan.graph.links[link].rate)
}

fn pace_at(plan: &Plan, node: usize, rate: BitRate) -> Pace {
    let most = u64::from(plan.raw.clock_offset_ppb);
    let mut random = RandomStream::new(plan.raw.seed, &format!("{}/clock", plan.graph.names[node]));
    let offset = random.below(2 * most + 1) as i64 - most as i64;
    rate.pace(i32::try_from(offset).expect("offsets are below 1e6 ppb"))
}

/// Transit time of a frame over one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flight {
    /// Propagation, and the pipeline of the switch at the end.
    delay: Span,
    /// Cut-through: the frame counts as arrived when this much of it was sent; [`WHOLE`] for the
    /// whole frame.
    header_time: Span,
}

/// Longer than any frame takes.
const WHOLE: Span = Span::from_ps(u64::MAX);

impl Flight {
    /// A flight that takes so long, counted from the time at which so much of the frame was sent;
    /// `None` for all of it.
    pub(crate) fn new(delay: Span, header_time: Option<Span>) -> Flight {
        Flight { delay, header_time: header_time.unwrap_or(WHOLE) }
    }

    /// Whether a frame arrives before the whole of it was sent.
    pub(crate) fn cuts_through(&self) -> bool {
        self.header_time != WHOLE
    }

    /// When a frame that is sent from `start` to `end` arrives.
    #[inline]
    pub(crate) fn arrival(&self, start: Time, end: Time) -> Time {
        if self.header_time == WHOLE {
            end + self.delay
        } else {
            (start + self.header_time).min(end) + self.delay
        }
    }
}

/// The flight over a link between these nodes.
pub(crate) fn flight(plan: &Plan, link: usize, from: usize, to: usize) -> Flight {
    let graph = &plan.graph;
    let delay = graph.links[link].delay;
    let Some(switch) = to.checked_sub(graph.hosts) else { return Flight::new(delay, None) };
    let raw = &plan.raw.switches[switch];
    let rate = graph.links[link].rate;
    let cuts_through =
        raw.switching == RawSwitching::CutThrough && graph.fastest_link(to) <= Some(rate);
    let header_time =
        cuts_through.then(|| pace_at(plan, from, rate).time_to_send(CUT_THROUGH_BYTES));
    Flight::new(delay + Span::from_ps(raw.latency_ps), header_time)
}
