//! The way from an initiator to its device.

use crate::{HostCalls, Tallies};
use std::fmt::Debug;
use tailrace_blockdev::Request;
use tailrace_transport::tcp::Failure;
use tailrace_units::{Span, Time};

/// A request that an initiator hands to its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// Distinguishes it from other outstanding commands; small, and used again.
    pub tag: u32,
    /// The job of the initiator that it is from, from 0.
    pub job: u32,
    /// The request to the device. Its tag is that of the command.
    pub request: Request,
    /// When the job began with it.
    pub began: Time,
}

/// A command that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Its tag.
    pub tag: u32,
    /// When it ended.
    pub at: Time,
    /// How.
    pub outcome: Outcome,
}

/// How a command has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The device has done it.
    Complete(PathWaits),
    /// The connection was lost.
    Failed,
}

/// Waits of a command on its path: together the time from [`Path::submit`] to its end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PathWaits {
    /// For an entry of the protocol's queue of commands.
    pub entry: Span,
    /// Of the network, with buffers and queues before and behind it.
    pub network: Span,
    /// For the target's permission to send data.
    pub r2t: Span,
    /// In the block layer and in the device, for earlier requests.
    pub queue: Span,
    /// While the medium and the link of the device served it.
    pub device: Span,
    /// As in [`tailrace_blockdev::Completion`].
    pub pieces: u32,
    /// As there.
    pub pieces_wait: Span,
    /// As there.
    pub busy: Span,
}

/// How commands of one initiator reach the device, and how they come back.
pub trait Path: Debug + Send {
    /// When it wants to be called, or [`Time::NEVER`].
    fn poll_timeout(&self) -> Time;
    /// Its deadline has come. It is also called where nothing is due.
    fn handle_timeout(&mut self, now: Time, calls: &mut dyn HostCalls);
    /// Takes a command, and keeps it until it can go.
    fn submit(&mut self, now: Time, command: Command, calls: &mut dyn HostCalls);
    /// A command that has ended. The initiator asks after every call.
    fn poll_done(&mut self) -> Option<Done>;
    /// A connection that it opened is open.
    fn handle_connected(&mut self, _now: Time, _socket: u32, _calls: &mut dyn HostCalls) {}
    /// Bytes can be read.
    fn handle_readable(
        &mut self,
        _now: Time,
        _socket: u32,
        _bytes: u64,
        _calls: &mut dyn HostCalls,
    ) {
    }
    /// The peer has closed its end.
    fn handle_ended(&mut self, _now: Time, _socket: u32, _calls: &mut dyn HostCalls) {}
    /// A connection is gone.
    fn handle_failed(
        &mut self,
        _now: Time,
        _socket: u32,
        _why: Failure,
        _calls: &mut dyn HostCalls,
    ) {
    }
    /// Its counters besides commands.
    fn tallies(&self) -> Tallies {
        Tallies::default()
    }
}
