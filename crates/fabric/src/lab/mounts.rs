//! The file system of a lab's programs: that of the machine, with some private mounts, which
//! disappear with the lab's mount namespace.

use nix::mount::{MsFlags, mount};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tailrace_lab::address;

/// Directories that are empty and in memory.
const PRIVATE: [&str; 2] = ["/dev/shm", "/run"];
/// Scratch space of the programs.
pub const SCRATCH: &str = "/run/tailrace";
const HOSTS_FILE: &str = "/run/tailrace-hosts";

/// Whether a file would not be seen by the machine.
pub fn is_private(path: &Path) -> bool {
    PRIVATE.iter().any(|directory| path.starts_with(directory))
}

/// Sets the directories up. The caller has a mount namespace and a process namespace of its own.
///
/// # Errors
/// The kernel's error, with the path.
pub fn set_up(host_names: &[String]) -> io::Result<()> {
    let none = None::<&str>;
    at("/", mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    at("/proc", mount(Some("proc"), "/proc", Some("proc"), flags | MsFlags::MS_NOEXEC, none))?;
    for directory in PRIVATE.iter().filter(|directory| Path::new(directory).is_dir()) {
        at(directory, mount(Some("tailrace"), *directory, Some("tmpfs"), flags, Some("mode=755")))?;
    }
    open_to_all(Path::new("/dev/shm"))?;
    fs::create_dir_all(SCRATCH)?;
    open_to_all(Path::new(SCRATCH))?;
    if Path::new("/etc/hosts").is_file() {
        fs::write(HOSTS_FILE, hosts_file(host_names))?;
        at("/etc/hosts", mount(Some(HOSTS_FILE), "/etc/hosts", none, MsFlags::MS_BIND, none))?;
    }
    Ok(())
}

/// Every user may make files here, and none may remove another's.
fn open_to_all(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o1777))
    } else {
        Ok(())
    }
}

fn at(directory: &str, result: nix::Result<()>) -> io::Result<()> {
    result.map_err(|error| io::Error::other(format!("mounting {directory}: {error}")))
}

fn hosts_file(names: &[String]) -> String {
    let lines =
        names.iter().enumerate().map(|(host, name)| format!("{} {name}\n", address::ipv4(host)));
    "127.0.0.1 localhost\n".chars().chain(lines.collect::<String>().chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_hosts_by_name() {
        assert_eq!(
            hosts_file(&["db1".into(), "web".into()]),
            "127.0.0.1 localhost\n10.77.0.1 db1\n10.77.0.2 web\n"
        );
    }

    #[test]
    fn private_directories_are_known() {
        assert!(is_private(Path::new("/run/x/y")) && is_private(Path::new("/dev/shm")));
        assert!(!is_private(Path::new("/running")) && !is_private(Path::new("/tmp/x")));
    }
}
