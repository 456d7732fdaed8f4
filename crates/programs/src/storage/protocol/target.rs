//! The target's side of a session.

use super::{Pdu, PduKind, Rules, Served};
use std::collections::VecDeque;
use std::sync::Arc;
use tailrace_blockdev::{Op, Request};

/// A request that a target has whole, with all data of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The session's number for it.
    pub tag: u32,
    /// The request.
    pub request: Request,
}

/// A request that has arrived and is not answered.
#[derive(Clone, Copy, Debug)]
struct Task {
    request: Request,
    /// Bytes of a write that have arrived.
    received: u32,
    /// Bytes that come without being asked for, or were asked for.
    asked: u32,
    /// Times that it was asked for data that has not arrived.
    outstanding: u32,
}

/// The target's side of a session.
#[derive(Debug)]
pub struct TargetSession {
    rules: Arc<Rules>,
    step: usize,
    /// By tag.
    tasks: Vec<Option<Task>>,
    /// Commands that have arrived, and that were answered.
    arrived: u32,
    answered: u32,
    out: VecDeque<Pdu>,
    whole: VecDeque<Arrival>,
}

impl TargetSession {
    /// Over a connection that has been accepted.
    pub fn new(rules: Arc<Rules>) -> TargetSession {
        let (out, whole) = (VecDeque::new(), VecDeque::new());
        let mut session = TargetSession {
            rules,
            step: 0,
            tasks: Vec::new(),
            arrived: 0,
            answered: 0,
            out,
            whole,
        };
        session.set_up();
        session
    }

    /// The next unit to write to the connection.
    pub fn poll_pdu(&mut self) -> Option<Pdu> {
        self.out.pop_front()
    }

    /// The next request for the device.
    pub fn poll_whole(&mut self) -> Option<Arrival> {
        self.whole.pop_front()
    }

    /// A unit of the initiator has arrived.
    pub fn handle_pdu(&mut self, pdu: Pdu) {
        match pdu.kind {
            PduKind::SetUp => {
                self.step += 1;
                self.set_up();
            }
            PduKind::Command { request, is_final } => self.take_command(pdu, request, is_final),
            PduKind::DataOut { is_final } => self.take_data(pdu, is_final),
            PduKind::ReadyToTransfer { .. } | PduKind::DataIn { .. } | PduKind::Response { .. } => {
                unreachable!("targets send these")
            }
        }
    }

    /// The device has served the request.
    pub fn handle_served(&mut self, tag: u32, served: Served) {
        let task = self.tasks[tag as usize].take().expect("the device answers each request once");
        self.answered = self.answered.wrapping_add(1);
        let has_status = match task.request.op {
            Op::Read => self.send_data(tag, task.request.bytes as u32, served),
            Op::Write | Op::Flush => false,
        };
        if !has_status {
            self.send(PduKind::Response { status: served }, tag, 0, 0);
        }
    }

    fn set_up(&mut self) {
        while let Some(step) =
            self.rules.set_up.get(self.step).filter(|step| !step.is_from_initiator)
        {
            self.out.push_back(Pdu {
                kind: PduKind::SetUp,
                tag: 0,
                offset: 0,
                data: 0,
                bytes: step.bytes,
                window: 0,
            });
            self.step += 1;
        }
    }

    fn send(&mut self, kind: PduKind, tag: u32, offset: u32, data: u32) {
        let counted = if self.rules.counts_unanswered { self.answered } else { self.arrived };
        let window = counted.wrapping_add(self.rules.commands);
        self.out.push_back(Pdu { window, ..self.rules.pdu(kind, tag, offset, data) });
    }

    fn take_command(&mut self, pdu: Pdu, request: Request, is_final: bool) {
        self.arrived = self.arrived.wrapping_add(1);
        let asked =
            if is_final { pdu.data } else { self.rules.unsolicited_of(request.bytes as u32) };
        let task = Task { request, received: pdu.data, asked, outstanding: u32::from(!is_final) };
        if self.tasks.len() <= pdu.tag as usize {
            self.tasks.resize(pdu.tag as usize + 1, None);
        }
        let before = self.tasks[pdu.tag as usize].replace(task);
        assert!(before.is_none(), "a tag is used again when its request has ended");
        self.go_on(pdu.tag);
    }

    fn take_data(&mut self, pdu: Pdu, is_final: bool) {
        let task = self.tasks[pdu.tag as usize]
            .as_mut()
            .expect("data belongs to a write that has not ended");
        assert!(
            pdu.offset == task.received && pdu.offset + pdu.data <= task.asked,
            "data comes in order, and was allowed"
        );
        task.received += pdu.data;
        if is_final {
            task.outstanding -= 1;
            self.go_on(pdu.tag);
        }
    }

    /// Hands a complete request to the device, or asks for more of its data. Unsolicited data comes
    /// first.
    fn go_on(&mut self, tag: u32) {
        let Rules { outstanding, burst, .. } = *self.rules;
        let task = self.tasks[tag as usize].as_mut().expect("it has just been found");
        let is_write = task.request.op == Op::Write;
        if !is_write || task.received == task.request.bytes as u32 {
            let request = task.request;
            return self.whole.push_back(Arrival { tag, request });
        }
        let is_unsolicited_left = task.outstanding > 0
            && task.received < self.rules.unsolicited_of(task.request.bytes as u32);
        while !is_unsolicited_left
            && let Some(task) = self.tasks[tag as usize].as_mut()
            && task.outstanding < outstanding
            && task.asked < task.request.bytes as u32
        {
            let (offset, length) = (task.asked, burst.min(task.request.bytes as u32 - task.asked));
            (task.asked, task.outstanding) = (offset + length, task.outstanding + 1);
            self.send(PduKind::ReadyToTransfer { length }, tag, offset, 0);
        }
    }

    /// Sends the data of a read. Returns whether the status went with it.
    fn send_data(&mut self, tag: u32, length: u32, served: Served) -> bool {
        let mut offset = 0;
        while offset < length {
            let data = self.rules.piece_in(offset, length - offset);
            let is_last = offset + data == length;
            let status = (is_last && self.rules.is_status_with_data).then_some(served);
            self.send(PduKind::DataIn { status }, tag, offset, data);
            offset += data;
        }
        self.rules.is_status_with_data
    }
}
