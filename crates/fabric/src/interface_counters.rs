//! Counters of the frames that an interface sends.

use std::fs;

/// Frames that an interface has sent and dropped by its own account (/proc/net/dev).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) frames: u64,
    pub(crate) dropped: u64,
}

impl Counters {
    /// Counts since an earlier reading.
    pub(crate) fn since(&self, before: &Counters) -> Counters {
        let (frames, dropped) = (
            self.frames.saturating_sub(before.frames),
            self.dropped.saturating_sub(before.dropped),
        );
        Counters { frames, dropped }
    }
}

/// Of the thread's namespace.
const DEVICES: &str = "/proc/thread-self/net/dev";

/// The counters of the interface.
pub(crate) fn counters(interface: &str) -> Result<Counters, String> {
    let text = fs::read_to_string(DEVICES).map_err(|error| format!("{DEVICES}: {error}"))?;
    let row = rows(&text).find(|(name, _)| *name == interface);
    row.map(|(_, counters)| counters).ok_or_else(|| format!("the interface {interface} has gone"))
}

/// Names of the interfaces of the thread's namespace.
pub(crate) fn names() -> Vec<String> {
    rows(&fs::read_to_string(DEVICES).unwrap_or_default())
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Names with counters: sixteen columns, of which the tenth is frames sent and the twelfth frames
/// dropped on sending.
fn rows(text: &str) -> impl Iterator<Item = (&str, Counters)> {
    text.lines().skip(2).filter_map(|line| {
        let (name, columns) = line.split_once(':')?;
        let columns: Vec<u64> =
            columns.split_whitespace().map_while(|column| column.parse().ok()).collect();
        Some((name.trim(), Counters { frames: *columns.get(9)?, dropped: *columns.get(11)? }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_an_interface_are_those_of_sending() {
        let text =
            "Inter-|   Receive\n face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(rows(text).collect::<Vec<_>>(), [("lo", Counters { frames: 10, dropped: 12 })]);
        let later = Counters { frames: 15, dropped: 12 };
        assert_eq!(
            later.since(&Counters { frames: 10, dropped: 12 }),
            Counters { frames: 5, dropped: 0 }
        );
    }
}
