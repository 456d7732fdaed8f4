//! Loss at a port: frames with data that were sent and dropped, by source of traffic and class.

/// Classes of frames in a switch, as many as 802.1Q has priorities.
const CLASSES: usize = 8;
/// Ethernet header with a tag (18), IPv4 header (20), TCP header with all options (60): a longer
/// frame carries data. Acknowledgements are left out because they find room where a full frame does
/// not.
const HEADERS_BYTES_MAX: u16 = 98;

/// Frames of one source of traffic in one class.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Tally {
    /// Frames whose transmission was decided.
    pub sent_frames: u64,
    /// Frames that found no room.
    pub dropped_frames: u64,
}

/// Frames with data at one port, by source of traffic (a number of the engine's choice) and class.
#[derive(Clone, Debug)]
pub struct Traffic {
    tallies: Vec<[Tally; CLASSES]>,
}

impl Traffic {
    /// An empty tally for each source.
    pub fn new(sources: usize) -> Traffic {
        Traffic { tallies: vec![[Tally::default(); CLASSES]; sources] }
    }

    /// Counts from now on.
    pub fn begin_counting(&mut self) {
        self.tallies.fill([Tally::default(); CLASSES]);
    }

    /// A frame left the port. Classes are below eight.
    #[inline]
    pub fn sent(&mut self, source: usize, class: u8, frame_bytes: u16) {
        self.tallies[source][usize::from(class)].sent_frames +=
            u64::from(frame_bytes > HEADERS_BYTES_MAX);
    }

    /// A frame found no room.
    pub fn dropped(&mut self, source: usize, class: u8, frame_bytes: u16) {
        self.tallies[source][usize::from(class)].dropped_frames +=
            u64::from(frame_bytes > HEADERS_BYTES_MAX);
    }

    /// The tally of a source over the classes for which `is_meant` holds.
    pub fn tally(&self, source: usize, is_meant: impl Fn(usize) -> bool) -> Tally {
        let mut sum = Tally::default();
        for (_, tally) in
            self.tallies[source].iter().enumerate().filter(|&(class, _)| is_meant(class))
        {
            sum.sent_frames += tally.sent_frames;
            sum.dropped_frames += tally.dropped_frames;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_with_data_are_counted_by_source_and_class() {
        let mut traffic = Traffic::new(2);
        traffic.sent(0, 0, 9014);
        traffic.sent(0, 5, 9014);
        traffic.sent(1, 0, HEADERS_BYTES_MAX); // an acknowledgement at most
        traffic.dropped(1, 0, HEADERS_BYTES_MAX + 1);
        traffic.dropped(1, 0, HEADERS_BYTES_MAX);
        assert_eq!(
            traffic.tally(0, |class| class == 0),
            Tally { sent_frames: 1, dropped_frames: 0 }
        );
        assert_eq!(traffic.tally(0, |_| true), Tally { sent_frames: 2, dropped_frames: 0 });
        assert_eq!(traffic.tally(1, |_| true), Tally { sent_frames: 0, dropped_frames: 1 });
    }
}
