//! The files of a guest: those of the machine, read-only, with folders of its own on top.

use crate::spec::GuestSpec;
use nix::mount::{MsFlags, mount};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The folder that programs find everything in.
const HOME: &str = "/run/tailrace";
/// What they write; a folder of the machine.
pub(super) const OUTPUT: &str = "/run/tailrace/out";
/// The plan.
const PLAN: &str = "/run/tailrace/plan.json";
/// Folders that a guest covers.
const COVERED: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/tmp"];

/// Mounts what a guest has of its own. Programs that would be covered are copied, and their words point to the copies.
pub(super) fn mount_all(spec: &mut GuestSpec, plan: &str) -> io::Result<()> {
    let copies = covered_programs(spec)?;
    of_kernel("proc", "/proc")?;
    of_kernel("sysfs", "/sys")?;
    of_kernel("devtmpfs", "/dev")?;
    for folder in ["/run", "/tmp", "/var/tmp"] {
        if Path::new(folder).is_dir() {
            of_kernel("tmpfs", folder)?;
        }
    }
    for folder in ["/dev/shm", "/dev/pts", "/run/lock"] {
        fs::create_dir_all(folder)?;
    }
    of_kernel("tmpfs", "/dev/shm")?;
    of_kernel("devpts", "/dev/pts")?;
    fs::create_dir_all(OUTPUT)?;
    let output = spec.output.to_str().ok_or_else(|| io::Error::other("the folder's name is no text"))?;
    mount(Some("none"), OUTPUT, Some("hostfs"), MsFlags::empty(), Some(output))?;
    fs::write(PLAN, plan)?;
    for (path, bytes) in copies {
        fs::write(&path, bytes)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn of_kernel(kind: &str, folder: &str) -> io::Result<()> {
    let mounted = mount(Some("none"), folder, Some(kind), MsFlags::empty(), None::<&str>);
    mounted.map_err(|error| io::Error::other(format!("{kind} on {folder}: {error}")))
}

/// Programs that lie where the guest has folders of its own: where their copies will be, and their bytes.
fn covered_programs(spec: &mut GuestSpec) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut copies: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for program in &mut spec.programs {
        let Some(word) = program.words.first_mut() else { continue };
        let path = Path::new(word.as_str());
        if COVERED.iter().any(|folder| path.starts_with(folder)) {
            let name = path.file_name().ok_or_else(|| io::Error::other(format!("{word} is no program")))?;
            let copy = Path::new(HOME).join(name);
            if copies.iter().all(|(known, _)| *known != copy) {
                let bytes = fs::read(path).map_err(|error| io::Error::other(format!("{word}: {error}")))?;
                copies.push((copy.clone(), bytes));
            }
            *word = copy.to_string_lossy().into_owned();
        }
    }
    Ok(copies)
}
