//! Which queue is served next: strict levels first, then deficit round robin among the weighted queues.
//!
//! Deficit round robin after Shreedhar and Varghese (SIGCOMM 1995). Bytes are wire bytes, overhead included, so that
//! shares are shares of the line whatever the frame sizes. An empty queue keeps no deficit: the scheduler is work-conserving.

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

#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
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
    pub(crate) fn new(services: &[Service]) -> Scheduler {
        let mut strict: Vec<(u8, QueueNo)> = Vec::new();
        let mut weighted = Vec::new();
        for (queue, service) in services.iter().enumerate() {
            match *service {
                Service::Strict(level) => strict.push((level, queue)),
                Service::Dwrr(milli) => {
                    assert!((1..=1000).contains(&milli), "a weight is 1 to 1000 thousandths");
                    let quantum = u64::from(milli) * QUANTUM_PER_MILLI;
                    weighted.push(Weighted { queue, quantum, deficit: 0, is_credited: false });
                }
            }
        }
        strict.sort_unstable();
        Scheduler { strict: strict.into_iter().map(|(_, queue)| queue).collect(), weighted, turn: 0 }
    }

    /// The queue to serve. `head` gives the wire bytes of a queue's first frame, `None` when it is empty or held back;
    /// `is_owed` tells the queues that are below their guaranteed rate.
    pub(crate) fn choose_owed(
        &mut self,
        head: impl Fn(QueueNo) -> Option<u64>,
        is_owed: impl Fn(QueueNo) -> bool,
    ) -> Option<QueueNo> {
        let first = self.first_strict(&head);
        let owed = || self.weighted.iter().map(|w| w.queue).find(|&queue| is_owed(queue) && head(queue).is_some());
        if let Some(queue) = first.or_else(owed) {
            return Some(queue);
        }
        self.choose_weighted(head)
    }

    /// The same where no queue has a guaranteed rate.
    #[inline]
    pub(crate) fn choose(&mut self, head: impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        let first = self.first_strict(&head);
        if first.is_some() { first } else { self.choose_weighted(head) }
    }

    #[inline]
    fn first_strict(&self, head: impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        self.strict.iter().copied().find(|&queue| head(queue).is_some())
    }

    #[inline]
    fn choose_weighted(&mut self, head: impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        match self.weighted.as_slice() {
            [] => None,
            [only] => Some(only.queue).filter(|&queue| head(queue).is_some()),
            _ => self.choose_by_deficit(head),
        }
    }

    fn choose_by_deficit(&mut self, head: impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        // The first pass serves whoever can be served; if none can, rounds in which nobody could are skipped at once.
        if let Some(queue) = self.pass(&head) {
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
        self.pass(&head)
    }

    /// One turn for every weighted queue, beginning with whose turn it is.
    fn pass(&mut self, head: &impl Fn(QueueNo) -> Option<u64>) -> Option<QueueNo> {
        for _ in 0..=self.weighted.len() {
            let w = &mut self.weighted[self.turn];
            match head(w.queue) {
                None => w.deficit = 0,
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

    /// Rounds in which no queue could send are credited to all as if they had been gone through one by one.
    #[test]
    fn skipped_rounds_count_for_everybody() {
        let mut scheduler = Scheduler::new(&[Service::Dwrr(1), Service::Dwrr(3)]); // 16 and 48 bytes a turn
        let frames = [1_600, 4_000];
        let chosen: Vec<_> = (0..8).map(|_| scheduler.choose(|queue| Some(frames[queue]))).collect();
        // Queue 0 is due in rounds 100, 200, 300 ..; queue 1 in 84, 167, 250, 334 ..
        assert_eq!(chosen, [1, 0, 1, 0, 1, 0, 1, 0].map(Some));
        let rounds = scheduler.weighted.iter().map(|w| w.deficit / w.quantum).max();
        assert!(rounds <= Some(84), "nobody is credited twice: {rounds:?}");
    }
}
