//! Common rules of soft interrupts, those of a host and those of a hypervisor (Linux
//! kernel/softirq.c, net/core/dev.c): how long they may take, and whether their work is done in
//! place or by the `ksoftirqd` of their core.

use super::Processor;
use super::task::{Kind, TaskId};
use tailrace_units::{Span, Time};

/// Frames of one poll (Linux: NAPI_POLL_WEIGHT, and `dev_weight` of a backlog).
pub const POLL_BUDGET: usize = 64;
/// Linux `MAX_SOFTIRQ_RESTART`.
const RESTARTS_MAX: u32 = 10;
/// Linux `MAX_SOFTIRQ_TIME`.
const TIME_MAX: Span = Span::from_ms(2);

/// Whether a soft interrupt that began at `since` starts again in place. It does not if a thread
/// waits that should have the core.
#[inline]
pub(crate) fn may_restart(restarts: u32, since: Time, now: Time, must_choose: bool) -> bool {
    restarts < RESTARTS_MAX && now.since(since) < TIME_MAX && !must_choose
}

impl Processor {
    /// Continues the soft interrupt of a core with this work, or ends it. If `ksoftirqd` has taken
    /// over, it does the work, and sleeps when there is no more.
    #[inline]
    pub(crate) fn give_softirq(
        &mut self,
        core: usize,
        in_thread: &mut bool,
        work: Option<Span>,
        now: Time,
    ) {
        let ksoftirqd = core as TaskId;
        match (*in_thread, work) {
            (false, work) => self.set_softirq(core, work, now),
            (true, Some(work)) => self.set_work(ksoftirqd, Kind::Softirq, work, now),
            (true, None) => {
                *in_thread = false;
                self.sleep(ksoftirqd, now);
            }
        }
    }
}
