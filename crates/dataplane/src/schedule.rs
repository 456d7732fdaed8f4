//! Which queue is served next: strict levels first, then deficit round robin among the weighted queues.
//!
//! Deficit round robin after Shreedhar and Varghese (SIGCOMM 1995). Bytes are wire bytes, overhead included, so that
//! shares are shares of the line whatever the frame sizes. An empty queue keeps no deficit: the scheduler is work-conserving.
//! A queue that has frames and may not send them, because of a pause or a shaper, keeps what it had and gets nothing more.

use crate::QueueNo;

/// Wire bytes per round for each thousandth of weight. A small quantum keeps bursts short; a queue whose quantum is
/// below a frame saves up over several rounds.
const QUANTUM_PER_MILLI: u64 = 16;

/// When a queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// Before every strict queue of a higher level number and before all weighted queues. 1 is first.
    Strict(u8),
    /// By weight, 1 to 1000 thousandths of what strict queues leave.
    Dwrr(u32),
}

/// Chooses among queues that are told by number. The ports of switches and the interfaces of hosts have one each.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Strict queues, first served first.
    strict: Vec<QueueNo>,
    weighted: Vec<Weighted>,
    /// The weighted queue whose turn it is.
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

    /// The same with so many bytes per round for each thousandth of weight. With quanta below a frame a queue that is held back for a
    /// moment does not wait for long turns of the others.
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
        Scheduler { strict: strict.into_iter().map(|(_, queue)| queue).collect(), weighted, turn: 0 }
    }

    /// The queue to serve. `head` gives the wire bytes of a queue's first frame, `None` when it is empty or held back;
    /// `is_empty` tells the two apart, and `is_owed` the queues that are below their guaranteed rate.
    pub fn choose_held(
        &mut self,
        head: impl Fn(QueueNo) -> Option<u64>,
        is_empty: impl Fn(QueueNo) -> bool,
        is_owed: impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        let first = self.first_strict(&head);
        let owed = || self.weighted.iter().map(|w| w.queue).find(|&queue| is_owed(queue) && head(queue).is_some());
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

    /// The frame of so many wire bytes for which this queue was chosen by its deficit was dropped instead of sent: the queue gets
    /// them back, and its turn goes on (as in Linux, where a packet that is dropped at its departure costs no deficit).
    pub(crate) fn refund(&mut self, queue: QueueNo, wire_bytes: u64) {
        if self.weighted.len() > 1
            && let Some(w) = self.weighted.get_mut(self.turn).filter(|w| w.queue == queue)
        {
            w.deficit += wire_bytes;
        }
    }

    #[inline]
    fn choose_weighted(&mut self, head: impl Fn(QueueNo) -> Option<u64>, is_empty: impl Fn(QueueNo) -> bool) -> Option<QueueNo> {
        match self.weighted.as_slice() {
            [] => None,
            [only] => Some(only.queue).filter(|&queue| head(queue).is_some()),
            _ => self.choose_by_deficit(head, is_empty),
        }
    }

    fn choose_by_deficit(
        &mut self,
        head: impl Fn(QueueNo) -> Option<u64>,
        is_empty: impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        // The first pass serves a queue that has the deficit for its frame; if none has, the rounds without service are skipped at once.
        if let Some(queue) = self.pass(&head, &is_empty) {
            return Some(queue);
        }
        let rounds = self
            .weighted
            .iter()
            .filter_map(|w| head(w.queue).map(|bytes| bytes.saturating_sub(w.deficit).div_ceil(w.quantum)))
            .min()?;
        for w in &mut self.weighted {
            if head(w.queue).is_some() {
                w.deficit += w.quantum * rounds.saturating_sub(1);
            }
        }
        self.pass(&head, &is_empty)
    }

    /// One turn for every weighted queue, beginning with whose turn it is.
    fn pass(&mut self, head: &impl Fn(QueueNo) -> Option<u64>, is_empty: &impl Fn(QueueNo) -> bool) -> Option<QueueNo> {
        for _ in 0..=self.weighted.len() {
            let w = &mut self.weighted[self.turn];
            match head(w.queue) {
                // Shreedhar and Varghese, figure 2: the counter is reset when the queue is empty, and then alone.
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
mod tests {
    use super::*;

    /// Serves queues that never run empty and returns the wire bytes that each got.
    fn serve(services: &[Service], frame_bytes: &[u64], frames: usize) -> Vec<u64> {
        let mut scheduler = Scheduler::new(services);
        let mut served = vec![0; services.len()];
        for _ in 0..frames {
            let queue = scheduler.choose(|q| Some(frame_bytes[q])).expect("something waits");
            served[queue] += frame_bytes[queue];
        }
        served
    }

    #[test]
    fn shares_follow_the_weights_whatever_the_frame_sizes() {
        let served = serve(&[Service::Dwrr(100), Service::Dwrr(300), Service::Dwrr(600)], &[9038, 88, 1538], 400_000);
        let total: u64 = served.iter().sum();
        for (bytes, share) in served.iter().zip([0.1, 0.3, 0.6]) {
            let got = *bytes as f64 / total as f64;
            assert!((got / share - 1.0).abs() < 0.01, "{got} instead of {share}");
        }
    }

    #[test]
    fn a_strict_queue_is_always_first_and_lower_levels_go_before_higher() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(1000), Service::Strict(2), Service::Strict(1)]);
        assert_eq!(scheduler.choose(|_| Some(100)), Some(2));
        assert_eq!(scheduler.choose(|q| (q != 2).then_some(100)), Some(1));
        assert_eq!(scheduler.choose(|q| (q == 0).then_some(100)), Some(0));
        assert_eq!(scheduler.choose(|_| None), None);
    }

    #[test]
    fn a_tiny_weight_still_gets_its_share() {
        let served = serve(&[Service::Dwrr(1), Service::Dwrr(999)], &[9038, 9038], 300_000);
        let share = served[0] as f64 / (served[0] + served[1]) as f64;
        assert!((share / 0.001 - 1.0).abs() < 0.01, "{share}");
    }

    /// What a queue did not use of its turn before it ran empty is gone: its next turn is a turn and no more.
    #[test]
    fn an_empty_queue_saves_nothing() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(500), Service::Dwrr(500)]); // 8 000 bytes a turn
        let mut choose = |has_first: bool| scheduler.choose(|queue| (queue == 1 || has_first).then_some(1_000));
        assert_eq!(choose(true), Some(0)); // one frame of eight
        (0..8).for_each(|_| assert_eq!(choose(false), Some(1)));
        let turns: Vec<_> = (0..16).map(|_| choose(true)).collect();
        assert_eq!(turns, [[Some(0); 8], [Some(1); 8]].concat());
    }

    /// A queue of a small weight that is held back again and again (a pause each time before it has saved up for a frame) keeps
    /// what it saved: it gets its share of the turns in which it could take part.
    #[test]
    fn a_queue_that_is_held_back_keeps_its_deficit() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(10), Service::Dwrr(990)]); // 160 and 15 840 bytes a turn
        let mut served = [0; 2];
        for n in 0..300_000 {
            // Of every 40 choices the first is held back for 20: two turns of the other, a tenth of what a frame needs.
            let is_held = n % 40 >= 20;
            let head = |queue: usize| (queue == 1 || !is_held).then_some(1_600);
            let queue = scheduler.choose_held(head, |_| false, |_| false).expect("something waits");
            served[queue] += 1;
        }
        // Half of the turns: 1 % of half of the frames.
        let share = f64::from(served[0]) / 150_000.0;
        assert!((share - 0.01).abs() < 0.002, "{share}");
    }

    /// What a held queue keeps is bounded: a turn, and a byte less than the frame it saves for.
    #[test]
    fn a_queue_that_was_held_back_sends_no_more_than_two_turns_at_once() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(500), Service::Dwrr(500)]); // 8 000 bytes a turn
        let mut choose = |is_held: bool| {
            let head = |queue: usize| (queue == 1 || !is_held).then_some(1_000);
            scheduler.choose_held(head, |_| false, |_| false)
        };
        assert_eq!(choose(false), Some(0)); // one frame of eight
        (0..800).for_each(|_| assert_eq!(choose(true), Some(1)));
        let turns: Vec<_> = (0..40).map(|_| choose(false)).collect();
        let first = turns.iter().position(|&queue| queue == Some(0)).expect("its turn comes");
        assert_eq!(turns[first..].iter().take_while(|&&queue| queue == Some(0)).count(), 15, "seven and eight");
    }

    #[test]
    fn a_frame_that_was_dropped_is_paid_back() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(500), Service::Dwrr(500)]); // 8 000 bytes a turn
        let mut sent = vec![];
        for n in 0..24 {
            let queue = scheduler.choose(|_| Some(1_000)).expect("something waits");
            // Two of three frames of the first queue are dropped when they leave.
            if queue == 0 && n % 3 > 0 {
                scheduler.refund(queue, 1_000);
            } else {
                sent.push(queue);
            }
        }
        assert_eq!(sent[..8], [0; 8], "a turn is eight frames sent, whatever was dropped");
    }

    /// Rounds in which no queue could send are credited to all as if they had been gone through one by one.
    #[test]
    fn skipped_rounds_count_for_everybody() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(1), Service::Dwrr(3)]); // 16 and 48 bytes a turn
        let frames = [1_600, 4_000];
        let chosen: Vec<_> = (0..8).map(|_| scheduler.choose(|queue| Some(frames[queue]))).collect();
        // Queue 0 is due in rounds 100, 200, 300 ..; queue 1 in 84, 167, 250, 334 ..
        assert_eq!(chosen, [1, 0, 1, 0, 1, 0, 1, 0].map(Some));
        let rounds = scheduler.weighted.iter().map(|w| w.deficit / w.quantum).max();
        assert!(rounds <= Some(84), "no queue is credited twice: {rounds:?}");
    }
}
