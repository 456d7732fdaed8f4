//! Temporary folders of a command. They are removed with the command, also when that is killed; if
//! its cleanup process is killed with it, the next command removes them.

use crate::cleanup::{self, CleanupHandle};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the last files of a killed command's processes may still appear.
const REMOVE_WAIT: Duration = Duration::from_secs(10);
const REMOVE_POLL: Duration = Duration::from_millis(5);

/// A folder that goes away with its value.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// The process that removes it when this one is killed.
    _cleanup: Option<CleanupHandle>,
}

impl Scratch {
    /// Makes one for this process, in the machine's folder for temporary files. The caller has one
    /// thread.
    ///
    /// # Errors
    /// When it is there already or cannot be made.
    pub(crate) fn new(purpose: &str) -> Result<Scratch, String> {
        Scratch::make(directory_of(purpose), |path| cleanup::start(|| remove(path)).map(Some))
    }

    /// The folder is made first: a cleanup process removes its folder, and a folder that is there
    /// already is not ours.
    fn make(
        path: PathBuf,
        start_cleanup: impl FnOnce(&Path) -> io::Result<Option<CleanupHandle>>,
    ) -> Result<Scratch, String> {
        fs::create_dir(&path).map_err(|error| format!("creating {}: {error}", path.display()))?;
        let mut scratch = Scratch { path, _cleanup: None };
        let explain = |error: io::Error| {
            format!("starting the undertaker of {}: {error}", scratch.path.display())
        };
        scratch._cleanup = start_cleanup(&scratch.path).map_err(explain)?;
        Ok(scratch)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path); // on failure the cleanup process tries again
    }
}

/// Where the folder of this process is. Those of the dead are removed.
fn directory_of(purpose: &str) -> PathBuf {
    let (parent, prefix) = (std::env::temp_dir(), format!("tailrace-{purpose}-"));
    sweep(&parent, &prefix);
    parent.join(format!("{prefix}{}", std::process::id()))
}

/// Removes a folder into which others may still write for a moment. Returns whether nothing is
/// left.
fn remove(path: &Path) -> bool {
    let deadline = Instant::now() + REMOVE_WAIT;
    while fs::remove_dir_all(path).is_err() && path.exists() && Instant::now() < deadline {
        std::thread::sleep(REMOVE_POLL);
    }
    !path.exists()
}

/// Removes the folders of this user's processes that do not live any more.
fn sweep(parent: &Path, prefix: &str) {
    let Ok(own) = fs::metadata("/proc/self").map(|own| own.uid()) else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(prefix))
            .and_then(|pid| pid.parse::<u32>().ok());
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
        // above the largest number of a process
        let dead = std::env::temp_dir().join(format!("tailrace-test-{}", u32::MAX));
        let foreign =
            std::env::temp_dir().join(format!("tailrace-test-notes-{}", std::process::id()));
        fs::create_dir_all(dead.join("below")).expect("the directory can be made");
        fs::create_dir_all(&foreign).expect("the directory can be made");
        // tests have threads
        let scratch = Scratch::make(directory_of("test"), |_| Ok(None)).expect("it can be made");
        assert!(!dead.exists() && foreign.exists() && scratch.path().is_dir());
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
        fs::remove_dir(foreign).expect("it is ours");
    }

    #[test]
    fn a_folder_that_is_there_is_neither_taken_over_nor_removed() {
        let path = std::env::temp_dir().join(format!("tailrace-theirs-{}", std::process::id()));
        fs::create_dir_all(path.join("below")).expect("the directory can be made");
        let made = Scratch::make(path.clone(), |_| {
            panic!("no cleanup process starts for a folder that is not ours")
        });
        let is_there = path.join("below").is_dir();
        fs::remove_dir_all(&path).expect("it is ours");
        assert!(made.is_err() && is_there);
    }

    #[test]
    fn without_a_cleanup_process_there_is_no_folder() {
        let path = std::env::temp_dir().join(format!("tailrace-unburied-{}", std::process::id()));
        let made = Scratch::make(path.clone(), |_| Err(io::Error::other("no more processes")));
        assert!(
            made.expect_err("no process would remove it").contains("no more processes")
                && !path.exists()
        );
    }
}
