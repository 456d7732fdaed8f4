//! Why a trial has no result.

use std::fmt;

/// What went wrong, and in which guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Name of its host.
    pub host: String,
    /// What happened.
    pub what: String,
}

impl Fault {
    /// Something in a guest.
    pub fn new(host: &str, what: impl fmt::Display) -> Fault {
        Fault { host: host.to_owned(), what: what.to_string() }
    }

    /// A guest that uses wall time and lets no virtual time pass.
    pub fn spins(host: &str, now_ns: u64) -> Fault {
        let at = now_ns as f64 / 1e9;
        let what = format!("a program spins: time stands still at {at:.6} s (hint: programs must sleep, not poll)");
        Fault::new(host, what)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {}: {}", self.host, self.what)
    }
}
