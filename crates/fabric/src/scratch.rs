//! Folders that a command needs for a moment. They go with the command, also when that is killed; what stays when its
//! undertaker is killed with it goes with the next command.

use crate::undertaker::{self, Hold};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the last files of what a killed command had started may still appear.
const REMOVE_WAIT: Duration = Duration::from_secs(10);
const REMOVE_POLL: Duration = Duration::from_millis(5);

/// A folder that goes away with its value.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Who removes it when this process is killed.
    _undertaker: Option<Hold>,
}

impl Scratch {
    /// Makes one for this process, in the machine's folder for temporary files. The caller has one thread.
    ///
    /// # Errors
    /// When it is there already or cannot be made.
    pub(crate) fn new(purpose: &str) -> Result<Scratch, String> {
        let path = place(purpose);
        let explain = |error: io::Error| format!("starting the undertaker of {}: {error}", path.display());
        let undertaker = undertaker::start(|| remove(&path)).map_err(explain)?;
        Scratch::make(path, Some(undertaker))
    }

    fn make(path: PathBuf, undertaker: Option<Hold>) -> Result<Scratch, String> {
        fs::create_dir(&path).map_err(|error| format!("making {}: {error}", path.display()))?;
        Ok(Scratch { path, _undertaker: undertaker })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path); // what cannot be removed is the undertaker's to try
    }
}

/// Where the folder of this process is. Those of the dead are removed.
fn place(purpose: &str) -> PathBuf {
    let (place, prefix) = (std::env::temp_dir(), format!("tailrace-{purpose}-"));
    sweep(&place, &prefix);
    place.join(format!("{prefix}{}", std::process::id()))
}

/// Removes a folder into which others may still write for a moment. Returns whether nothing is left.
fn remove(path: &Path) -> bool {
    let deadline = Instant::now() + REMOVE_WAIT;
    while fs::remove_dir_all(path).is_err() && path.exists() && Instant::now() < deadline {
        std::thread::sleep(REMOVE_POLL);
    }
    !path.exists()
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
        let scratch = Scratch::make(place("test"), None).expect("it can be made"); // tests have threads
        assert!(!dead.exists() && foreign.exists() && scratch.path().is_dir());
        assert!(Scratch::make(place("test"), None).is_err(), "a folder that is there is not taken over");
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
        fs::remove_dir(foreign).expect("it is ours");
    }
}
