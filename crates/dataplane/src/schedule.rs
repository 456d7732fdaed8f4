//! The choice of the next queue: strict levels first, then deficit round robin among the weighted
//! queues.
//!
//! Deficit round robin after Shreedhar and Varghese (SIGCOMM 1995). Bytes are wire bytes, overhead
//! included, so that shares are shares of the line whatever the frame sizes. An empty queue keeps
//! no deficit: the scheduler is work-conserving. A queue that has frames and may not send them,
//! because of a pause or a shaper, keeps its deficit and gets nothing more.

use crate::QueueNo;

/// Wire bytes per round for each thousandth of weight. A small quantum keeps bursts short; a queue
/// whose quantum is below a frame saves up over several rounds.
const QUANTUM_PER_MILLI: u64 = 16;

/// When a queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// Before every strict queue of a higher level number and before all weighted queues. 1 is
    /// first.
    Strict(u8),
    /// By weight, 1 to 1000 thousandths of the rate that strict queues leave.
    Dwrr(u32),
}

/// Chooses among queues, which are known by number. The ports of switches and the interfaces of
/// hosts have one each.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Strict queues, first served first.
    strict: Vec<QueueNo>,
    weighted: Vec<Weighted>,
    /// The weighted queue that has its turn.
    turn: usize,
}

#[derive(Clone, Debug)]
struct Weighted {
    queue: QueueNo,
    quantum: u64,
    deficit: u64,
    /// Whether this turn's quantum was added.
    is_credited: bool,
}

impl Scheduler {
    /// A queue for each of these, with nothing served yet.
    ///
    /// # Panics
    /// When a weight is not 1 to 1000.
    #[must_use]
    pub fn new(services: &[Service]) -> Scheduler {
        Scheduler::with_quanta(services, QUANTUM_PER_MILLI)
    }

    /// The same with so many bytes per round for each thousandth of weight. With quanta below a
    /// frame a queue that is held back for a moment does not wait for long turns of the others.
    ///
    /// # Panics
    /// When a weight is not 1 to 1000.
    #[must_use]
    pub fn with_quanta(services: &[Service], quantum_per_milli: u64) -> Scheduler {
        let mut strict: Vec<(u8, QueueNo)> = Vec::new();
        let mut weighted = Vec::new();
        for (queue, service) in services.iter().enumerate() {
            match *service {
                Service::Strict(level) => strict.push((level, queue)),
                Service::Dwrr(milli) => {
                    assert!((1..=1000).contains(&milli), "a weight is 1 to 1000 thousandths");
                    let quantum = u64::from(milli) * quantum_per_milli;
                    weighted.push(Weighted { queue, quantum, deficit: 0, is_credited: false });
                }
            }
        }
        strict.sort_unstable();
        Scheduler {
            strict: strict.into_iter().map(|(_, queue)| queue).collect(),
            weighted,
            turn: 0,
        }
    }

    /// The queue to serve. `head` gives the wire bytes of a queue's first frame, `None` when it is
    /// empty or held back; `is_empty` distinguishes the two, and `is_owed` marks the queues that
    /// are below their guaranteed rate.
    pub fn choose_held(
        &mut self,
        head: impl Fn(QueueNo) -> Option<u64>,
        is_empty: impl Fn(QueueNo) -> bool,
        is_owed: impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        let first = self.first_strict(&head);
        let owed = || {
            self.weighted
                .iter()
                .map(|w| w.queue)
                .find(|&queue| is_owed(queue) && head(queue).is_some())
        };
        if let Some(queue) = first.or_else(owed) {
            return Some(queue);
        }
        self.choose_weighted(head, is_empty)
    }

    /// The same where no queue is held back or has a guaranteed rate.
    #[inline]
    pub(crate) fn choose(&mut self, head: impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        let first = self.first_strict(&head);
        if first.is_some() { first } else { self.choose_weighted(head, |_| true) }
    }

    #[inline]
    fn first_strict(&self, head: impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        self.strict.iter().copied().find(|&queue| head(queue).is_some())
    }

    /// The frame of so many wire bytes for which this queue was chosen by its deficit was dropped
    /// instead of sent: the queue gets them back, and its turn goes on (as in Linux, where a packet
    /// that is dropped at its departure costs no deficit).
    pub(crate) fn refund(&mut self, queue: QueueNo, wire_bytes: u64) {
        if self.weighted.len() > 1
            && let Some(w) = self.weighted.get_mut(self.turn).filter(|w| w.queue == queue)
        {
            w.deficit += wire_bytes;
        }
    }

    #[inline]
    fn choose_weighted(
        &mut self,
        head: impl Fn(QueueNo) -> Option<u64>,
        is_empty: impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        match self.weighted.as_slice() {
            [] => None,
            [only] => Some(only.queue).filter(|&queue| head(queue).is_some()),
            _ => self.choose_by_deficit(head, is_empty),
        }
    }

    #[inline]
    fn choose_by_deficit(
        &mut self,
        head: impl Fn(QueueNo) -> Option<u64>,
        is_empty: impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        // The first pass serves a queue that has the deficit for its frame; if none has, the rounds
        // without service are skipped at once.
        let first = self.pass(&head, &is_empty);
        if first.is_some() { first } else { self.skip_rounds(&head, &is_empty) }
    }

    #[inline(never)]
    fn skip_rounds(
        &mut self,
        head: &impl Fn(QueueNo) -> Option<u64>,
        is_empty: &impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        let rounds = self
            .weighted
            .iter()
            .filter_map(|w| {
                head(w.queue).map(|bytes| bytes.saturating_sub(w.deficit).div_ceil(w.quantum))
            })
            .min()?;
        for w in &mut self.weighted {
            if head(w.queue).is_some() {
                w.deficit += w.quantum * rounds.saturating_sub(1);
            }
        }
        self.pass(head, is_empty)
    }

    /// One turn for every weighted queue, beginning with the present one.
    #[inline(always)]
    fn pass(
        &mut self,
        head: &impl Fn(QueueNo) -> Option<u64>,
        is_empty: &impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        for _ in 0..=self.weighted.len() {
            let w = &mut self.weighted[self.turn];
            match head(w.queue) {
                // Shreedhar and Varghese, figure 2: the counter is reset when the queue is empty,
                // and then alone.
                None if is_empty(w.queue) => w.deficit = 0,
                None => {}
                Some(bytes) => {
                    if !w.is_credited {
                        w.deficit += w.quantum;
                        w.is_credited = true;
                    }
                    if bytes <= w.deficit {
                        w.deficit -= bytes;
                        return Some(w.queue);
                    }
                }
            }
            w.is_credited = false;
            self.turn += 1;
            if self.turn == self.weighted.len() {
                self.turn = 0;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
