//! The path to a device in the same host.

use super::path::{Command, Done, Outcome, Path, PathWaits};
use crate::HostCalls;
use tailrace_blockdev::{Completion, DeviceUser};
use tailrace_units::{Span, Time};

/// A device in the same host.
#[derive(Debug)]
pub struct LocalPath {
    device: DeviceUser,
}

impl LocalPath {
    /// The path to this device.
    pub fn new(device: DeviceUser) -> LocalPath {
        LocalPath { device }
    }
}

impl Path for LocalPath {
    fn poll_timeout(&self) -> Time {
        self.device.poll_timeout()
    }
    fn handle_timeout(&mut self, now: Time, _: &mut dyn HostCalls) {
        self.device.handle_timeout(now);
    }
    fn submit(&mut self, now: Time, command: Command, _: &mut dyn HostCalls) {
        self.device.submit(now, command.request);
    }
    fn poll_done(&mut self) -> Option<Done> {
        let Completion { tag, at, queue, device, pieces, pieces_wait, busy, .. } =
            self.device.poll_completion()?;
        let waits = PathWaits {
            entry: Span::ZERO,
            network: Span::ZERO,
            r2t: Span::ZERO,
            queue,
            device,
            pieces,
            pieces_wait,
            busy,
        };
        Some(Done { tag: tag as u32, at, outcome: Outcome::Complete(waits) })
    }
}
