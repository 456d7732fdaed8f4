//! How busy the machine was: /proc/stat over an interval.

use std::fs;

/// Processor time of all cores so far, in clock ticks.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Machine {
    total: u64,
    idle: u64,
    steal: u64,
}

impl Machine {
    /// Now.
    pub fn now() -> Machine {
        Machine::parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal
    /// (proc(5)).
    fn parse(stat: &str) -> Machine {
        let fields: Vec<u64> = stat
            .lines()
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .filter_map(|field| field.parse().ok())
            .collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or(0);
        Machine { total: fields.iter().take(8).sum(), idle: field(3) + field(4), steal: field(7) }
    }

    /// The shares of all processor time since then that were idle, and that the hypervisor gave to
    /// others.
    pub fn idle_and_steal_since(self, before: Machine) -> (f64, f64) {
        let total = self.total.saturating_sub(before.total).max(1) as f64;
        let share = |now: u64, before: u64| now.saturating_sub(before) as f64 / total;
        (share(self.idle, before.idle), share(self.steal, before.steal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_times_are_read() {
        let before = Machine::parse("cpu  10 1 20 300 5 0 2 40 0 0\ncpu0 1 1 1 1\n");
        assert_eq!(before, Machine { total: 378, idle: 305, steal: 40 });
        let after = Machine::parse("cpu  60 1 20 340 5 0 2 50 0 0\n");
        assert_eq!(after.idle_and_steal_since(before), (0.4, 0.1));
    }
}
