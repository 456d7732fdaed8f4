//! Claimants of a core of the host.

/// A claimant of a core.
#[derive(Clone, Copy, Debug)]
pub enum Waiter {
    /// The program of this end.
    End(u32),
    /// A thread of a program with several sockets.
    Thread { program: u32, thread: u32 },
}
