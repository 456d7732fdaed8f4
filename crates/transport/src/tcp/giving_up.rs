//! Giving up: how a connection ends when the peer does not answer, or does not want it.

use tailrace_units::{Span, Time};
use tailrace_wire::Flags;

use super::phase::{Failure, Phase};
use super::timer::Pending;
use super::{Tcp, Transmit};

/// Smallest and largest retransmission timeout in the bound below, whatever those of the connection
/// are (Linux `TCP_RTO_MIN`, `TCP_RTO_MAX`).
const RTO_MIN: Span = Span::from_ms(200);
const RTO_MAX: Span = Span::from_secs(120);
/// Linux `tcp_retries2`, 15: 924.6 s without an answer (ip-sysctl; RFC 1122 section 4.2.3.5 asks
/// for 100 s at least).
const RETRIES: u32 = 15;
/// The same of an orphan: 8 for a `tcp_orphan_retries` of 0, while
/// the timeout is below its maximum, and then none (Linux `tcp_orphan_retries`).
const ORPHAN_RETRIES: u32 = 8;

/// The time that so many retransmissions take when each timeout is twice the one before, from the
/// smallest on (Linux `tcp_model_timeout`).
fn time_of(retries: u32) -> Span {
    let doublings = (RTO_MAX.ps() / RTO_MIN.ps()).ilog2();
    let doubled = RTO_MIN.times((2 << retries.min(doublings)) - 1);
    doubled + RTO_MAX.times(u64::from(retries.saturating_sub(doublings)))
}

impl Tcp {
    /// Why the connection ended before both ends had closed it; `None` while it lasts, and after
    /// both have.
    pub fn failure(&self) -> Option<Failure> {
        match self.handshake.phase {
            Phase::Failed(failure) => Some(failure),
            Phase::Listen
            | Phase::SynSent
            | Phase::SynReceived
            | Phase::Established
            | Phase::Closing
            | Phase::Closed => None,
        }
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.end();
        self.handshake.phase = Phase::Failed(failure);
    }

    /// The retransmission timer has expired. Returns whether the last of the retransmissions
    /// without an answer was in vain (Linux `retransmits_timed_out`: the time since the first
    /// counts, not their number). Otherwise there will be one more.
    pub(super) fn gives_up(&mut self, now: Time) -> bool {
        if self.recovery.timeouts == 0 {
            self.handshake.sent = now;
            return false;
        }
        let retries = if self.is_orphan() { self.orphan_retries() } else { RETRIES };
        let gives_up = now.since(self.handshake.sent) >= time_of(retries);
        if gives_up {
            self.fail(Failure::TimedOut);
        }
        gives_up
    }

    /// A probe of a closed window is due. Returns whether those before it have had no answer for
    /// too long, or the window of an orphan has been closed for too long (Linux `tcp_probe_timer`).
    /// Otherwise there will be one more.
    pub(super) fn gives_up_probing(&mut self) -> bool {
        let retries = if self.is_orphan() { self.orphan_retries() } else { RETRIES };
        let gives_up = u32::from(self.handshake.probes) >= retries;
        if gives_up {
            self.fail(Failure::TimedOut);
        } else {
            self.handshake.probes += 1;
        }
        gives_up
    }

    /// Something was heard of the peer: its window may stay closed as long as it says so.
    #[inline]
    pub(super) fn note_answered_probe(&mut self) {
        if self.timers.pending == Pending::WindowProbe {
            self.handshake.probes = 0;
        }
    }

    /// Asks a peer that has nothing to say whether it is still there (Linux `tcp_keepalive_timer`).
    pub fn send_keepalive(&mut self, wire: &mut impl Transmit) {
        let probe = self.header(self.send.una - 1, 0, Flags::ACK);
        wire.send(probe);
    }

    /// The peer is not there: ends the connection, with a reset in case it still listens.
    pub fn end_silence(&mut self, wire: &mut impl Transmit) {
        self.abort(wire);
        self.fail(Failure::TimedOut);
    }

    fn orphan_retries(&self) -> u32 {
        if self.rtt.timeout() < RTO_MAX { ORPHAN_RETRIES } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_retries_are_924_6_seconds_and_eight_102_2() {
        assert_eq!(time_of(RETRIES), Span::from_ms(924_600));
        assert_eq!(time_of(ORPHAN_RETRIES), Span::from_ms(102_200));
        assert_eq!(
            (time_of(0), time_of(9), time_of(10)),
            (RTO_MIN, Span::from_ms(204_600), Span::from_ms(324_600))
        );
    }
}
