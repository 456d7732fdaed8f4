//! A host for tests of programs alone.

use super::{Ends, HostCalls, Message, Peer, StorageDone, WorkCalls};
use std::collections::VecDeque;
use tailrace_units::{Span, Time};

/// The one host that programs of tests ask.
pub(super) const PEER: Peer = Peer { host: 1, port: 8_000 };

/// A host that notes the calls of a program.
#[derive(Default)]
pub(super) struct Fake {
    pub(super) connected: u32,
    /// No port is free.
    pub(super) is_full: bool,
    /// Connections that wait to be accepted.
    pub(super) arriving: VecDeque<u32>,
    pub(super) worked: Vec<Span>,
    pub(super) written: Vec<(u32, u64)>,
    pub(super) closed: Vec<u32>,
    pub(super) sent: Vec<Message>,
    pub(super) completed: Vec<(u32, Time)>,
    pub(super) finished: Vec<u32>,
    pub(super) parts: Vec<Time>,
    pub(super) storage: Vec<StorageDone>,
}

impl WorkCalls for Fake {
    fn compute(&mut self, work: Span) -> Time {
        self.worked.push(work);
        Time::ZERO + work
    }
    fn keeps_core(&mut self, _: Span) -> bool {
        true
    }
    fn leave_core(&mut self) {}
    fn completed(&mut self, user: u32, intended: Time) {
        self.completed.push((user, intended));
    }
    fn finished(&mut self, user: u32) {
        self.finished.push(user);
    }
}

impl HostCalls for Fake {
    fn listen(&mut self, _: u16, _: u32) -> bool {
        true
    }
    fn accept(&mut self, _: u16) -> Option<u32> {
        self.arriving.pop_front()
    }
    fn connect(&mut self, _: Peer) -> Option<u32> {
        self.connected += 1;
        (!self.is_full).then_some(self.connected)
    }
    fn write(&mut self, socket: u32, bytes: u64) {
        self.written.push((socket, bytes));
    }
    fn leave_unread(&mut self, _: u32) {}
    fn keep_alive(&mut self, _: u32) {}
    fn read(&mut self, _: u32, _: u64) {}
    fn shut_down(&mut self, _: u32) {}
    fn close(&mut self, socket: u32) {
        self.closed.push(socket);
    }
    fn ends(&self, socket: u32) -> Ends {
        Ends { peer: PEER, own_port: socket as u16 }
    }
    fn part_completed(&mut self, since: Time) {
        self.parts.push(since);
    }
    fn storage_done(&mut self, done: &StorageDone) {
        self.storage.push(*done);
    }
    fn send_datagram(&mut self, message: Message) {
        self.sent.push(message);
    }
    fn ask_core(&mut self, _: u32) -> bool {
        true
    }
}
