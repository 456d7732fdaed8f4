//! Reports of the switch to the engine that drives it.

use crate::{DropCause, Notification};
use tailrace_units::Time;

/// Index of a port within its switch.
pub type PortNo = usize;
/// Index of a queue within its port.
pub type QueueNo = usize;

/// The world around one switch. Every method has the time at which the thing happened, which may
/// lie before the call.
pub trait Outputs<F> {
    /// A frame has come to `port`, and may be sent soon.
    #[inline(always)]
    fn prepare(&self, _port: PortNo) {}
    /// `frame` occupies the wire behind `port` from `start` to `end` (overhead included).
    /// On a port that has nothing left to choose, `start` may lie ahead of the call.
    fn transmit(&mut self, port: PortNo, frame: &F, start: Time, end: Time);
    /// `frame` was dropped.
    fn dropped(&mut self, at: Time, port: PortNo, queue: QueueNo, frame: &F, cause: DropCause);
    /// `frame` was marked "congestion experienced".
    fn marked(&mut self, at: Time, port: PortNo, queue: QueueNo, frame: &F);
    /// The congestion point of a queue sends a notification to the source of `frame` (IEEE
    /// 802.1Qau).
    fn notify(
        &mut self,
        at: Time,
        port: PortNo,
        queue: QueueNo,
        frame: &F,
        notification: Notification,
    );
    /// The bytes waiting at an observed port (all its queues) changed to this. Called in time order
    /// for each port.
    fn depth(&mut self, at: Time, port: PortNo, bytes: u64);
}
