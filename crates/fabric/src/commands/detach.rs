//! A lab that outlives the command that starts it.

use crate::sys::process::fork;
use nix::fcntl::OFlag;
use nix::sys::stat::{Mode, umask};
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, pipe2, setsid};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Where commands are given, in the lab's folder.
const SOCKET: &str = "control.sock";
/// Messages of the lab.
const MESSAGES: &str = "lab.log";

/// The process that continues after [`detach`].
#[derive(Debug)]
pub(super) enum Half {
    /// The process that the user started, with the result of the lab.
    Starter(Result<(), String>),
    /// The process that runs the lab.
    Lab,
}

/// Makes the socket of a lab, which only its owner may use.
///
/// # Errors
/// When another lab runs in this folder.
pub(super) fn listen(dir: &Path) -> Result<UnixListener, String> {
    let path = dir.join(SOCKET);
    if UnixStream::connect(&path).is_ok() {
        return Err(format!(
            "a lab is already running in {} (hint: stop it, or choose another folder)",
            dir.display()
        ));
    }
    let explain = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.exists() {
        std::fs::remove_file(&path).map_err(explain)?; // of a lab that has ended
    }
    // No other user may connect, not even for a moment.
    let before = umask(Mode::from_bits_truncate(0o177));
    let listener = UnixListener::bind(&path).map_err(explain);
    umask(before);
    listener
}

/// Goes on in a process without a terminal. The one that was started waits for the lab's first word
/// and passes it on.
///
/// # Errors
/// When there can be no more processes or files.
pub(super) fn detach(dir: &Path) -> Result<Half, String> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).map_err(|error| error.to_string())?;
    match fork().map_err(|error| error.to_string())? {
        ForkResult::Parent { .. } => {
            drop(writer);
            Ok(Half::Starter(first_word(reader.into())))
        }
        ForkResult::Child => {
            let text = |error: std::io::Error| format!("detaching: {error}");
            setsid().map_err(|error| error.to_string())?;
            let nothing = OpenOptions::new().read(true).open("/dev/null").map_err(text)?;
            let messages = File::create(dir.join(MESSAGES)).map_err(text)?;
            let moved = dup2_stdin(&nothing)
                .and_then(|()| dup2_stdout(&writer))
                .and_then(|()| dup2_stderr(&messages));
            moved.map_err(|error| error.to_string())?;
            Ok(Half::Lab)
        }
    }
}

fn first_word(output: File) -> Result<(), String> {
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .map_err(|error| format!("waiting for the lab: {error}"))?;
    let word: Value =
        serde_json::from_str(&line).map_err(|_| "the lab ended without a message".to_owned())?;
    if word["event"] == "ready" {
        return super::print_json(&word);
    }
    Err(word["error"].as_str().unwrap_or("the lab reported no reason").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_its_owner_gives_commands_to_a_lab() {
        let dir = std::env::temp_dir().join(format!("tailrace-listen-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("it can be made");
        let listener = listen(&dir).expect("nothing listens here");
        let mode = std::fs::metadata(dir.join(SOCKET)).expect("it was made").permissions().mode();
        assert!(listen(&dir).is_err_and(|error| error.contains("already running")));
        drop(listener);
        std::fs::remove_dir_all(&dir).expect("it is ours");
        assert_eq!(mode & 0o777, 0o600);
    }
}
