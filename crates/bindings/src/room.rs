//! Whether the machine has room for the threads of a trial, as Linux tells it. Where it does not tell, there is none.

use std::fs::read_to_string;

/// Of the memory that is available, trials that are divided take at most this part.
const MEMORY_SHARE: u64 = 2;

/// Whether so many threads would each have a core that nothing else uses, and memory for a network each.
pub(crate) fn is_there(threads: usize) -> bool {
    let has_cores = || fits_cores(&read_to_string("/proc/stat").ok()?, threads as u64);
    let has_memory =
        || fits_memory(&read_to_string("/proc/self/status").ok()?, &read_to_string("/proc/meminfo").ok()?, threads as u64);
    has_cores().unwrap_or(false) && has_memory().unwrap_or(false)
}

/// The thread that asks runs already.
fn fits_cores(stat: &str, threads: u64) -> Option<bool> {
    let cores = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count() as u64;
    Some(number_after(stat, "procs_running")? + threads <= cores + 1)
}

/// What this process has grown to is at least the network of one thread.
fn fits_memory(status: &str, meminfo: &str, threads: u64) -> Option<bool> {
    Some(number_after(status, "VmRSS:")? * (threads - 1) <= number_after(meminfo, "MemAvailable:")? / MEMORY_SHARE)
}

fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse().ok())
}
