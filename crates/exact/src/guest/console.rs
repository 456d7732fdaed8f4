//! The output of a guest's kernel.

use crate::spec::REASON;
use std::path::Path;

/// The message of a kernel that cannot go on.
const PANIC: &str = "Kernel panic";

/// The last lines of a console. None where it cannot be read.
pub fn last_lines(path: &Path, count: usize) -> Vec<String> {
    let lines = lines(path);
    lines[lines.len().saturating_sub(count)..].to_vec()
}

/// The first lines of a panic, if there was one.
pub fn panic(path: &Path, count: usize) -> Option<Vec<String>> {
    let mut lines = lines(path);
    let at = lines.iter().position(|line| line.contains(PANIC))?;
    Some(lines.drain(at..).take(count).collect())
}

/// Why the first process of the guest could not go on, if it has said so.
pub fn reason(path: &Path) -> Option<String> {
    lines(path).iter().rev().find_map(|line| Some(line.strip_prefix(REASON)?.to_owned()))
}

fn lines(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}
