//! Acts of programs, and their causes.

use super::{Recorder, SocketNumber};
use crate::causes::datagrams::Whole;
use crate::causes::ends::SocketId;
use crate::causes::frames::{Entry, FrameId, NOT_KEPT, Prior};
use crate::causes::part::Part;
use tailrace_programs::cause::{Because, Came, Cause, Work};
use tailrace_units::{Span, Time};

/// The latest input by some time: a frame, when it was handed up, and where.
pub(super) struct CameThen {
    pub(super) at: Time,
    pub(super) frame: FrameId,
    pub(super) core_wait: Span,
    at_client: bool,
    at_peer: bool,
}

impl Recorder {
    /// A program writes to a socket, before the socket takes the bytes.
    pub(super) fn wrote(&mut self, socket: u32, bytes: u64, because: Because) {
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

    /// A program waits for a core, to work for an input of a socket.
    pub(super) fn asks_core(&mut self, host: u16, waiter: u64, cause: Option<Cause>) {
        self.take();
        let is_explained = |came: &Came| match *came {
            Came::Bytes(socket) => self.ends.get((host, socket)).is_some(),
            Came::Datagram { socket, .. } => self.datagrams.get((host, socket)).is_some(),
            Came::Nothing => false,
        };
        if let Some(came) = cause.map(|cause| cause.came).filter(is_explained) {
            self.core_waits.insert((host, waiter), (came, self.event.now));
        }
    }

    /// It has the core.
    pub(super) fn has_core(&mut self, host: u16, waiter: u64) {
        let Some((came, since)) = self.core_waits.remove(&(host, waiter)) else { return };
        let waited = self.event.now.since(since);
        match came {
            Came::Bytes(socket) => {
                if let Some(end) = self.ends.get_mut((host, socket)) {
                    end.core_wait += waited;
                }
            }
            Came::Datagram { socket, number } => {
                if let Some(end) = self.datagrams.get_mut((host, socket)) {
                    end.note_core_wait(number, since, waited);
                }
            }
            Came::Nothing => {}
        }
    }

    /// The socket for whose input a program waits for a core, and since when.
    pub(crate) fn waits_for_core(&self, host: u16, waiter: u64) -> Option<(SocketNumber, Time)> {
        let &(came, since) = self.core_waits.get(&(host, waiter))?;
        let Came::Bytes(socket) = came else { return None };
        Some((self.ends.get((host, socket))?.number, since))
    }

    /// The cause of a program's act on a socket; without an explicit cause, the last frame that the
    /// socket received.
    pub(super) fn prior_of_act(
        &self,
        own: SocketId,
        cause: Option<Cause>,
        core_wait: Span,
    ) -> Option<Prior> {
        let is_client = self.ends.get(own).is_none_or(|end| end.is_client);
        let cause = cause.unwrap_or(Cause::now(own.1, Time::NEVER));
        self.prior_after(own.0, is_client, &cause, core_wait)
    }

    /// The prior frame of an act of a client or a server on this host for this cause.
    pub(super) fn prior_after(
        &self,
        host: u16,
        is_client: bool,
        cause: &Cause,
        core_wait: Span,
    ) -> Option<Prior> {
        if cause.work == Work::Entry {
            let waited = self.event.now.since(cause.by);
            let nothing = Prior {
                frame: NOT_KEPT,
                entry: Entry::Handed,
                part: Part::EntryWait,
                core_wait: Span::ZERO,
                waited,
                opens: None,
            };
            return Some(nothing);
        }
        let CameThen { frame, core_wait: waited, at_client, at_peer, .. } =
            self.what_came(host, cause)?;
        let part = match cause.work {
            Work::Device => Part::Device,
            Work::Entry => Part::EntryWait,
            Work::Program if at_peer || is_client && at_client => Part::ClientWork,
            Work::Program => Part::ServerWork,
        };
        let core_wait =
            if cause.work == Work::Program { core_wait.max(waited) } else { Span::ZERO };
        Some(Prior {
            frame,
            entry: Entry::Delivered,
            part,
            core_wait,
            waited: cause.waited,
            opens: None,
        })
    }

    /// The latest input of a host.
    pub(super) fn what_came(&self, host: u16, cause: &Cause) -> Option<CameThen> {
        match cause.came {
            Came::Nothing => None,
            Came::Bytes(socket) => {
                let end = self.ends.get((host, socket))?;
                let (at, frame) = end.advance_by(cause.by)?;
                Some(CameThen {
                    at,
                    frame,
                    core_wait: end.core_wait,
                    at_client: end.is_client,
                    at_peer: end.is_peer,
                })
            }
            Came::Datagram { socket, number } => {
                let end = self.datagrams.get((host, socket))?;
                let at_client = end.is_client;
                let forgotten = CameThen {
                    at: cause.by,
                    frame: NOT_KEPT,
                    core_wait: Span::ZERO,
                    at_client,
                    at_peer: false,
                };
                let whole = end.whole(number, cause.by);
                let came = whole.map(|&Whole { at, frame, core_wait, .. }| CameThen {
                    at,
                    frame,
                    core_wait,
                    ..forgotten
                });
                Some(came.unwrap_or(forgotten))
            }
        }
    }
}
