//! Whether the machine has room for the threads of a trial, as Linux tells it. Where it does not
//! tell, there is none.

use std::fs::read_to_string;

/// Of the memory that is available, trials that are divided take at most this part.
const MEMORY_SHARE: u64 = 2;

/// Whether so many threads would each have a core that nothing else uses, and memory for a network
/// each.
pub(crate) fn is_there(threads: usize) -> bool {
    let has_cores = || fits_cores(&read_to_string("/proc/stat").ok()?, threads as u64);
    let has_memory = || {
        fits_memory(
            &read_to_string("/proc/self/status").ok()?,
            &read_to_string("/proc/meminfo").ok()?,
            threads as u64,
        )
    };
    has_cores().unwrap_or(false) && has_memory().unwrap_or(false)
}

/// The thread that asks runs already.
fn fits_cores(stat: &str, threads: u64) -> Option<bool> {
    let cores =
        stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count()
            as u64;
    Some(number_after(stat, "procs_running")? + threads <= cores + 1)
}

/// The memory of this process is at least the network of one thread.
fn fits_memory(status: &str, meminfo: &str, threads: u64) -> Option<bool> {
    Some(
        number_after(status, "VmRSS:")? * (threads - 1)
            <= number_after(meminfo, "MemAvailable:")? / MEMORY_SHARE,
    )
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  9 9\ncpu0 4 4\ncpu1 5 5\nintr 8\nprocs_running 1\nprocs_blocked 0\n";

    #[test]
    fn the_thread_that_asks_has_its_core_already_and_others_need_free_ones() {
        let running =
            |count: u64| STAT.replace("procs_running 1", &format!("procs_running {count}"));
        let fits = |count, threads| fits_cores(&running(count), threads);
        assert_eq!([fits(1, 1), fits(1, 2), fits(1, 3)], [Some(true), Some(true), Some(false)]);
        assert_eq!([fits(2, 1), fits(2, 2)], [Some(true), Some(false)]);
        assert_eq!(fits_cores("cpu0 1\n", 1), None, "it does not tell what runs");
    }

    #[test]
    fn networks_of_all_threads_but_one_fit_into_half_of_what_is_available() {
        let fits = |grown: u64, available: u64, threads| {
            let status = format!("Name:\tone\nVmRSS:\t  {grown} kB\n");
            fits_memory(
                &status,
                &format!("MemTotal: 9000 kB\nMemAvailable:   {available} kB\n"),
                threads,
            )
        };
        assert_eq!(
            [fits(100, 200, 2), fits(100, 199, 2), fits(101, 200, 2)],
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!(
            [fits(100, 400, 3), fits(100, 399, 3), fits(100, 0, 1)],
            [Some(true), Some(false), Some(true)]
        );
        assert_eq!(
            fits_memory("VmRSS: 1 kB\n", "MemTotal: 9 kB\n", 2),
            None,
            "it does not tell what is available"
        );
    }

    #[test]
    fn no_machine_has_room_for_a_million_threads() {
        assert!(!is_there(1_000_000));
    }
}
