//! Groups of labs that were killed together with everything that would have removed their groups.

use super::{Hierarchies, PREFIX, remove_tree};
use crate::sys::{mark, process::start_ticks};
use std::fs;
use std::path::{Path, PathBuf};

/// What became of the groups that were found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Names of those that are gone.
    pub removed: Vec<String>,
    /// Names of those that could not be removed.
    pub left: Vec<String>,
}

/// Removes the groups of labs whose owner is gone. Only what carries a lab's mark is touched.
pub fn clear() -> Cleared {
    clear_in(Hierarchies::find().roots())
}

fn clear_in<'a>(roots: impl Iterator<Item = &'a PathBuf>) -> Cleared {
    let mut cleared = Cleared::default();
    for group in roots.flat_map(|root| folders_of_the_dead(root)) {
        let list = if remove_tree(&group) { &mut cleared.removed } else { &mut cleared.left };
        let name = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !list.contains(&name) {
            list.push(name);
        }
    }
    cleared
}

fn folders_of_the_dead(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of_the_dead));
    named.map(|entry| entry.path()).filter(|group| mark::of(group).is_some_and(|mark| mark == observer())).collect()
}

/// Whether this is the name of a lab's group and its owner, told by number and start, does not live any more.
fn is_of_the_dead(name: &str) -> bool {
    let Some((pid, start)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')) else { return false };
    let Ok(start) = start.parse::<u64>() else { return false };
    pid.parse::<u32>().is_ok() && start_ticks(pid) != Some(start)
}

/// Who can tell whether an owner lives: those who count processes as it did. Containers that share control groups may not.
pub(super) fn observer() -> String {
    fs::read_link("/proc/self/ns/pid").map_or(String::new(), |link| link.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_the_dead_are_stale() {
        let start = start_ticks("self").expect("this process exists");
        let own = std::process::id();
        assert!(!is_of_the_dead(&format!("tailrace-{own}-{start}")));
        assert!(is_of_the_dead(&format!("tailrace-{own}-{}", start + 1))); // an earlier process had the same number
        assert!(!is_of_the_dead("tailrace-notes"));
        assert!(!is_of_the_dead("user.slice"));
    }

    #[test]
    fn only_what_carries_our_mark_is_removed() {
        let root = std::env::temp_dir().join(format!("tailrace-stale-{}", std::process::id()));
        let dead = |number: u32| format!("tailrace-{}-{number}", u32::MAX); // above the largest number of a process
        let groups = [(1, Some(observer())), (2, None), (3, Some("pid:[1]".to_owned()))];
        for (number, text) in &groups {
            let group = root.join(dead(*number));
            fs::create_dir_all(&group).expect("there is a place for scratch files");
            if let Some(text) = text {
                mark::set(&group, text).expect("the file system takes marks");
            }
        }
        let cleared = clear_in([root.clone()].iter());
        let stays = [2, 3].map(|number| root.join(dead(number)).exists());
        fs::remove_dir_all(&root).expect("it is ours");
        assert_eq!(cleared, Cleared { removed: vec![dead(1)], left: vec![] });
        assert_eq!(stays, [true, true], "unmarked, and marked by somebody who counts processes otherwise");
    }
}
