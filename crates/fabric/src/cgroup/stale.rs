//! Groups of labs that were killed together with everything that would have removed their groups.

use super::{Hierarchies, folders_in, owner, remove_tree};
use std::path::PathBuf;

/// The result for the groups that were found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Names of those that are gone.
    pub removed: Vec<String>,
    /// Names of those that could not be removed.
    pub left: Vec<String>,
}

/// Removes only the groups of labs whose owner has ended.
pub fn clear() -> Cleared {
    clear_in(Hierarchies::find().all_roots())
}

fn clear_in<'a>(roots: impl Iterator<Item = &'a PathBuf>) -> Cleared {
    let (mut cleared, observer) = (Cleared::default(), owner::observer());
    for group in roots.flat_map(|root| folders_in(root)) {
        let name = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !owner::is_dead(&name, observer.as_deref()) {
            continue;
        }
        let list = if remove_tree(&group) { &mut cleared.removed } else { &mut cleared.left };
        if !list.contains(&name) {
            list.push(name);
        }
    }
    cleared
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_what_a_lab_made_is_removed() {
        let root = std::env::temp_dir().join(format!("tailrace-stale-{}", std::process::id()));
        let dead = u32::MAX; // above the largest number of a process
        let ours = owner::name(dead, 1, owner::observer().as_deref());
        let foreign = [
            format!("tailrace-{dead}-2"),
            owner::name(dead, 3, Some("pid:[1]")),
            "tailrace-notes".to_owned(),
        ];
        for name in foreign.iter().chain([&ours]) {
            fs::create_dir_all(root.join(name).join("host-0"))
                .expect("there is a place for scratch files");
        }
        let cleared = clear_in([root.clone()].iter());
        let stays = foreign.map(|name| root.join(name).exists());
        fs::remove_dir_all(&root).expect("it is ours");
        assert_eq!(cleared, Cleared { removed: vec![ours], left: vec![] });
        assert_eq!(stays, [true; 3]);
    }
}
