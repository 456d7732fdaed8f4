//! Where a connection is between requests and responses.

use crate::tcp::is_before;

/// One request with its response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Times of the first and the last segment of the request.
    pub request_start_ns: u64,
    /// See `request_start_ns`.
    pub request_end_ns: u64,
    /// Data of the request.
    pub request_bytes: u64,
    /// Times of the first and the last segment of the response; 0 without one.
    pub response_start_ns: u64,
    /// See `response_start_ns`.
    pub response_end_ns: u64,
    /// Data of the response; 0 without one.
    pub response_bytes: u64,
    /// The request began before the response to the one before it was complete.
    pub is_pipelined: bool,
    /// From the end of the response before it to its request; none for the first of a connection
    /// and for pipelined ones.
    pub think_ns: Option<u64>,
}

/// A request without its response.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    start_ns: u64,
    end_ns: u64,
    bytes: u64,
    is_pipelined: bool,
}

/// The response to a request, as far as it came.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    start_ns: u64,
    end_ns: u64,
    bytes: u64,
}

/// The state of a connection. There is no request while it has no bytes, and no response likewise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conversation {
    current: Asked,
    answer: Answer,
    /// A request that came during the response to `current`, and the number of its first byte.
    pending: Asked,
    /// End of the response before `current`; 0 for the first.
    before_ns: u64,
    /// Data of the server before any request.
    pub unrequested_bytes: u64,
    pending_first: u32,
    /// Exchanges that are complete.
    pub exchanges: u32,
}

/// The changes by a segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct SegmentChange {
    /// An exchange is complete.
    pub complete: Option<Exchange>,
    /// A request began to wait for its response.
    pub is_asked: bool,
    /// A response began.
    pub is_answered: bool,
}

impl Conversation {
    /// New data of the client, of which the first byte has this number.
    #[inline]
    pub fn request(&mut self, now_ns: u64, bytes: u32, first: u32) -> SegmentChange {
        let is_next = self.answer.bytes > 0;
        let asked = if is_next { &mut self.pending } else { &mut self.current };
        let is_asked = asked.bytes == 0;
        if is_asked {
            asked.start_ns = now_ns;
            if is_next {
                self.pending_first = first;
            }
        }
        asked.end_ns = now_ns;
        asked.bytes += u64::from(bytes);
        SegmentChange { is_asked, ..SegmentChange::default() }
    }

    /// New data of the server, which expects this number from the client.
    #[inline]
    pub fn response(&mut self, now_ns: u64, bytes: u32, ack: u32) -> SegmentChange {
        let mut step = SegmentChange::default();
        if self.current.bytes == 0 {
            self.unrequested_bytes += u64::from(bytes);
            return step;
        }
        if self.pending.bytes > 0 {
            if is_before(self.pending_first, ack) {
                step.complete = Some(self.go_on());
            } else {
                self.pending.is_pipelined = true;
            }
        }
        if self.answer.bytes == 0 {
            (self.answer.start_ns, step.is_answered) = (now_ns, true);
        }
        self.answer.end_ns = now_ns;
        self.answer.bytes += u64::from(bytes);
        step
    }

    /// The pending request becomes the current one; gives the one before.
    fn go_on(&mut self) -> Exchange {
        let asked = std::mem::replace(&mut self.current, std::mem::take(&mut self.pending));
        let answer = std::mem::take(&mut self.answer);
        let before_ns = std::mem::replace(&mut self.before_ns, answer.end_ns);
        self.exchanges += 1;
        Exchange {
            request_start_ns: asked.start_ns,
            request_end_ns: asked.end_ns,
            request_bytes: asked.bytes,
            response_start_ns: answer.start_ns,
            response_end_ns: answer.end_ns,
            response_bytes: answer.bytes,
            is_pipelined: asked.is_pipelined,
            think_ns: asked
                .start_ns
                .checked_sub(before_ns)
                .filter(|_| before_ns > 0 && !asked.is_pipelined),
        }
    }

    /// The connection is over: the remaining exchanges, in order.
    pub fn finish(&mut self) -> [Option<Exchange>; 2] {
        [(); 2].map(|()| (self.current.bytes > 0).then(|| self.go_on()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_lasts_until_the_server_sends_and_a_response_until_the_client_does() {
        let mut conversation = Conversation::default();
        assert!(conversation.request(10, 100, 0).is_asked);
        assert!(!conversation.request(12, 50, 100).is_asked);
        assert!(conversation.response(20, 1_000, 150).is_answered);
        conversation.response(25, 500, 150);
        assert_eq!(conversation.request(40, 7, 150).complete, None);
        let first = conversation.response(45, 9, 157).complete.expect("the next response began");
        assert_eq!(
            (first.request_start_ns, first.request_end_ns, first.request_bytes),
            (10, 12, 150)
        );
        assert_eq!(
            (first.response_start_ns, first.response_end_ns, first.response_bytes),
            (20, 25, 1_500)
        );
        let [second, none] = conversation.finish();
        assert_eq!(
            second.map(|one| (one.think_ns, one.is_pipelined, one.response_bytes)),
            Some((Some(15), false, 9))
        );
        assert_eq!((none, conversation.exchanges), (None, 2));
    }

    #[test]
    fn a_response_that_goes_on_without_acknowledging_the_next_request_was_pipelined_over() {
        let mut conversation = Conversation::default();
        conversation.request(0, 10, 0);
        conversation.response(5, 100, 10);
        conversation.request(6, 10, 10);
        assert_eq!(conversation.response(7, 100, 10).complete, None);
        let first =
            conversation.response(9, 30, 20).complete.expect("it acknowledges the second request");
        assert_eq!((first.response_bytes, first.response_end_ns), (200, 7));
        let second = conversation.finish()[0].expect("it is left");
        assert_eq!((second.is_pipelined, second.think_ns, second.response_bytes), (true, None, 30));
    }

    #[test]
    fn what_a_server_sends_first_is_no_response() {
        let mut conversation = Conversation::default();
        assert!(!conversation.response(1, 80, 0).is_answered);
        conversation.request(2, 5, 0);
        assert_eq!(
            conversation.finish().map(|one| one.map(|one| one.response_bytes)),
            [Some(0), None]
        );
        assert_eq!(conversation.unrequested_bytes, 80);
    }
}
