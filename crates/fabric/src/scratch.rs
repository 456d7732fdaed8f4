//! Folders that a command needs for a moment. One that was killed leaves its folder, and the next one removes it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder that goes away with its value.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes one for this process, in the machine's folder for temporary files.
    ///
    /// # Errors
    /// When it is there already or cannot be made.
    pub(crate) fn new(purpose: &str) -> Result<Scratch, String> {
        let place = std::env::temp_dir();
        let prefix = format!("tailrace-{purpose}-");
        sweep(&place, &prefix);
        let path = place.join(format!("{prefix}{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("making {}: {error}", path.display()))?;
        Ok(Scratch { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path); // what cannot be removed is the next one's to try
    }
}

/// Removes the folders of this user's processes that do not live any more.
fn sweep(place: &Path, prefix: &str) {
    let Ok(own) = fs::metadata("/proc/self").map(|own| own.uid()) else { return };
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(prefix)).and_then(|pid| pid.parse::<u32>().ok());
        let is_dead = owner.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists());
        if is_dead && is_folder_of(&entry, own).unwrap_or(false) {
            let _ = fs::remove_dir_all(entry.path()); // another command may be at it
        }
    }
}

fn is_folder_of(entry: &fs::DirEntry, user: u32) -> io::Result<bool> {
    let found = entry.metadata()?; // of a link itself, not of what it points to
    Ok(found.is_dir() && found.uid() == user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_command_left_goes_with_the_next() {
        let dead = std::env::temp_dir().join(format!("tailrace-test-{}", u32::MAX)); // above the largest number of a process
        let foreign = std::env::temp_dir().join(format!("tailrace-test-notes-{}", std::process::id()));
        fs::create_dir_all(dead.join("below")).expect("there is a place");
        fs::create_dir_all(&foreign).expect("there is a place");
        let scratch = Scratch::new("test").expect("it can be made");
        assert!(!dead.exists() && foreign.exists() && scratch.path().is_dir());
        assert!(Scratch::new("test").is_err(), "a folder that is there is not taken over");
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
        fs::remove_dir(foreign).expect("it is ours");
    }
}
