//! What a guest's kernel wrote.

use std::path::Path;

/// The last lines of a console. None where it cannot be read.
pub fn last_lines(path: &Path, count: usize) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}
