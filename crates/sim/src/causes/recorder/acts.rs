//! What programs do, and what that follows from.

use super::Recorder;
use crate::causes::ends::SocketId;
use crate::causes::frames::{Entry, Prior};
use crate::causes::part::Part;
use tailrace_endpoint::cause::{Because, Cause, Work};
use tailrace_units::{Span, Time};

impl Recorder {
    /// A program writes to a socket, before the socket takes the bytes.
    pub(crate) fn wrote(&mut self, socket: u32, bytes: u64, because: Because) {
        let own = (because.host, socket);
        if self.ends.get(own).is_none() {
            return;
        }
        self.take();
        let prior = self.prior_of_act(own, because.cause, because.core_wait);
        if let Some(end) = self.ends.get_mut(own) {
            end.note_written(self.event.now, bytes, prior);
            self.written.push(own);
            self.touched.push(own);
        }
    }

    /// A program waits for a core, to work for what has come for a socket.
    pub(crate) fn asks_core(&mut self, host: u16, waiter: u64, socket: Option<u32>) {
        self.take();
        if let Some(socket) = socket.filter(|&socket| self.ends.get((host, socket)).is_some()) {
            self.core_waits.insert((host, waiter), (socket, self.event.now));
        }
    }

    /// It has the core.
    pub(crate) fn has_core(&mut self, host: u16, waiter: u64) {
        let Some((socket, since)) = self.core_waits.remove(&(host, waiter)) else { return };
        if let Some(end) = self.ends.get_mut((host, socket)) {
            end.core_wait += self.event.now.since(since);
        }
    }

    /// What a program does to a socket follows from this; without a cause, from what that socket has received.
    pub(super) fn prior_of_act(&self, own: SocketId, cause: Option<Cause>, core_wait: Span) -> Option<Prior> {
        let is_client = self.ends.get(own).is_none_or(|end| end.is_client);
        let (from, by, work) = match cause {
            None => (self.ends.get(own)?, Time::NEVER, Work::Program),
            Some(Cause { socket, by, work }) => (self.ends.get((own.0, socket?))?, by, work),
        };
        let (_, frame) = from.advance_by(by)?;
        let part = match work {
            Work::Device => Part::Device,
            Work::Program if from.is_peer || is_client && from.is_client => Part::ClientWork,
            Work::Program => Part::ServerWork,
        };
        let core_wait = if work == Work::Program { core_wait.max(from.core_wait) } else { Span::ZERO };
        Some(Prior { frame, entry: Entry::Delivered, part, core_wait, opens: None })
    }
}
