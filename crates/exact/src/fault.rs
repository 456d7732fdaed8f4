//! Why a trial has no result.

use crate::spec::BEGIN_NS;
use std::fmt;

/// A fault, and its guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Name of its host.
    pub host: String,
    /// The fault.
    pub what: String,
}

impl Fault {
    /// Something in a guest.
    pub fn new(host: &str, what: impl fmt::Display) -> Fault {
        Fault { host: host.to_owned(), what: what.to_string() }
    }

    /// A guest that uses wall time and lets no virtual time pass.
    pub fn spins(host: &str, now_ns: u64) -> Fault {
        let at = moment(now_ns);
        let what = format!(
            "a program spins: time stands still {at} (hint: programs must sleep, not poll)"
        );
        Fault::new(host, what)
    }
}

/// A time of the guests in words, by the plan's time, one second before which programs start.
pub fn moment(now_ns: u64) -> String {
    let seconds = (now_ns as f64 - BEGIN_NS as f64) / 1e9;
    format!("at {seconds:.6} s of the plan's time")
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {}: {}", self.host, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_given_in_plan_time_also_before_the_plan_begins() {
        assert_eq!(moment(BEGIN_NS + 250_000_000), "at 0.250000 s of the plan's time");
        assert_eq!(moment(BEGIN_NS - 999_996_000), "at -0.999996 s of the plan's time");
        assert!(
            Fault::spins("h1", BEGIN_NS)
                .to_string()
                .contains("time stands still at 0.000000 s of the plan's time")
        );
    }
}
